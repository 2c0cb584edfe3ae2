// What `pclscope watch --until` waits for: "region.lost > 20% for 60s". One line of text, and whether it holds.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::alarms {

enum class Watched : std::uint8_t {
  lost,  // share of all ranks' time that they were blocked in the newest two seconds; of a dump: in the whole run
  region_lost,   // the same of a region's ranks, because of the region's messages and in collectives
  region_ratio,  // typical latency ratio of a region's newest window with messages
  rank_inside,   // seconds for which a rank has been inside one MPI call
  finding,       // confidence of a finding that acts now
  deadlock,      // proven
  dropped,       // events, since the job began
};

struct Condition {
  Watched watched = Watched::lost;
  double above = 0;  // shares: 0.2 is 20 %
  double for_s = 0;  // for so long without a break
  std::string text;  // as it was given
};

// "WHAT [> VALUE] [for TIME]". WHAT: lost, region.lost (VALUE as 20%), region.ratio (3), rank.inside (30s), finding
// (0.8; without VALUE 0.5), deadlock, dropped (0). Fails with bad_argument, whose message says what is wrong.
Result<Condition> parse_condition(const std::string& text);
std::string condition_words();  // those that can be written, for help and errors

// Looks at each snapshot of a run in turn. One thread.
class Alarm {
 public:
  explicit Alarm(Condition condition) : condition_(std::move(condition)) {}

  // The snapshot is all there is of the run (a dump): time lost is that of the whole run, and nothing has to last.
  void only_one() { only_one_ = true; }
  // For so long it has to look at a running job before it can tell that the condition does not hold.
  double must_look_s() const;

  // When the condition holds, and has for as long as it asks: a sentence that says what holds for whom.
  std::optional<std::string> look(const Snapshot& snapshot);

 private:
  struct Lost {
    double at_s = 0;
    double job_s = 0;
    std::map<std::int32_t, double> region_s;  // by id
  };
  std::optional<std::string> now(const Snapshot& snapshot);
  std::optional<std::string> lost(const Snapshot& snapshot) const;
  void remember(const Snapshot& snapshot, double at_s);

  Condition condition_;
  std::deque<Lost> history_;  // the newest seconds
  std::optional<double> since_s_;
  bool only_one_ = false;
};

}  // namespace pclscope::alarms
