// The root's part of a job on several nodes: the job's evaluation, fed with merged reports and raw messages, and the
// orders for all nodes. Knows no link. One thread owns a Root.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analysis/blocked/across.hpp"
#include "analysis/density/shown.hpp"
#include "analysis/nodes/job_sites.hpp"
#include "analysis/pipeline/evaluation.hpp"
#include "analysis/values/part.hpp"

namespace pclscope::nodes {

struct RootOptions {
  std::uint64_t raw_bytes_per_s = 20'000'000;  // that the root can take in, of all nodes
  std::int64_t criteria_every_ns = 1'000'000'000;
  int per_host = 1;  // nodes on each machine (Link::per_host)
};

class Root {
 public:
  // `analysis`: as for a job on one node; its naming of sites is set here.
  Root(Application application, PipelineOptions analysis, int nodes, RootOptions options = {});

  // Names, places and sites, as they come from any node.
  void take_news(const Report& report);
  void take_raw(RawMessages&& raw);
  // The merged report of all nodes. An epoch's news and raw messages come before its report.
  void take_report(Report&& report);
  void died(int node);

  // What the nodes are to know, when that has changed since the last call. `now_ns`: job's axis.
  std::optional<Orders> orders(std::int64_t now_ns);

  // Deadlocks across nodes that were not handed out yet.
  std::vector<Deadlock> deadlock_news();

  // No more will come: closes what is open.
  void finish();
  Evaluation& evaluation() { return evaluation_; }
  const Measured& measured() const { return measured_; }
  JobSites& sites() { return sites_; }
  // Fills what the evaluation does not know: functions, deadlocks, sites, nodes, what nodes did not send.
  void fill(Snapshot& snapshot) const;
  DensityPart density(const DensityQuestion& question) const { return density_.part(question, running()); }
  // Whether the nodes are to send their newest single calls.
  void want_calls(bool on) { calls_wanted_ = on; }
  // What ranks were inside for longer, as their nodes told last: where it is known that they wait since exactly when,
  // else since a second or more, too short by the status' age. `now_ns`: job's axis.
  std::vector<MpiCall> running_calls(std::int64_t now_ns) const;
  // Whose record is not whole, after fill(). `silent_whole`: ranks that never showed up are.
  void mark_missing(Snapshot& snapshot, bool silent_whole) const;

 private:
  struct OpenWindow {
    std::vector<Message> messages;
  };
  PipelineOptions with_sites(PipelineOptions options);
  void close(const WindowPart& part);
  void take_calls(const RawMessages& raw);
  void take_cores(const RankStatus& status);
  std::int32_t host_of(std::int32_t node) const { return node / options_.per_host; }
  int hosts() const { return nodes_ / options_.per_host; }

  RootOptions options_;
  int nodes_;
  JobSites sites_;
  std::map<std::int64_t, OpenWindow> windows_;  // raw messages of windows that are not closed, by begin
  std::map<std::int32_t, Evaluation::CallsLeftOut> calls_left_out_;  // by node
  std::int64_t closed_until_ = INT64_MIN;
  std::int64_t last_window_ = INT64_MIN;     // begin of the newest that was closed
  std::int64_t closed_through_ = INT64_MIN;  // on all nodes, as reports told
  std::vector<std::int64_t> read_until_;     // by rank, RankStatus::read_until_ns
  std::vector<std::string> names_;           // of hosts
  std::vector<std::int32_t> node_of_rank_;   // -1 not known
  bool places_changed_ = false;
  bool calls_wanted_ = false, told_calls_wanted_ = false;
  std::uint64_t regions_told_ = 0, version_ = 0;
  std::int64_t criteria_told_ns_ = INT64_MIN;
  std::vector<Criterion> told_criteria_;
  std::map<std::pair<std::int32_t, std::uint16_t>, FunctionStatus> functions_;
  std::map<std::uint32_t, SiteStatus> site_times_;  // by site_of_node
  std::map<std::int32_t, std::vector<Deadlock>> deadlocks_;
  void find_deadlocks();
  blocked::Across across_;
  std::vector<Deadlock> across_standing_, across_news_;
  std::map<std::int32_t, std::vector<Condition>> conditions_;
  std::map<std::int32_t, Machine> machines_;  // of hosts
  std::map<std::int32_t, RankBinding> bindings_;
  std::map<std::int32_t, std::vector<Marker>> markers_;
  struct CoresTold {
    CoreTimes times;
    std::int64_t until_ns = 0;
  };
  std::vector<CoresTold> cores_told_;         // by rank
  std::map<std::int32_t, NodeClock> clocks_;  // newest of each host
  std::vector<ClockCorrection> corrections_;
  std::vector<std::int32_t> dead_;
  density::Pyramid density_;
  mutable density::Shown shown_density_;
  std::vector<density::Pyramid::Running> running() const;
  std::uint64_t traffic_bytes_ = 0, messages_left_out_ = 0, collectives_left_out_ = 0;
  std::int64_t window_ns_;
  Measured measured_;      // of the job, from reports
  Evaluation evaluation_;  // its callbacks use the members above
};

}  // namespace pclscope::nodes
