#include "analysis/attribute/slow_links.hpp"

#include <algorithm>
#include <set>

namespace pclscope::attribute {
namespace {

constexpr double always = 0.7;       // of a side's samples, on links that are slow
constexpr double left_over = 0.25;   // of the excess, that need not be explained
constexpr double much_slower = 0.4;  // ln: than the other links of the same receiver
constexpr std::size_t most_nodes = 32;

struct Candidate {
  std::vector<std::pair<std::int32_t, std::int32_t>> links;  // that are slow
  double samples = 0, slow_samples = 0;
  double explains = 0;
  std::string what;

  bool holds() const { return links.size() >= 2 && slow_samples >= always * samples; }
};

std::string list(words::NodeNames names, const Candidate& c, bool from) {
  std::string text;
  for (const auto& [a, b] : c.links) text += (text.empty() ? "" : ", ") + words::node(names, from ? a : b);
  return text;
}

}  // namespace

SlowLinks slow_links(const Links& links, double slow, words::NodeNames names) {
  std::map<std::int32_t, double> rest;  // of receiving nodes: excess that is not explained yet
  double all = 0;
  for (const auto& [link, seen] : links) {
    rest[link.second] += seen.excess_s;
    all += seen.excess_s;
  }
  std::map<std::int32_t, Candidate> sides[2];  // sending, receiving
  for (const auto& [link, seen] : links)
    for (const int side : {0, 1}) {
      Candidate& c = sides[side][side == 0 ? link.first : link.second];
      c.samples += seen.samples;
      if (seen.slowness() <= slow) continue;
      c.slow_samples += seen.samples;
      c.links.push_back(link);
    }
  SlowLinks found;
  std::set<std::pair<std::int32_t, std::int32_t>> named;
  double left = all;
  while (left > left_over * all && found.nodes.size() < most_nodes) {
    Candidate best;
    const auto take = [&](Candidate c, const std::string& what) {
      c.what = what;
      if (c.explains > 1.02 * best.explains) best = std::move(c);
    };
    for (const auto& [link, seen] : links) {
      if (seen.slowness() <= slow || seen.excess_s <= 0) continue;
      bool stands_out = true;
      for (const auto& [other, its] : links)
        if (other.second == link.second && other != link && its.slowness() > seen.slowness() - much_slower)
          stands_out = false;
      Candidate one;
      one.links = {link};
      one.explains = stands_out ? rest[link.second] : std::min(rest[link.second], seen.excess_s);
      take(std::move(one), words::node(names, link.first) + " to " + words::node(names, link.second));
    }
    for (auto& [node, c] : sides[1])
      if (c.holds()) {
        c.explains = rest[node];
        take(c, "all that " + words::node(names, node) + " receives (from " + list(names, c, true) + ")");
      }
    for (auto& [node, c] : sides[0])
      if (c.holds()) {
        c.explains = 0;
        for (const auto& link : c.links) c.explains += rest[link.second];
        take(c, "all that " + words::node(names, node) + " sends (to " + list(names, c, false) + ")");
      }
    if (best.explains <= 0) break;
    for (const auto& link : best.links) {
      if (named.insert(link).second) found.nodes.insert(found.nodes.end(), {link.first, link.second});
      const double part = best.links.size() == 1 ? std::min(best.explains, rest[link.second]) : rest[link.second];
      rest[link.second] -= part;
      left -= part;
    }
    found.text += (found.text.empty() ? "" : "; ") + best.what;
  }
  if (found.nodes.size() > most_nodes) found.nodes.resize(most_nodes);
  return found;
}

}  // namespace pclscope::attribute
