// slurm:FILE: topology.conf of the plugins tree and block, and what `scontrol show topology` prints of them.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>

#include "analysis/mapping/input_checks.hpp"
#include "analysis/mapping/named_graph.hpp"

namespace pclscope::mapping {
namespace {

std::string lower(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word;
}

// Words "Key=value", keys in lower case. Empty: it was understood.
std::string split(const std::string& line, std::map<std::string, std::string>& words, std::string& first) {
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t\r", at)) != line.npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size()), equals = line.find('=', at);
    if (equals >= end) return "'" + line.substr(at, std::min<std::size_t>(end - at, 60)) + "' is no Key=value";
    const std::string key = lower(line.substr(at, equals - at));
    std::string value = line.substr(equals + 1, end - equals - 1);
    if (value == "(null)") value.clear();
    if (first.empty()) first = key;
    if (!words.try_emplace(key, std::move(value)).second) return "'" + key + "' is there twice";
    at = end;
  }
  return "";
}

class SlurmTopology {
 public:
  explicit SlurmTopology(std::string path) : path_(std::move(path)) {}

  // Empty: it was understood.
  std::string take(const std::string& line) {
    std::map<std::string, std::string> words;
    std::string first;
    if (std::string wrong = split(line, words, first); !wrong.empty()) return wrong;
    if (first.empty()) return "";
    if (first == "switchname") return take_switch(words);
    if (first == "blockname") return take_block(words);
    if (first == "blocksizes") return take_sizes(words[first]);
    if (first == "aggregatedblock") return take_names(words[first], aggregated_.emplace_back());
    return "'" + first.substr(0, 60) + "' is none of SwitchName, BlockName, BlockSizes";
  }

  Result<Network> build() {
    for (const Switch& s : switches_)
      for (const std::string& child : s.children)
        if (!graph_.has(switch_key(child)) || !described_.contains(child))
          return Error{ErrorCode::damaged,
                       path_ + ": switch " + s.name + " is above " + child + ", which is not described"};
    link_switches();
    link_blocks();
    if (graph_.nodes().empty()) return Error{ErrorCode::damaged, path_ + ": no nodes in it"};
    return graph_.build(path_);
  }

 private:
  struct Switch {
    std::string name;
    std::vector<std::string> nodes, children;
  };
  static std::string switch_key(const std::string& name) { return "switch " + name; }
  static std::string node_key(const std::string& name) { return "node " + name; }

  std::string take_names(const std::string& list, std::vector<std::string>& names) {
    auto expanded = expand_hosts(list);
    if (!expanded) return expanded.error().message;
    names = std::move(*expanded);
    return "";
  }

  std::string take_switch(std::map<std::string, std::string>& words) {
    Switch s;
    s.name = words["switchname"];
    if (s.name.empty()) return "a switch without a name";
    if (!described_.insert(s.name).second) return "switch " + s.name + " is described twice";
    if (std::string wrong = take_names(words["nodes"], s.nodes); !wrong.empty()) return wrong;
    if (std::string wrong = take_names(words["switches"], s.children); !wrong.empty()) return wrong;
    if (s.nodes.empty() && s.children.empty()) return "switch " + s.name + " has neither Nodes nor Switches";
    graph_.of(switch_key(s.name), s.name);
    add_nodes(s.nodes);
    switches_.push_back(std::move(s));
    return graph_.too_large();
  }

  std::string take_block(std::map<std::string, std::string>& words) {
    Switch s;
    s.name = words["blockname"];
    if (s.name.empty()) return "a block without a name";
    if (graph_.has(switch_key(s.name))) return "block " + s.name + " is described twice";
    if (std::string wrong = take_names(words["nodes"], s.nodes); !wrong.empty()) return wrong;
    graph_.of(switch_key(s.name), s.name);
    add_nodes(s.nodes);
    blocks_.push_back(std::move(s));
    return graph_.too_large();
  }

  // "30,120": nodes of a block, and of several blocks together.
  std::string take_sizes(const std::string& list) {
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      std::int64_t size = 0;
      const auto [stop, error] = std::from_chars(list.data() + begin, list.data() + end, size);
      if (error != std::errc() || stop != list.data() + end || size < 1 || size > most_vertices)
        return "BlockSizes: '" + list.substr(0, 60) + "' are no sizes as in 30,120";
      sizes_.push_back(size);
      begin = end + 1;
    }
    return "";
  }

  void add_nodes(const std::vector<std::string>& names) {
    for (const std::string& name : names) graph_.runs_ranks(graph_.of(node_key(name), name));
  }

