// A network that a file tells of by names: who is linked with whom, and which of them run ranks. For the readers of
// this folder; build() makes a Network of it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/mapping/network.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::mapping {

class NamedGraph {
 public:
  // The vertex with this key, which is made when it is new; it is shown by `name`, or else by its key.
  std::int32_t of(const std::string& key, const std::string& name = "");
  bool has(const std::string& key) const { return number_.contains(key); }
  void rename(std::int32_t vertex, std::string name) { names_[static_cast<std::size_t>(vertex)] = std::move(name); }
  void link(std::int32_t a, std::int32_t b) { edges_.emplace_back(a, b); }
  void runs_ranks(std::int32_t vertex) { nodes_.push_back(vertex); }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::int32_t>& nodes() const { return nodes_; }
  // Empty while it is within the limits.
  std::string too_large() const;

  // Nodes in the order of runs_ranks(), a node named twice counts once; without any call of it all vertices, by number
  // where all of their names are numbers. Error: not connected.
  Result<Network> build(const std::string& path) const;

 private:
  std::unordered_map<std::string, std::int32_t> number_;
  std::vector<std::string> names_;
  std::vector<Edge> edges_;
  std::vector<std::int32_t> nodes_;
};

// "path line 3: what".
Error at_line(const std::string& path, std::size_t line, const std::string& what);
// The whole file, at most 256 MiB.
Result<std::string> read_text(const std::string& path);
// Calls take(number, line) for each line, from 1 on, until it returns a text: what is wrong with the line.
template <class Take>
Status each_line(const std::string& path, const std::string& text, Take&& take);

// "n[01-03,7],m" -> n01 n02 n03 n7 m, as Slurm writes lists of hosts. Several brackets in a name: all combinations, the
// last one fastest. Errors: malformed, more than 2^20 names.
Result<std::vector<std::string>> expand_hosts(const std::string& list);

// What stands behind the colon is a file; slurm: its text, too (`path`: what it is called in errors).
Result<Network> read_slurm_topology(const std::string& path);
Result<Network> parse_slurm_topology(const std::string& text, const std::string& path);
Result<Network> read_ibnet(const std::string& path);
Result<Network> read_coordinates(const std::string& path);

template <class Take>
Status each_line(const std::string& path, const std::string& text, Take&& take) {
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    ++number;
    if (const std::string wrong = take(number, text.substr(begin, end - begin)); !wrong.empty())
      return at_line(path, number, wrong);
    begin = end + 1;
  }
  return {};
}

}  // namespace pclscope::mapping
