#include "viewer/session/regions.hpp"

#include <string>
#include <vector>

#include "viewer/text/rank_list.hpp"

namespace pclscope::session {

Result<const Region*> find_region(const Snapshot& snapshot, std::int32_t id) {
  std::vector<std::int32_t> known;
  for (const Region& region : snapshot.regions) {
    if (region.id == id) return &region;
    known.push_back(region.id);
  }
  const std::string no = "no region " + std::to_string(id) + ": ";
  if (known.empty())
    return Error{ErrorCode::not_found, no + "the run has none, no messages between ranks were matched"};
  return Error{ErrorCode::not_found,
               no + (known.size() == 1 ? "there is " : "there are ") + text::compact_ranks(known, 60)};
}

}  // namespace pclscope::session