  void link_nodes(const Switch& s, std::set<std::string>* once) {
    const std::int32_t here = graph_.of(switch_key(s.name));
    for (const std::string& name : s.nodes)
      if (once == nullptr || once->insert(name).second) graph_.link(graph_.of(node_key(name)), here);
  }

  // `scontrol` lists of a switch all nodes below it: those that no leaf switch has are its own.
  void link_switches() {
    std::set<std::string> placed, below;
    for (const Switch& s : switches_) {
      if (!s.children.empty()) continue;
      link_nodes(s, nullptr);
      placed.insert(s.nodes.begin(), s.nodes.end());
    }
    for (const Switch& s : switches_) {
      if (s.children.empty()) continue;
      link_nodes(s, &placed);
      for (const std::string& child : s.children) {
        graph_.link(graph_.of(switch_key(s.name)), graph_.of(switch_key(child)));
        below.insert(child);
      }
    }
    std::vector<std::int32_t> tops;
    for (const Switch& s : switches_)
      if (!below.contains(s.name)) tops.push_back(graph_.of(switch_key(s.name)));
    join(tops);
  }

  void link_blocks() {
    std::vector<std::int32_t> top;
    std::map<std::string, std::size_t> index;
    for (const Switch& block : blocks_) {
      link_nodes(block, nullptr);
      index[block.name] = top.size();
      top.push_back(graph_.of(switch_key(block.name)));
    }
    // Sets of blocks, the smaller ones first: given, or as many blocks one after the other as the sizes say.
    std::vector<std::vector<std::size_t>> sets;
    for (const auto& names : aggregated_) {
      std::vector<std::size_t>& set = sets.emplace_back();
      for (const std::string& name : names)
        if (const auto found = index.find(name); found != index.end()) set.push_back(found->second);
    }
    std::sort(sizes_.begin(), sizes_.end());
    for (std::size_t level = 1; level < sizes_.size(); ++level) {
      const auto count = static_cast<std::size_t>(std::max<std::int64_t>(1, sizes_[level] / sizes_[0]));
      for (std::size_t begin = 0; begin < blocks_.size(); begin += count) {
        std::vector<std::size_t>& set = sets.emplace_back();
        for (std::size_t b = begin; b < std::min(begin + count, blocks_.size()); ++b) set.push_back(b);
      }
    }
    std::stable_sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    for (const std::vector<std::size_t>& set : sets) {
      std::set<std::int32_t> tops;
      for (const std::size_t block : set) tops.insert(top[block]);
      if (tops.size() < 2) continue;
      const std::int32_t above = new_top();
      for (const std::int32_t one : tops) graph_.link(above, one);
      for (const std::size_t block : set) top[block] = above;
    }
    join(top);
  }

  std::int32_t new_top() {
    const std::string name = "(above " + std::to_string(graph_.names().size()) + ")";
    return graph_.of("top " + name, name);
  }

  // What has nothing above it: something above all of them, which the file does not tell of.
  void join(std::vector<std::int32_t> tops) {
    std::sort(tops.begin(), tops.end());
    tops.erase(std::unique(tops.begin(), tops.end()), tops.end());
    if (tops.size() < 2) return;
    const std::int32_t above = new_top();
    for (const std::int32_t top : tops) graph_.link(above, top);
  }

  std::string path_;
  NamedGraph graph_;
  std::vector<Switch> switches_, blocks_;
  std::set<std::string> described_;
  std::vector<std::vector<std::string>> aggregated_;
  std::vector<std::int64_t> sizes_;
};

}  // namespace

Result<Network> parse_slurm_topology(const std::string& text, const std::string& path) {
  SlurmTopology topology(path);
  std::string begun;  // lines that end with a backslash go on
  const Status status = each_line(path, text, [&](std::size_t, std::string line) -> std::string {
    line.resize(std::min(line.find('#'), line.size()));
    const std::size_t last = line.find_last_not_of(" \t\r");
    line.resize(last == line.npos ? 0 : last + 1);
    const bool goes_on = line.ends_with('\\');
    if (goes_on) line.back() = ' ';
    begun += line;
    if (begun.size() > (std::size_t{1} << 24)) return "longer than 16 MiB";
    if (goes_on) return "";
    return topology.take(std::exchange(begun, ""));
  });
  if (!status) return status.error();
  if (const std::string wrong = topology.take(begun); !wrong.empty())
    return Error{ErrorCode::damaged, path + ", last line: " + wrong};
  return topology.build();
}

Result<Network> read_slurm_topology(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return text.error();
  return parse_slurm_topology(*text, path);
}

}  // namespace pclscope::mapping
