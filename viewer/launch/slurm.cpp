#include "viewer/launch/slurm.hpp"

#include <algorithm>
#include <charconv>

#include "analysis/elf/dynamic.hpp"
#include "viewer/launch/program.hpp"
#include "viewer/launch/shell_words.hpp"

namespace pclscope::launch {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view blanks = " \t\r";

bool is_type(std::string_view word) {
  return !word.empty() && word != "none" && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-');
  });
}

// "pmix_v4" -> 4, "pmix" -> 0; others: -1.
int pmix_version(std::string_view type) {
  if (type == "pmix") return 0;
  constexpr std::string_view versioned = "pmix_v";
  if (type.substr(0, versioned.size()) != versioned) return -1;
  int version = -1;
  std::from_chars(type.data() + versioned.size(), type.data() + type.size(), version);
  return version;
}

// The last value of an option of the user's, "--name=value" or "--name value".
std::optional<std::string> value_of(const Words& words, std::string_view name) {
  std::optional<std::string> value;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == name && i + 1 < words.size()) value = words[i + 1];
    if (words[i].size() > name.size() && words[i].compare(0, name.size(), name) == 0 && words[i][name.size()] == '=')
      value = words[i].substr(name.size() + 1);
  }
  return value;
}

// With `sbatch --export=NONE`, or a list of names, srun would leave out our variables.
std::optional<std::string> export_option(const RunOptions& options, const RunFacts& facts) {
  const std::string value = value_of(options.launcher_args, "--export").value_or(facts.slurm_export);
  if (value.empty() || (value + ",").find("ALL,") != std::string::npos) return std::nullopt;
  std::string names = value == "NONE" || value == "NIL" ? "" : value;
  for (const auto& [name, unused] : job_variables(options, facts)) names += (names.empty() ? "" : ",") + name;
  return "--export=" + names;
}

// A shell picks the program by rank: --multi-prog would read the application's words by rules of its own. What Slurm
// says of the number of tasks counts our ranks, too; the application sees its own number.
std::string choice(const RunOptions& options, const RunFacts& facts) {
  const std::string ranks = std::to_string(options.ranks);
  Words application = {"exec", facts.rank_program};
  application.insert(application.end(), options.command.begin(), options.command.end());
  std::string tool = join_words(aggregator_rank(options, facts));
  if (options.aggregators > 1)
    tool += " --part $(((SLURM_PROCID - " + ranks + ") % " + std::to_string(options.aggregators) + "))";
  std::string own;
  if (!facts.mpi_type.empty())
    for (const char* name : {"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_STEP_NUM_TASKS"})
      own += std::string(name) + "=" + ranks + " ";
  for (const auto& [name, value] : facts.slurm_spreading) own += name + "=" + quote_word(value) + " ";
  if (!own.empty()) own = "export " + own.substr(0, own.size() - 1) + "; ";
  return "if [ \"$SLURM_PROCID\" -lt " + ranks + " ]; then " + own + join_words(application) + "; else exec " + tool +
         "; fi";
}

// Slurm starts tasks in the order of a file of hosts with --distribution=arbitrary: the one way to put the last ranks
// of one step on given nodes in every version (components of a heterogeneous step must not share nodes).
Words srun_words(const RunOptions& options, const RunFacts& facts) {
  const std::size_t nodes = std::max<std::size_t>(facts.placement.nodes.size(), 1);
  const std::size_t tasks = static_cast<std::size_t>(options.ranks) + tool_ranks(options, facts);
  Words words = {facts.launcher_word, "--ntasks=" + std::to_string(tasks), "--nodes=" + std::to_string(nodes),
                 "--overcommit", "--kill-on-bad-exit=1"};
  if (!facts.placement.hosts.empty()) words.emplace_back("--distribution=arbitrary");
  if (!facts.mpi_type.empty()) words.push_back("--mpi=" + facts.mpi_type);
  words.insert(words.end(), options.launcher_args.begin(), options.launcher_args.end());
  if (const auto exported = export_option(options, facts)) words.push_back(*exported);
  words.insert(words.end(), {"/bin/sh", "-c", choice(options, facts)});
  return words;
}

}  // namespace

bool is_srun(std::string_view launcher) { return base_name(launcher) == "srun"; }

