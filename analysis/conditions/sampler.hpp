// Reads what the scheduler does with the ranks of one node, and keeps their times on and off the core and the
// conditions of the run. Descriptors are kept open; nothing happens in the ranks. At most 0.5 % of a core: what a
// reading cost decides when the next one may come.
//
//   add() for each rank        sample() often; it says itself whether it is due        times(), conditions()
//
// One thread owns a Sampler. Times in ns of any clock with a constant origin (the job's axis on this node).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/conditions/condition_list.hpp"
#include "analysis/conditions/proc_tree.hpp"
#include "analysis/values/conditions.hpp"
#include "analysis/values/machine.hpp"
#include "interpose/record/segment.hpp"

namespace pclscope::conditions {

// In [begin, end) the rank was so long runnable but off its core, outside MPI.
struct OffCore {
  std::int32_t rank = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t off_ns = 0;
};
using Tell = std::function<void(const OffCore&)>;

class Sampler {
 public:
  static constexpr std::int64_t slice_ns = 500'000'000;

  // What readings may take of a core: samples this share, looks around (where ranks may run, who else does) less than
  // half as much.
  static constexpr double usual_share = 0.0015;

  // `ticks_per_s`: of processor time; 0: the system's.
  explicit Sampler(const std::string& root = "", double ticks_per_s = 0, double share = usual_share);

  // A rank by the segment of the thread that called MPI_Init, which must outlive this; `executable` as it says there.
  // False: it cannot be seen (in a container of its own, gone); its times stay zero.
  bool add(std::int32_t rank, const record::SegmentHeader& header, const std::string& executable);
  // Other ranks' processes of the job on this node, which another aggregator reads: asked now and then. They belong to
  // the conditions here, but what they lose is not counted here.
  void set_others(std::function<std::vector<std::uint32_t>()> others) { others_of_job_ = std::move(others); }
  // How long a rank has been inside MPI by `now_ns`, by its events and the call that it is in (since when, ticks; 0: in
  // none). While it was not inside MPI it slept: it cannot have been off its core for longer than it was awake outside.
  using Inside = std::function<std::int64_t(std::int32_t rank, std::uint64_t since, std::int64_t now_ns)>;
  void set_inside(Inside inside) { inside_ = std::move(inside); }
  // Reads all ranks' times if it is due, and closes the slice if it is over. `tell` of every rank about every 50 ms.
  void sample(std::int64_t now_ns, const Tell& tell);
  // The same at once, and the last slice, if it is not too short. Nothing is read after it.
  void finish(std::int64_t now_ns, const Tell& tell);

  // Zero for ranks that are not known.
  CoreTimes times(std::int32_t rank) const;
  // Of a rank whose process has died, when it was last seen alive; INT64_MAX: it lives, or is not known.
  std::int64_t alive_until_ns(std::int32_t rank) const;
  // Where a rank may run, as last looked; nullopt: not known, or as it was when this was asked before.
  std::optional<RankBinding> binding_news(std::int32_t rank);
  std::vector<RankBinding> bindings() const;  // of all ranks of which it is known, ascending
  const std::vector<Condition>& conditions() const { return conditions_; }  // as of the last slice; node is -1
  std::int64_t until_ns() const { return until_ns_; }                       // times() are as of then
  std::chrono::nanoseconds spent() const { return spent_; }                 // of processor time, in all readings
  std::uint64_t samples() const { return samples_; }

