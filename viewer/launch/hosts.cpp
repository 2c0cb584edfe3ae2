#include "viewer/launch/hosts.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <sstream>

namespace pclscope::launch {
namespace {

constexpr int most_slots = 1 << 20;
constexpr std::size_t most_hosts = 1 << 16;

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > most_slots) return std::nullopt;
  return value;
}

bool is_host_name(std::string_view name) {
  const auto allowed = [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.');
  };
  return !name.empty() && name.size() <= 255 && name[0] != '-' && std::all_of(name.begin(), name.end(), allowed);
}

Error not_understood(std::string_view part, const std::string& expected) {
  return {ErrorCode::bad_argument,
          std::string("'").append(part.substr(0, 80)).append("' is not understood as a node: write ").append(expected)};
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Result<Host> parse_host(std::string_view word, bool star) {
  const auto colon = word.find(':');
  const std::string_view name = word.substr(0, colon);
  const Error wrong = not_understood(word, "node1:2,node2:2");
  if (!is_host_name(name)) return wrong;
  if (colon == std::string_view::npos) return Host{std::string(name), 1};
  const std::string_view count = word.substr(colon + 1);
  if (star && (count == "*" || count == "-1")) return Host{std::string(name), 0};
  const auto slots = number(count);
  if (!slots) return wrong;
  return Host{std::string(name), *slots};
}

Result<Hosts> parse_list(std::string_view text, bool star) {
  Hosts hosts;
  for (const std::string& word : split(text, ',')) {
    auto host = parse_host(word, star);
    if (!host) return host.error();
    if (hosts.size() == most_hosts) return Error{ErrorCode::bad_argument, "more than 65,536 nodes are not supported"};
    hosts.push_back(std::move(*host));
  }
  return hosts;
}

// Adds slots to the entry of this name, or makes one.
void add_up(Hosts& hosts, const Host& host) {
  const bool as_before = !hosts.empty() && hosts.back().name == host.name;
  const auto known = as_before
                         ? hosts.end() - 1
                         : std::find_if(hosts.begin(), hosts.end(), [&](const Host& h) { return h.name == host.name; });
  if (known == hosts.end()) hosts.push_back(host);
  else known->slots = known->slots == 0 || host.slots == 0 ? 0 : std::min(known->slots + host.slots, most_slots);
}

// Lines without comments, as words; empty ones left out.
std::vector<std::vector<std::string>> lines_of(std::string_view text) {
  std::vector<std::vector<std::string>> lines;
  for (const std::string& line : split(text, '\n')) {
    std::istringstream stream(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (!words.empty()) lines.push_back(std::move(words));
  }
  return lines;
}

Error in_file(const std::string& name, const std::string& why) {
  return {ErrorCode::bad_argument, "host file " + name + ": " + why};
}

struct FileHost {
  Host host;
  int mentions = 0;  // lines without a number
};

Status read_openmpi_line(const std::vector<std::string>& words, FileHost& line) {
  const std::string& first = words.front();
  const std::string name = first.substr(first.find('@') == std::string::npos ? 0 : first.find('@') + 1);
  if (!is_host_name(name)) return not_understood(first, "node1 slots=2");
  line = {{name, 0}, 1};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    const std::string key = words[i].substr(0, equals);
    const auto value =
        equals == std::string::npos ? std::nullopt : number(std::string_view(words[i]).substr(equals + 1));
    const bool slots = key == "slots" || key == "count" || key == "cpu" || key == "cpus";
    if (slots && value) line = {{name, *value}, 0};
    else if (slots || (key != "max_slots" && key != "max-slots" && key != "slots_max" && key != "slots-max" &&
                       key != "username"))
      return not_understood(words[i], "node1 slots=2");
  }
  return {};
}

}  // namespace

Result<Hosts> parse_hosts(std::string_view text) {
  auto hosts = parse_list(text, false);
  if (!hosts) return hosts;
  for (std::size_t i = 0; i < hosts->size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!same_host((*hosts)[i].name, (*hosts)[j].name)) continue;
      const Host& host = (*hosts)[i];
      return Error{ErrorCode::bad_argument,
                   "'" + host.name + "' is named twice: name each node once, with all its ranks"};
    }
  }
  return hosts;
}

Result<Hosts> parse_openmpi_hosts(std::string_view text) {
  auto list = parse_list(text, true);
  if (!list) return list;
  Hosts hosts;
  for (const Host& host : *list) add_up(hosts, host);
  return hosts;
}

Result<Hosts> parse_mpich_hosts(std::string_view text) { return parse_list(text, false); }

