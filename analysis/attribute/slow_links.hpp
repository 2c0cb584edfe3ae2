// Which node's sending side, receiving side, or link between two nodes explains that transfers are slow. A call that
// completes messages of several links returns with the last of them: then all look slow, and the one that is slow
// wherever it is used explains the others.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribute/words.hpp"

namespace pclscope::attribute {

struct LinkSeen {       // from a node to another one, in an interval
  double excess_s = 0;  // time lost in calls that waited for it
  double above = 0;     // of its samples: sum of ln(transfer over the usual one)
  double samples = 0;
  double slowness() const { return samples > 0 ? above / samples : 0; }
};
using Links = std::map<std::pair<std::int32_t, std::int32_t>, LinkSeen>;  // (from, to)

struct SlowLinks {
  std::vector<std::int32_t> nodes;  // pairs (from, to), worst first; at most 16 pairs
  std::string text;                 // "all that nid2 sends (to nid0, nid1)", "nid1 to nid3"
};

// `slow`: ln, above which a link counts as slow. What explains most goes first, until a quarter of the excess is left.
SlowLinks slow_links(const Links& links, double slow, words::NodeNames names = {});

}  // namespace pclscope::attribute
