#include "viewer/launch/host_source.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "viewer/launch/rankfile.hpp"

namespace pclscope::launch {
namespace {

using Words = std::vector<std::string>;

Error wrong(const std::string& text) { return {ErrorCode::bad_argument, text}; }

// The value of one of these options, "--name value" or "--name=value", with one or two dashes; taken out if asked for.
std::optional<std::string> option_value(Words& words, const std::vector<std::string_view>& names, bool take_out) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const auto start = word.find_first_not_of('-');
    if (start == std::string_view::npos || start == 0) continue;
    const auto equals = word.find('=');
    const std::string_view name = word.substr(start, equals == std::string_view::npos ? equals : equals - start);
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    const bool apart = equals == std::string_view::npos;
    if (apart && i + 1 == words.size()) return std::string();
    std::string value = apart ? words[i + 1] : std::string(word.substr(equals + 1));
    if (take_out)
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                  words.begin() + static_cast<std::ptrdiff_t>(i + (apart ? 2 : 1)));
    return value;
  }
  return std::nullopt;
}

std::optional<int> positive(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0 ? std::optional(value) : std::nullopt;
}

Result<std::string> file_content(const std::string& path, const HostReaders& readers) {
  auto content = readers.file(path);
  if (!content) return wrong("host file " + path + " cannot be read");
  return std::move(*content);
}

Result<Hosts> openmpi_arguments(Words& words, const HostReaders& readers) {
  if (const auto list = option_value(words, {"host", "H"}, false)) return parse_openmpi_hosts(*list);
  const auto path = option_value(words, {"hostfile", "machinefile", "default-hostfile"}, false);
  if (!path) return Hosts();
  const auto content = file_content(*path, readers);
  if (!content) return content.error();
  return parse_openmpi_hostfile(*content, *path);
}

Result<Hosts> mpich_arguments(Words& words, const HostReaders& readers) {
  auto list = option_value(words, {"hosts", "host"}, true);
  const auto path = option_value(words, {"f", "machinefile", "hostfile"}, true);
  const auto per_node = option_value(words, {"ppn", "perhost", "grr"}, !(!list && !path));
  Result<Hosts> hosts = Hosts();
  if (list) {
    hosts = parse_mpich_hosts(*list);
  } else if (path) {
    const auto content = file_content(*path, readers);
    if (!content) return content.error();
    hosts = parse_mpich_hostfile(*content, *path);
  }
  if (!hosts || hosts->empty() || !per_node) return hosts;
  const auto slots = positive(*per_node);
  if (!slots) return wrong("-ppn '" + *per_node + "' is no number of ranks");
  for (Host& host : *hosts) host.slots = *slots;
  return hosts;
}

Result<Hosts> slurm_allocation(const HostReaders& readers) {
  auto list = readers.variable("SLURM_JOB_NODELIST");
  if (!list) list = readers.variable("SLURM_NODELIST");
  if (!list || list->empty()) return Hosts();
  const auto names = readers.slurm_names(*list);
  const bool one_plain_name = list->find_first_of("[,") == std::string::npos;
  if (!names && !one_plain_name)
    return wrong("inside a Slurm allocation, but `scontrol show hostnames` does not tell its nodes: give --hosts");
  const auto tasks = readers.variable("SLURM_TASKS_PER_NODE");
  return slurm_hosts(names ? *names : *list, tasks ? *tasks : "");
}

// PBS (and Torque) and LSF: what the job script finds in its environment.
Result<Hosts> other_allocation(const HostReaders& readers) {
  const auto said = [&](const char* name) { return readers.variable(name).value_or(""); };
  for (const auto& [job, variable] : {std::pair{"PBS_JOBID", "PBS_NODEFILE"}, {"LSB_JOBID", "LSB_DJOB_HOSTFILE"}}) {
    const std::string path = said(variable);
    if (said(job).empty() || path.empty()) continue;
    const auto content = readers.file(path);
    if (!content)
      return wrong(std::string("inside an allocation, but $") + variable + ", " + path +
                   ", cannot be read: give --hosts");
    return parse_slot_lines(*content, path);
  }
  if (said("LSB_JOBID").empty()) return Hosts();
  auto hosts = parse_host_counts(said("LSB_MCPU_HOSTS"));
  if (!hosts) return wrong("LSB_MCPU_HOSTS: " + hosts.error().message);
  return hosts;
}

