// What a viewer remembers of every region over time: windows of live snapshots, or those of a dump, within a budget.
//
// A snapshot brings the newest windows of a region only; here they are strung together, so that an hour of a job can be
// looked at: 24 bytes per region and window with messages (64 regions, an hour of 100 ms: 55 MB). Snapshots may be
// lost, and overlap: each window counts once, and those that no snapshot brought are missing. A job that begins anew
// (another time origin or name) begins a new history.
//
// Beyond the budget the paper's rule holds (reference §3), oldest first: of times that are neither growth nor
// steady only the first and the last window are kept, and all between them become one point, the middle. When that is
// not enough the same is done to growth and steady; at last the oldest go. Sums of messages survive all but the last.
// A value: copies share full chunks of points, which never change. One thread changes it; copies may be read anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/session/shared_list.hpp"

namespace pclscope::session {

struct HistoryPoint {
  double begin_s = 0;          // seconds since the time origin
  float length_s = 0;          // of the interval that the point stands for: a window, or many
  float ratio = 0;             // mean L
  std::uint32_t messages = 0;  // > 0: windows without a message have no point
  std::uint32_t delayed = 0;   // of a dump: exact. Live: what the region's total grew by; where several windows came
                               // together, shared out as their periods have it
  double end_s() const { return begin_s + static_cast<double>(length_s); }
  bool operator==(const HistoryPoint&) const = default;
};

struct RegionHistory {
  SharedList<HistoryPoint, 128> points;  // ascending, no overlap
  SharedList<Period, 16> periods;        // ascending; older ones than the snapshot's are kept too
  double average = 0;                    // Ave_region: mean L of all its messages so far
};

class History {
 public:
  explicit History(std::size_t budget_bytes = std::size_t{64} << 20) : budget_(budget_bytes) {}
  // The next snapshot of a live session, or the only one of a dump. Older ones than the last are ignored.
  void add(const Snapshot& snapshot);
  // A dump's windows (Session::windows), instead of the history in its snapshot; before or after that.
  void add(std::span<const Window> windows);
  const std::map<std::int32_t, RegionHistory>& regions() const { return regions_; }  // by id; regions that are gone too
  std::size_t bytes() const;                                                         // about
  double begin_s() const;                                                            // of the first point; 0 without
  double end_s() const { return until_s_; }                                          // of the last window
  bool thinned() const { return thinned_; }                                          // something was left out

 private:
  // How far a region's windows are known.
  struct Progress {
    double until_s = 0;
    std::uint64_t messages = 0, delayed = 0;  // the region's totals in the last snapshot
    bool any = false, present = false;
  };
  void begin_anew(const Snapshot& snapshot);
  void add_region(const Region& region, double end_s, double window_s);
  void keep_within_budget();

  std::map<std::int32_t, RegionHistory> regions_;
  std::map<std::int32_t, Progress> progress_;
  std::size_t budget_;
  std::string job_;
  std::int64_t origin_ns_ = 0;
  std::uint64_t sequence_ = 0;
  double until_s_ = 0;
  bool any_ = false, thinned_ = false, whole_ = false;  // whole_: the windows of a dump are in it
};

}  // namespace pclscope::session