Result<Hosts> parse_openmpi_hostfile(std::string_view text, const std::string& name) {
  std::vector<FileHost> found;
  for (const auto& words : lines_of(text)) {
    FileHost line;
    if (const Status good = read_openmpi_line(words, line); !good) return in_file(name, good.error().message);
    const auto known =
        std::find_if(found.begin(), found.end(), [&](const FileHost& f) { return f.host.name == line.host.name; });
    if (known == found.end()) {
      found.push_back(line);
    } else {
      known->host.slots += line.host.slots;
      known->mentions += line.mentions;
    }
  }
  if (found.empty()) return in_file(name, "it names no node");
  Hosts hosts;
  for (const FileHost& f : found)
    hosts.push_back({f.host.name, f.host.slots > 0 ? f.host.slots : f.mentions > 1 ? f.mentions : 0});
  return hosts;
}

Result<Hosts> parse_mpich_hostfile(std::string_view text, const std::string& name) {
  Hosts hosts;
  for (const auto& words : lines_of(text)) {
    auto host = parse_host(words.front(), false);
    if (!host) return in_file(name, not_understood(words.front(), "node1:2").message);
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i].find('=') == std::string::npos) return in_file(name, not_understood(words[i], "node1:2").message);
    }
    hosts.push_back(std::move(*host));
  }
  if (hosts.empty()) return in_file(name, "it names no node");
  return hosts;
}

Result<Hosts> parse_slot_lines(std::string_view text, const std::string& name) {
  Hosts hosts;
  for (const auto& words : lines_of(text)) {
    if (!is_host_name(words.front())) return in_file(name, not_understood(words.front(), "node1").message);
    add_up(hosts, {words.front(), 1});
  }
  if (hosts.empty()) return in_file(name, "it names no node");
  return hosts;
}

Result<Hosts> parse_host_counts(std::string_view text) {
  std::istringstream words{std::string(text)};
  Hosts hosts;
  for (std::string name, count; words >> name;) {
    words >> count;
    const auto slots = words ? number(count) : std::nullopt;
    if (!is_host_name(name) || !slots) return not_understood(name + " " + (words ? count : ""), "node1 2 node2 2");
    add_up(hosts, {name, *slots});
  }
  return hosts;
}

Result<Hosts> slurm_hosts(std::string_view names, std::string_view tasks_per_node) {
  Hosts hosts;
  for (const auto& words : lines_of(names)) {
    if (words.size() != 1 || !is_host_name(words[0])) return not_understood(words[0], "one name per line");
    hosts.push_back({words[0], 0});
  }
  if (hosts.empty()) return Error{ErrorCode::bad_argument, "the Slurm allocation names no node: give --hosts"};
  std::size_t at = 0;
  if (tasks_per_node.empty()) return hosts;
  for (const std::string& part : split(tasks_per_node, ',')) {
    const auto open = part.find("(x");
    const bool times = open != std::string::npos && part.back() == ')';
    const auto tasks = number(std::string_view(part).substr(0, open));
    const auto nodes =
        times ? number(std::string_view(part).substr(open + 2, part.size() - open - 3)) : std::optional<int>(1);
    if (!tasks || !nodes || (open != std::string::npos && !times))
      return Error{
          ErrorCode::bad_argument,
          std::string("SLURM_TASKS_PER_NODE='").append(tasks_per_node).append("' is not understood: give --hosts")};
    for (int i = 0; i < *nodes && at < hosts.size(); ++i) hosts[at++].slots = *tasks;
  }
  return hosts;
}

int total_slots(const Hosts& hosts) {
  const bool open = std::any_of(hosts.begin(), hosts.end(), [](const Host& h) { return h.slots == 0; });
  const auto add = [](long sum, const Host& h) { return sum + h.slots; };
  return open ? 0 : static_cast<int>(std::min(std::accumulate(hosts.begin(), hosts.end(), 0L, add), 1L << 30));
}

Hosts fill_in_order(const Hosts& hosts, int ranks) {
  Hosts blocks;
  if (hosts.empty()) return blocks;
  for (std::size_t i = 0; ranks > 0; i = (i + 1) % hosts.size()) {
    const int count = std::min(std::max(hosts[i].slots, 1), ranks);
    if (!blocks.empty() && blocks.back().name == hosts[i].name) blocks.back().slots += count;
    else blocks.push_back({hosts[i].name, count});
    ranks -= count;
  }
  return blocks;
}

std::vector<std::string> names_of(const Hosts& hosts) {
  std::vector<std::string> names;
  for (const Host& host : hosts) {
    if (std::find(names.begin(), names.end(), host.name) == names.end()) names.push_back(host.name);
  }
  return names;
}

std::string host_words(const Hosts& hosts) {
  std::string words;
  for (const Host& host : hosts) {
    if (!words.empty()) words += ',';
    words.append(host.name).append(":").append(std::to_string(host.slots));
  }
  return words;
}

bool same_host(std::string_view a, std::string_view b) {
  const auto short_name = [](std::string_view name) { return name.substr(0, name.find('.')); };
  const bool both_full = a.find('.') != std::string_view::npos && b.find('.') != std::string_view::npos;
  return both_full ? a == b : short_name(a) == short_name(b);
}

std::string this_host() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace pclscope::launch
