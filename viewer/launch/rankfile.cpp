#include "viewer/launch/rankfile.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

namespace pclscope::launch {
namespace {

constexpr std::size_t most_ranks = std::size_t{1} << 20;

struct Line {
  std::size_t rank = 0;
  std::string node;
  bool slot = false;
};

std::optional<std::size_t> rank_number(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value >= most_ranks) return std::nullopt;
  return value;
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name[0] != '-' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return c < 0x80 && (std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.');
         });
}

// "rank 3=node1 ..." or "3 node1".
std::optional<Line> parse_line(const std::string& text) {
  std::istringstream stream(text);
  std::string first, second;
  stream >> first >> second;
  std::optional<std::size_t> rank;
  std::string node;
  bool slot = false;
  if (first == "rank") {
    const auto equals = second.find('=');
    if (equals == std::string::npos) return std::nullopt;
    rank = rank_number(std::string_view(second).substr(0, equals));
    node = second.substr(equals + 1);
    slot = static_cast<bool>(stream >> second);
  } else {
    rank = rank_number(first);
    node = second;
    if (stream >> second) return std::nullopt;
  }
  if (!rank || !is_name(node)) return std::nullopt;
  return Line{*rank, node, slot};
}

}  // namespace

Result<RankFile> parse_rankfile(std::string_view text, const std::string& name) {
  const auto wrong = [&](const std::string& why) { return Error{ErrorCode::bad_argument, "rank file " + name + why}; };
  RankFile file;
  Hosts& hosts = file.hosts;
  std::istringstream stream{std::string(text)};
  std::size_t number = 0;
  std::size_t placed = 0;
  for (std::string words; std::getline(stream, words);) {
    ++number;
    words.resize(std::min(words.find('#'), words.size()));
    if (words.find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto line = parse_line(words);
    const std::string where = ", line " + std::to_string(number) + ": ";
    if (!line) return wrong(where + "write 'rank 0=node1 slot=0' or '0 node1'");
    if (line->rank >= hosts.size()) hosts.resize(line->rank + 1, Host{"", 0});
    if (hosts[line->rank].slots != 0) return wrong(where + "rank " + std::to_string(line->rank) + " comes twice");
    hosts[line->rank] = {line->node, 1};
    file.slots = file.slots || line->slot;
    ++placed;
  }
  if (placed == 0) return wrong(": it places no rank");
  if (placed < hosts.size()) {
    const auto open = std::find_if(hosts.begin(), hosts.end(), [](const Host& host) { return host.slots == 0; });
    return wrong(": rank " + std::to_string(open - hosts.begin()) + " is missing");
  }
  return file;
}

std::string note_on_slots(bool slots, const std::string& name, const std::vector<std::string>& launcher_args) {
  const bool bound = std::any_of(launcher_args.begin(), launcher_args.end(), [](const std::string& word) {
    return word.find("bind") != std::string::npos || word.find("cpu-") != std::string::npos;
  });
  if (!slots || bound) return "";
  return "of rank file " + name +
         " the nodes are taken, not the slots: ranks may run on any core of their node. To bind them: pclscope map ... "
         "--format wrapper -o bind, chmod +x bind, and ./bind before the application";
}

}  // namespace pclscope::launch
