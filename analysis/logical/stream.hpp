// Logical time while records come: phases are handed out when they are over, and what is kept is bounded. One owner.
//
// The same phases and steps as Records::logical_time() gives for all records at once, but where ranks had no event that
// was known while more than `most_pending` records were kept: then layers do without them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/logical/logical_time.hpp"

namespace pclscope::logical {

class Stream {
 public:
  Stream(std::int32_t ranks, std::size_t most_pending);
  ~Stream();
  void same_lines(std::vector<std::uint32_t> line_of_site);  // as for Records; may grow
  void add(std::span<const Message> messages);
  void add(std::span<const CollectiveCall> calls);  // all of an operation before the next advance()

  // No record that comes later has a send that began, or a receive or collective that ended, before `until_ns`: those
  // that come all the same are left out and counted. Gives the phases that are over, with their events (others have no
  // step). Fails with bad_argument as Records.
  Result<LogicalTime> advance(std::int64_t until_ns);
  // All phases that are left. The stream is empty then.
  Result<LogicalTime> finish();

  std::size_t pending() const;  // records
  std::uint64_t came_too_late() const { return too_late_; }

 private:
  struct State;
  Result<LogicalTime> go_on(std::int64_t until_ns);

  std::unique_ptr<State> state_;
  Records pending_;
  std::size_t most_pending_;
  std::int64_t until_ns_ = INT64_MIN;
  std::uint64_t too_late_ = 0;
  std::vector<std::uint32_t> line_of_site_;
};

}  // namespace pclscope::logical