std::vector<std::string> mpi_types(std::string_view printed) {
  std::vector<std::string> types;
  while (!printed.empty()) {
    const std::size_t end = std::min(printed.find('\n'), printed.size());
    std::string_view line = printed.substr(0, end);
    printed.remove_prefix(std::min(end + 1, printed.size()));
    for (const std::string_view before : {"srun:", "specific pmix plugin versions available:"}) {
      line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
      if (line.substr(0, before.size()) == before) line.remove_prefix(before.size());
    }
    // One a line, or several with commas; a heading has blanks in it.
    for (Words found; !line.empty();) {
      const std::size_t comma = std::min(line.find(','), line.size());
      std::string_view word = line.substr(0, comma);
      line.remove_prefix(std::min(comma + 1, line.size()));
      word.remove_prefix(std::min(word.find_first_not_of(blanks), word.size()));
      word = word.substr(0, word.find_last_not_of(blanks) + 1);
      if (is_type(word)) types.emplace_back(word);
    }
  }
  return types;
}

std::string default_mpi_type(std::string_view config) {
  constexpr std::string_view key = "MpiDefault";
  for (std::size_t at = config.find(key); at != std::string_view::npos; at = config.find(key, at + 1)) {
    if (at > 0 && config[at - 1] != '\n') continue;
    std::string_view rest = config.substr(at + key.size());
    rest = rest.substr(0, rest.find('\n'));
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos) continue;
    rest.remove_prefix(equals + 1);
    rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
    return std::string(rest.substr(0, rest.find_first_of(blanks)));
  }
  return "";
}

bool asks_pmix(Mpi mpi, const std::string& library) {
  if (mpi == Mpi::openmpi) return true;
  const auto elf = library.empty() ? std::nullopt : elf::read_elf(library);
  return elf && elf->names("PMIx_Init");
}

bool fits(std::string_view type, bool asks_pmix) {
  if (asks_pmix) return pmix_version(type) >= 0;
  return type == "pmi2" || type == "cray_shasta";
}

std::optional<std::string> choose_mpi_type(const std::vector<std::string>& types, bool asks_pmix) {
  std::optional<std::string> best;
  for (const std::string& type : types) {
    if (!asks_pmix && type == "pmi2") return type;
    if (!asks_pmix || pmix_version(type) < 0) continue;
    if (type == "pmix") return type;
    if (!best || pmix_version(type) > pmix_version(*best)) best = type;
  }
  return best;
}

std::string srun_hosts(const RunOptions& options, const RunFacts& facts) {
  std::string lines;
  if (facts.placement.hosts.empty()) return lines;
  for (const Host& block : fill_in_order(facts.placement.hosts, options.ranks))
    for (int i = 0; i < block.slots; ++i) lines += block.name + "\n";
  for (const std::string& node : facts.placement.nodes)
    for (int i = 0; i < options.aggregators; ++i) lines += node + "\n";
  return lines;
}

LaunchLine build_srun_line(const RunOptions& options, const RunFacts& facts, const std::string& hosts_file) {
  LaunchLine line;
  line.program = facts.launcher;
  line.arguments = srun_words(options, facts);
  line.environment = job_variables(options, facts);
  if (!facts.placement.hosts.empty()) line.environment.emplace_back("SLURM_HOSTFILE", hosts_file);
  for (const auto& [name, unused] : facts.slurm_spreading) line.without.push_back(name);
  return line;
}

std::string srun_script(const RunOptions& options, const RunFacts& facts) {
  const std::string hosts = srun_hosts(options, facts);
  std::string script;
  if (!hosts.empty()) script = "pclscope_hosts=$(mktemp) && cat >\"$pclscope_hosts\" <<'END'\n" + hosts + "END\n";
  for (const auto& [name, value] : job_variables(options, facts))
    script += name + "=" + (value == facts.token ? new_token_here : quote_word(value)) + " ";
  if (!hosts.empty()) script += "SLURM_HOSTFILE=\"$pclscope_hosts\" ";
  if (!facts.slurm_spreading.empty()) script += "env ";
  for (const auto& [name, unused] : facts.slurm_spreading) script += "-u " + name + " ";
  script += join_words(srun_words(options, facts)) + "\n";
  if (hosts.empty()) return script;
  return script + "pclscope_status=$?\nrm -f \"$pclscope_hosts\"\n(exit \"$pclscope_status\")\n";
}

}  // namespace pclscope::launch