 private:
  // What the rank measured of itself (SegmentHeader::idle_ns): so long it did not run; outside MPI; without a core.
  struct Idle {
    std::int64_t all_ns = 0, least_ns = 0, most_ns = 0, off_inside_ns = 0, off_outside_ns = 0;
    std::uint64_t until = 0;  // 0: nothing yet
  };
  static Idle idle_of(const record::SegmentHeader& header);
  struct Rank {
    std::int32_t rank = 0;
    std::uint32_t pid = 0;
    const record::SegmentHeader* header = nullptr;  // none: another aggregator's
    KeptFile schedstat, stat;
    bool over = false, begun = false, died = false;
    SchedTimes first, last;  // since the thread began
    std::int64_t first_ns = 0, last_ns = 0;
    bool was_inside = false;
    std::uint64_t was_since = 0;  // entry of its newest call then
    double off_computing_ns = 0;
    double off_least_ns = 0, off_most_ns = 0;  // between which it is known to be
    std::int64_t inside_first_ns = 0;          // inside_ when it was first read
    Idle idle, idle_base;                      // as the rank told last; the first that began after it was first read
    bool based = false;                        // idle_base is there
    std::int64_t before_base_ns = 0;           // since it was first read, at most
    // Since then: so long; for so long it may have been outside MPI; of which it was, off its core.
    std::int64_t since_idle_ns = 0, maybe_outside_ns = 0, off_outside_ns = 0;
    std::int64_t told_ns = 0;
    double told_off_ns = 0;        // off_computing_ns then
    CoreTimes at_slice;            // when the slice began
    std::uint64_t used_ticks = 0;  // by its process, as last read
    std::uint32_t threads = 1;
    std::vector<std::int32_t> allowed;  // cores, as last read; none: not yet
    std::size_t cores = 0;              // then: index into sets_
    std::vector<std::int32_t> binding;  // the same, known from the beginning
    std::uint32_t binding_changes = 0;  // how often it was another one than before
    bool binding_told = false;
    std::int32_t quota = -1;
    double other_s = 0, other_of_s = 0;  // for CoreTimes::other_load
    CoreTimes times() const;
  };
  void read(Rank& rank, std::int64_t now_ns);
  struct Reading {
    bool known = false;  // a rank's that is counted here
    bool inside = false;
    bool finalizing = false;  // it has just measured
    std::uint64_t since = 0;
    Idle idle;
    SchedTimes times;
    std::int64_t now_ns = 0;
  };
  void bound_off_computing(Rank& rank, const Reading& reading) const;
  void read_all(std::int64_t now_ns, const Tell& tell);
  void tell_of(Rank& rank, const Tell& tell);
  bool find_others(std::int64_t now_ns);  // true: some are new
  bool is_of_job(std::uint32_t pid) const;
  double read_use(Rank& rank);      // seconds that its process has used since the last call
  std::vector<double> read_busy();  // the same of each core
  void begin_slice(std::int64_t now_ns);
  void close_slice(std::int64_t now_ns);
  void look_where();  // allowed cores, cgroups
  void look_for_others(NodeSlice& slice);
  double share_outside(const Rank& rank, bool inside, std::uint64_t since, std::int64_t waited, std::int64_t dt) const;

  ProcTree tree_;
  double ticks_per_s_, share_;
  KeptFile busy_file_;
  std::vector<std::unique_ptr<Rank>> ranks_, elsewhere_;  // elsewhere: other aggregators'
  std::function<std::vector<std::uint32_t>()> others_of_job_;
  Inside inside_;
  std::unordered_map<std::int32_t, Rank*> by_rank_;
  std::vector<std::vector<std::int32_t>> sets_;
  std::vector<Quota> quotas_;  // as last read
  std::vector<std::uint64_t> busy_;
  std::unordered_map<std::uint32_t, std::uint64_t> used_;  // ticks of other processes at the last look
  std::int64_t used_at_ns_ = 0;
  std::vector<ProcessLoad> others_;
  std::int64_t slice_begin_ns_ = 0, next_sample_ns_ = 0, next_where_ns_ = 0, next_look_ns_ = 0;
  std::int64_t until_ns_ = 0;
  bool sliced_ = false, over_ = false;
  ConditionList list_;
  std::vector<Condition> conditions_;
  std::chrono::nanoseconds spent_{0};
  std::uint64_t samples_ = 0;
};

}  // namespace pclscope::conditions
