// What a rank's analysis says for its blocked rank, so that the root can find deadlocks across nodes: for whom it waits
// as far as that node knows, and what others must know of it. Plain.
#pragma once

#include <cstdint>
#include <vector>

namespace pclscope::nodes {

// Pattern of a message: of a receive `peer` is the source, of a send the destination. -1: any.
struct MessagePattern {
  std::int32_t peer = -1;
  std::int32_t tag = -1;
  std::uint64_t comm = 0;
  bool operator==(const MessagePattern&) const = default;
};
// A collective that waits for members that have not begun it.
struct CollectiveNeed {
  std::uint64_t comm = 0;
  std::uint64_t number = 0;
  bool every = false;  // all of them are needed; else one of them
  bool operator==(const CollectiveNeed&) const = default;
};
// How many collectives of a communicator a rank has begun.
struct CollectivesBegun {
  std::uint64_t comm = 0;
  std::uint64_t members = 0;
  std::uint64_t count = 0;
  bool operator==(const CollectivesBegun&) const = default;
};

struct RankWait {
  bool blocked = false;  // it can do nothing but what follows; else the rest is empty
  bool all_taken_known = false;
  std::int32_t node = 0;
  std::int64_t since_ns = 0;                    // entry of its call; all times on the job's axis
  std::int64_t looked_ns = 0;                   // it was so then
  std::int64_t read_ns = 0;                     // what other nodes' ranks had sent before was known then
  std::vector<MessagePattern> receives, sends;  // it needs all of them
  std::vector<CollectiveNeed> collectives;
  std::vector<MessagePattern> sending;  // a blocking send that is going on: may be on its way already
  std::vector<MessagePattern> takes;    // it has posted receives for these, or received them ahead
  std::vector<CollectivesBegun> begun;  // of its communicators, those known
  bool operator==(const RankWait&) const = default;
};

}  // namespace pclscope::nodes
