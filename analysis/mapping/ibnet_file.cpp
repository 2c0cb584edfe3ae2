// ibnet:FILE: what `ibnetdiscover` prints, or `ibnetdiscover -p`.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "analysis/mapping/input_checks.hpp"
#include "analysis/mapping/named_graph.hpp"

namespace pclscope::mapping {
namespace {

// One end of a link. `key`: of a switch or router its kind and GUID, of an adapter as the file has it.
struct End {
  bool adapter = false;
  std::string key;
  std::string port;  // with -p, where adapters are known by the GUIDs of their ports
  std::string description;
};

// The text between the first two `mark`s from `at` on; `at` moves behind it.
std::optional<std::string> between(const std::string& line, char mark, std::size_t& at) {
  const std::size_t open = line.find(mark, at);
  if (open == line.npos) return std::nullopt;
  const std::size_t close = line.find(mark, open + 1);
  if (close == line.npos) return std::nullopt;
  at = close + 1;
  return line.substr(open + 1, close - open - 1);
}

// "node1 HCA-1" -> node1.
std::string host_in(const std::string& description) {
  std::istringstream words(description);
  std::string first;
  words >> first;
  return first;
}

class IbNet {
 public:
  // Empty: it was understood, or is none of the lines that tell of links.
  std::string take(const std::string& line) {
    if (line.starts_with('[')) return take_port(line);
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "Switch" || first == "Ca" || first == "Rt") return take_header(line, first == "Ca");
    if (first == "SW" || first == "CA" || first == "RT") return take_report(line);
    if (line.find_first_not_of(" \t\r") == line.npos) here_.reset();
    return "";
  }

  Result<Network> build(const std::string& path) {
    if (links_.empty())
      return Error{ErrorCode::damaged, path + ": no links in it, of ibnetdiscover or ibnetdiscover -p"};
    // Adapters are told apart by host where their descriptions do: "node1 HCA-1", "node1 HCA-2".
    std::map<std::string, std::set<std::string>> with;  // description and port, keys
    for (const auto& [key, end] : adapters_) with[end.description + "\n" + end.port].insert(key);
    NamedGraph graph;
    const auto vertex = [&](const End& end) {
      if (!end.adapter) return graph.of("switch " + end.key, end.key);
      const End& known = adapters_.at(end.key);
      const std::string host = host_in(known.description);
      const bool clear = !host.empty() && with[known.description + "\n" + known.port].size() == 1;
      return clear ? graph.of("host " + host, host) : graph.of("adapter " + end.key, end.key);
    };
    for (const auto& [a, b] : links_) {
      for (const End* end : {&a, &b})
        if (end->adapter) graph.runs_ranks(vertex(*end));
      const std::int32_t from = vertex(a), to = vertex(b);
      if (from != to) graph.link(from, to);
    }
    if (graph.nodes().empty()) return Error{ErrorCode::damaged, path + ": no adapters (Ca, CA) in it"};
    return graph.build(path);
  }

 private:
  void know(const End& end) {
    if (!end.adapter) return;
    End& known = adapters_.try_emplace(end.key, end).first->second;
    if (known.description.empty()) known.description = end.description;
  }

  // Switch 36 "S-0002c902..."  # "what it is called" ...
  std::string take_header(const std::string& line, bool adapter) {
    std::size_t at = 0;
    const auto key = between(line, '"', at);
    if (!key || key->empty()) return "no GUID in quotes, as in Switch 36 \"S-0002c90200428b58\"";
    const auto description = between(line, '"', at);
    here_ = End{adapter, *key, "", adapter ? description.value_or("") : ""};
    know(*here_);
    return "";
  }

  // [1] "H-0002c903..."[1](...)  # "node1 HCA-1" lid 1 4xQDR
  std::string take_port(const std::string& line) {
    if (!here_) return "a port of nobody: no Switch or Ca line before it";
    std::size_t at = 0;
    const auto key = between(line, '"', at);
    if (!key || key->size() < 3 || (*key)[1] != '-') return "no peer in quotes, as in [1] \"H-0002c9030006938a\"[1]";
    const auto description = between(line, '"', at);
    End peer{(*key)[0] == 'H', *key, "", ""};
    if (peer.adapter && !here_->adapter) peer.description = description.value_or("");
    know(peer);
    links_.emplace_back(*here_, peer);
    return "";
  }

  // CA 5 1 0x0000000000100003 4x SDR - SW 4 1 0x0000000000200002 ( 'node1 mlx5_0' - 'leaf 1' ); without a peer: not
  // connected.
  std::string take_report(const std::string& line) {
    const std::size_t dash = line.find(" - "), quotes = line.find('\'');
    if (dash == line.npos || (quotes != line.npos && quotes < dash)) return "";
    End ends[2];
    std::size_t at = quotes == line.npos ? line.size() : quotes;
    for (int side = 0; side < 2; ++side) {
      std::istringstream words(side == 0 ? line.substr(0, dash) : line.substr(dash + 3));
      std::string kind, lid, guid;
      End& end = ends[side];
      if (!(words >> kind >> lid >> end.port >> guid) || !guid.starts_with("0x") ||
          (kind != "SW" && kind != "CA" && kind != "RT"))
        return "no port as in CA 5 1 0x0002c90300123456";
      end.adapter = kind == "CA";
      end.key = (kind == "CA" ? "H-" : kind == "SW" ? "S-" : "R-") + guid.substr(2);
      const auto description = between(line, '\'', at);
      if (!description) return "the names of both ends are missing, as in ( 'node1 mlx5_0' - 'leaf 1' )";
      end.description = *description;
      know(end);
    }
    links_.emplace_back(ends[0], ends[1]);
    return "";
  }

  std::map<std::string, End> adapters_;  // by key
  std::vector<std::pair<End, End>> links_;
  std::optional<End> here_;
};

}  // namespace

Result<Network> read_ibnet(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return text.error();
  IbNet net;
  const Status status =
      each_line(path, *text, [&](std::size_t, const std::string& line) -> std::string { return net.take(line); });
  if (!status) return status.error();
  return net.build(path);
}

}  // namespace pclscope::mapping
