// A stage of the evaluation that looks at windows of judged messages and adds something to the snapshot, and to which
// no other stage listens. All are listed in stages.def.
//
// One thread. Memory must be bounded by ranks and pairs of them, not by run time; what costs more than some nanoseconds
// per message takes a TimeShare (analysis/values/time_share.hpp) and counts what it leaves out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope {

class Stage {
 public:
  // Times: ns of the job's axis. `messages` belong to the window [begin_ns, end_ns): received in it, or before it and
  // matched too late for theirs; in the order in which they were matched. They are fewer than there were when a job on
  // several nodes could not send all to the root. `calls` of collectives ended before `end_ns`; all of them come, once.
  // There may be calls without messages: they wait for no window when there is none.
  struct Input {
    std::int64_t begin_ns = 0, end_ns = 0;
    std::span<const Message> messages;
    std::span<const CollectiveCall> calls;
    std::span<const std::int32_t> node_of_rank;    // -1 not known
    std::span<const std::int32_t> region_of_rank;  // id; -1 none
    std::uint64_t pattern = 0;                     // another number: another pattern, to which the regions belong
    bool at_leisure = true;                        // else the job runs: what is costly takes its share of time only
  };

  virtual ~Stage() = default;
  virtual void add(const Input& input) = 0;
  // No more will come.
  virtual void finish() {}
  // Into a snapshot that has its ranks and regions.
  virtual void fill(Snapshot& snapshot) const = 0;
};

std::vector<std::unique_ptr<Stage>> make_stages(std::int32_t ranks);

}  // namespace pclscope