// How the user's own arguments place Open MPI's ranks: how many nodes they fill, 0 = in order by slots.
Result<int> nodes_by_hand(Words words, int ranks, int hosts) {
  const auto cap = [hosts](int nodes) { return std::min(nodes, hosts); };
  if (option_value(words, {"rankfile", "rf"}, false))
    return wrong("a rank file places ranks where pclscope cannot follow: give it as pclscope run --rankfile FILE");
  const auto has = [&](std::string_view name) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return std::string_view(word).substr(std::min(word.find_first_not_of('-'), word.size())) == name &&
             word[0] == '-';
    });
  };
  if (has("pernode")) return cap(ranks);
  if (const auto each = option_value(words, {"N", "npernode"}, false)) {
    const auto count = positive(*each);
    if (!count) return wrong("-N '" + *each + "' is no number of ranks");
    return cap((ranks + *count - 1) / *count);
  }
  if (has("bynode")) return cap(ranks);
  const std::string policy = option_value(words, {"map-by"}, false).value_or("");
  const std::string kind = policy.substr(0, policy.find(':'));
  if (kind == "node") return cap(ranks);
  if (kind == "ppr") {
    const auto second = policy.find(':', 4);
    const auto count = second == std::string::npos ? std::nullopt : positive(policy.substr(4, second - 4));
    if (!count || policy.compare(second + 1, 4, "node") != 0)
      return wrong("--map-by " + policy + " on several nodes: write ppr:N:node, or use --hosts");
    return cap((ranks + *count - 1) / *count);
  }
  if (kind == "seq" || kind == "dist")
    return wrong("--map-by " + policy + " places ranks where pclscope cannot follow: use --hosts");
  return 0;
}

Result<Placement> place(const HostQuestion& question, Hosts hosts, bool wraps) {
  Placement placement;
  placement.by_option = !question.hosts.empty();
  const int count = static_cast<int>(names_of(hosts).size());
  const auto by_hand =
      question.mpi == Mpi::openmpi ? nodes_by_hand(question.launcher_args, question.ranks, count) : Result<int>(0);
  if (count > 1 && !by_hand) return by_hand.error();
  placement.filled = count == 1 || *by_hand == 0;
  const int slots = total_slots(hosts);
  const auto open = std::find_if(hosts.begin(), hosts.end(), [](const Host& h) { return h.slots == 0; });
  if (count > 1 && placement.filled && open != hosts.end()) {
    return wrong("the host list does not say how many ranks '" + open->name + "' takes: write it, or give --hosts " +
                 hosts[0].name + ":2,...");
  }
  if (slots > 0 && slots < question.ranks && !wraps) {
    return wrong("the nodes take " + std::to_string(slots) + " ranks (" + host_words(hosts).substr(0, 80) +
                 "), but -n asks for " + std::to_string(question.ranks));
  }
  placement.nodes = placement.filled ? names_of(fill_in_order(hosts, question.ranks)) : names_of(hosts);
  if (!placement.filled) placement.nodes.resize(static_cast<std::size_t>(*by_hand));
  placement.hosts = std::move(hosts);
  return placement;
}

// Each rank where the file says, whatever the launcher would do.
Result<Placement> place_by_rank(const HostQuestion& question, const HostReaders& readers) {
  const auto content = readers.file(question.rankfile);
  if (!content) return wrong("rank file " + question.rankfile + " cannot be read");
  auto file = parse_rankfile(*content, question.rankfile);
  if (!file) return file.error();
  Hosts& hosts = file->hosts;
  if (hosts.size() != static_cast<std::size_t>(question.ranks)) {
    return wrong("rank file " + question.rankfile + " places " + std::to_string(hosts.size()) +
                 " ranks, but -n asks for " + std::to_string(question.ranks));
  }
  Placement placement;
  placement.nodes = names_of(hosts);
  placement.hosts = std::move(hosts);
  placement.slots = file->slots;
  placement.by_option = placement.by_rank = true;
  return placement;
}

}  // namespace

Result<Placement> find_placement(HostQuestion& question, const HostReaders& readers) {
  Words rest = question.launcher_args;
  auto listed = question.mpi == Mpi::openmpi ? openmpi_arguments(rest, readers) : mpich_arguments(rest, readers);
  if (!listed) return wrong("--launcher-args: " + listed.error().message);
  if (!question.hosts.empty() && !listed->empty())
    return wrong("--hosts and a list of nodes in --launcher-args: give one of them");
  question.launcher_args = rest;
  if (!question.rankfile.empty()) {
    if (!question.hosts.empty() || !listed->empty()) return wrong("--rankfile and a list of nodes: give one of them");
    return place_by_rank(question, readers);
  }
  if (!question.hosts.empty()) {
    auto hosts = parse_hosts(question.hosts);
    if (!hosts) return wrong("--hosts: " + hosts.error().message);
    return place(question, std::move(*hosts), false);
  }
  if (!listed->empty()) {
    // Bare, MPICH starts again with the first host when the list is used up; so does Open MPI when it is told to.
    const bool over = std::any_of(rest.begin(), rest.end(), [](const std::string& word) {
      return word.find("oversubscribe") != std::string::npos && word.find("nooversubscribe") == std::string::npos;
    });
    return place(question, std::move(*listed), question.mpi == Mpi::mpich || over);
  }
  auto hosts = slurm_allocation(readers);
  if (!hosts) return hosts.error();
  // One node of its own: the launcher needs no help from us.
  if (hosts->size() == 1) return Placement();
  if (!hosts->empty()) return place(question, std::move(*hosts), question.mpi == Mpi::mpich);
  hosts = other_allocation(readers);
  if (!hosts) return hosts.error();
  if (hosts->size() <= 1) return Placement();
  auto placement = place(question, std::move(*hosts), question.mpi == Mpi::mpich);
  // Whether an mpirun knows of these batch systems depends on how it was built: it is told.
  if (placement) placement->by_option = true;
  return placement;
}

}  // namespace pclscope::launch
