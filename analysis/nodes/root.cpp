#include "analysis/nodes/root.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/blocked/call_kind.hpp"
#include "analysis/callsite/site_sums.hpp"
#include "analysis/nodes/job_ticks.hpp"
#include "analysis/nodes/report_sums.hpp"
#include "analysis/values/site_key.hpp"
#include "analysis/window/markers.hpp"

namespace pclscope::nodes {

namespace {

constexpr double worth_telling = 0.005;              // change of a criterion
constexpr std::int64_t long_ago_ns = 1'000'000'000;  // a status is younger
constexpr std::int64_t year_ns = 31'536'000'000'000'000;
constexpr std::size_t most_waiting_windows = 1024;
constexpr std::size_t most_condition_ranks = 64;  // Condition::ranks
constexpr std::size_t most_clock_records = 65'536;

bool close_to(double a, double b) { return std::abs(a - b) <= worth_telling * std::max(a, b); }

bool same(const std::vector<Criterion>& a, const std::vector<Criterion>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Criterion& x, const Criterion& y) {
    return x.inter_node == y.inter_node && x.bytes_low == y.bytes_low && close_to(x.median_s, y.median_s) &&
           close_to(x.transfer_median_s, y.transfer_median_s);
  });
}

// What the aggregators of a machine found, each of its ranks, is one condition.
void add_condition(std::vector<Condition>& list, const Condition& more, std::int32_t host) {
  const auto same = std::find_if(list.begin(), list.end(), [&](const Condition& c) {
    return c.node == host && c.kind == more.kind && c.key == more.key && more.key != 0;
  });
  if (same == list.end()) {
    list.push_back(more);
    list.back().node = host;
    return;
  }
  Condition& sum = *same;
  if (more.process_load > sum.process_load) {
    sum.process = more.process;
    sum.process_load = more.process_load;
    sum.pid = more.pid;
  }
  sum.begin_s = std::min(sum.begin_s, more.begin_s);
  sum.end_s = std::max(sum.end_s, more.end_s);
  sum.open |= more.open;
  sum.active_s = std::max(sum.active_s, more.active_s);
  sum.cost_s += more.cost_s;
  sum.in_mpi_s += more.in_mpi_s;
  sum.load = std::max(sum.load, more.load);
  sum.throttled_share = std::max(sum.throttled_share, more.throttled_share);
  sum.ranks_met += more.ranks_met;
  sum.ranks.insert(sum.ranks.end(), more.ranks.begin(), more.ranks.end());
  std::sort(sum.ranks.begin(), sum.ranks.end());
  if (sum.ranks.size() > most_condition_ranks) sum.ranks.resize(most_condition_ranks);
}

}  // namespace

PipelineOptions Root::with_sites(PipelineOptions options) {
  options.name_call_sites = [this](std::span<CollectiveCall> calls) {
    for (CollectiveCall& c : calls) c.site = sites_.id_of(site_address(c.site));
  };
  options.name_mpi_calls = [this](std::span<MpiCall> calls) {
    for (MpiCall& c : calls) c.site = sites_.id_of(c.site);
  };
  return options;
}

Root::Root(Application application, PipelineOptions analysis, int nodes, RootOptions options)
    : options_(options),
      nodes_(nodes),
      read_until_(static_cast<std::size_t>(application.ranks), 0),
      names_(static_cast<std::size_t>(hosts())),
      node_of_rank_(static_cast<std::size_t>(application.ranks), -1),
      across_(application.ranks),
      cores_told_(static_cast<std::size_t>(application.ranks)),
      window_ns_(std::max<std::int64_t>(analysis.window_ns, 1)),
      measured_(std::move(application), analysis),
      evaluation_(measured_, with_sites(std::move(analysis))) {
  for (int i = 0; i < hosts(); ++i) names_[static_cast<std::size_t>(i)] = "node" + std::to_string(i);
  measured_.application.nodes = names_;
  evaluation_.set_tick_scale(job_scale());
}

void Root::take_news(const Report& report) {
  for (const NodeName& n : report.names) {
    if (n.node < 0 || n.node >= nodes_) continue;
    names_[static_cast<std::size_t>(host_of(n.node))] = n.name;
    if (!n.mpi.empty()) measured_.application.mpi = n.mpi;
    measured_.application.nodes = names_;
  }
  for (const RankPlace& p : report.places) {
    if (!measured_.knows(p.rank) || p.node < 0 || p.node >= nodes_) continue;
    std::int32_t& place = node_of_rank_[static_cast<std::size_t>(p.rank)];
    places_changed_ |= place != p.node;
    place = p.node;
    measured_.application.node_of_rank[static_cast<std::size_t>(p.rank)] = host_of(p.node);
  }
  for (const NodeSite& s : report.new_sites) sites_.add(s);
}

// Their sites may become known later, but before their window closes.
void Root::take_calls(const RawMessages& raw) {
  evaluation_.add_calls(raw.calls);
  calls_left_out_[raw.node] = {raw.calls_left_out, raw.calls_shed};
  Evaluation::CallsLeftOut left_out;
  for (const auto& [node, calls] : calls_left_out_) {
    left_out.all += calls.all;
    left_out.shed += calls.shed;
  }
  evaluation_.set_calls_elsewhere(left_out);
}

void Root::take_raw(RawMessages&& raw) {
  for (const RankEvent& e : raw.collectives) evaluation_.add_collectives(e.rank, {&e.event, 1});
  if (!raw.calls.empty() || raw.calls_left_out > 0) take_calls(raw);
  if (raw.messages.empty()) return;
  for (Message& m : raw.messages) {
    m.send_site = sites_.id_of(m.send_site);
    m.recv_site = sites_.id_of(m.recv_site);
  }
  const bool in_range = std::all_of(raw.messages.begin(), raw.messages.end(), [&](const Message& m) {
    return measured_.knows(m.source) && measured_.knows(m.destination);
  });
  if (!in_range || raw.window_ns < closed_until_) return;  // of a window that is over: its node came too late
  std::vector<Message>& messages = windows_[raw.window_ns].messages;
  messages.insert(messages.end(), raw.messages.begin(), raw.messages.end());
}

void Root::take_report(Report&& report) {
  take_news(report);
  traffic_bytes_ += report.traffic_bytes;
  collectives_left_out_ += report.collectives_left_out;
  for (SitePairSums& s : report.sites) {
    s.send_site = sites_.id_of(s.send_site);
    s.recv_site = sites_.id_of(s.recv_site);
  }
  for (RankStatus& r : report.ranks) {
    r.site = sites_.id_of(r.site);
    if (!measured_.knows(r.rank)) continue;
    read_until_[static_cast<std::size_t>(r.rank)] = r.read_until_ns;
    take_cores(r);
    across_.take(r.rank, r.wait);
  }
  density_.add(report.density);
  for (const SiteStatus& s : report.site_times) site_times_[s.site] = s;
  for (FunctionStatus& f : report.functions) functions_[{f.node, f.function}] = std::move(f);
  for (NodeDeadlock& d : report.deadlocks) {
    for (Deadlock& deadlock : d.standing)
      for (DeadlockMember& member : deadlock.members) member.site = sites_.id_of(member.site);
    deadlocks_[d.node] = std::move(d.standing);
  }
  for (NodeConditions& c : report.conditions)
    if (c.node >= 0 && c.node < nodes_) conditions_[c.node] = std::move(c.list);
  for (NodeMachine& m : report.machines)
    if (m.node >= 0 && m.node < nodes_) machines_[host_of(m.node)] = std::move(m.machine);
  for (RankBinding& b : report.bindings)
    if (measured_.knows(b.rank)) bindings_[b.rank] = std::move(b);
  for (NodeMarkers& m : report.markers)
    if (m.node >= 0 && m.node < nodes_) markers_[m.node] = std::move(m.list);
  for (const NodeClock& c : report.clocks)
    if (c.node >= 0 && c.node < nodes_) clocks_[host_of(c.node)] = c;
  for (const NodeCorrection& c : report.corrections)
    if (corrections_.size() < most_clock_records && c.node >= 0 && c.node < nodes_)
      corrections_.push_back(
          {host_of(c.node), static_cast<double>(c.at_ns) * 1e-9, c.correction_ns * 1e-9, c.error_ns * 1e-9});
  for (const std::int32_t node : report.dead_nodes) died(node);
  if (add_report(measured_, report))
    evaluation_.take_pairs(report.windows.empty() ? measured_.newest_ns : report.windows.back().begin_ns);
  if (!report.ranks.empty()) find_deadlocks();
  measured_.pairs.clear_window();
  for (const WindowPart& part : report.windows) close(part);
  evaluation_.closed_until(report.closed_through_ns);
  closed_through_ = std::max(closed_through_, report.closed_through_ns);
  while (windows_.size() > most_waiting_windows) windows_.erase(windows_.begin());  // nobody closes them any more
}

// After the statuses: functions and sites of the members are theirs.
void Root::find_deadlocks() {
  std::vector<Deadlock> standing;
  for (const blocked::Across::Found& found : across_.find()) {
    Deadlock& deadlock = standing.emplace_back();
    deadlock.found_s = static_cast<double>(found.looked_ns) * 1e-9;
    for (const blocked::Across::Member& m : found.members) {
      DeadlockMember& member = deadlock.members.emplace_back();
      const RankStatus& status = measured_.told[static_cast<std::size_t>(m.rank)];
      member.rank = m.rank;
      member.function = status.function;
      member.site = status.site;
      member.comm = status.comm;
      member.tag = status.tag;
      member.waits_for = m.waits_for.ranks;
      member.waits_for_any = m.waits_for.any;
      member.since_s = static_cast<double>(m.since_ns) * 1e-9;
      deadlock.since_s = std::max(deadlock.since_s, member.since_s);
    }
    const auto before = std::find_if(across_standing_.begin(), across_standing_.end(), [&](const Deadlock& d) {
      return std::equal(d.members.begin(), d.members.end(), deadlock.members.begin(), deadlock.members.end(),
                        [](const DeadlockMember& a, const DeadlockMember& b) { return a.rank == b.rank; });
    });
    if (before != across_standing_.end()) deadlock.found_s = before->found_s;
    else across_news_.push_back(deadlock);
  }
  across_standing_ = std::move(standing);
}

std::vector<Deadlock> Root::deadlock_news() { return std::exchange(across_news_, {}); }

// What is new since the rank's last status.
void Root::take_cores(const RankStatus& status) {
  CoresTold& told = cores_told_[static_cast<std::size_t>(status.rank)];
  if (status.cores_until_ns <= told.until_ns) return;
  const std::int64_t observed = status.cores.observed_ns - told.times.observed_ns;
  const std::int64_t off = status.cores.off_computing_ns - told.times.off_computing_ns;
  if (observed > 0 && observed < year_ns)  // else it is damaged
    evaluation_.add_off_core(status.rank, status.cores_until_ns - observed, status.cores_until_ns,
                             std::clamp<std::int64_t>(off, 0, observed));
  told = {status.cores, status.cores_until_ns};
}

void Root::close(const WindowPart& part) {
  const auto found = windows_.find(part.begin_ns);
  std::vector<Message> messages;
  if (found != windows_.end()) {
    messages = std::move(found->second.messages);
    windows_.erase(found);
  }
  messages_left_out_ += part.messages_left_out;
  measured_.worst.close_window(part.begin_ns + window_ns_);
  Evaluation::ClosedWindow window{part.begin_ns, 0, part.all, part.regions, messages, true};
  window.all_there = messages.size() >= part.all.messages;
  if (last_window_ != INT64_MIN)
    window.skipped = std::max<std::int64_t>((part.begin_ns - last_window_) / window_ns_ - 1, 0);
  last_window_ = std::max(last_window_, part.begin_ns);
  evaluation_.close_window(window);
  closed_until_ = std::max(closed_until_, part.begin_ns + 1);
}

void Root::died(int node) {
  if (std::find(dead_.begin(), dead_.end(), node) == dead_.end()) dead_.push_back(node);
  across_.forget(node);
}

std::optional<Orders> Root::orders(std::int64_t now_ns) {
  Orders orders;
  const bool first = version_ == 0;
  if (places_changed_ || first) orders.node_of_rank = node_of_rank_;
  if (evaluation_.regions_version() != regions_told_) {
    const auto regions = evaluation_.region_of_rank();
    orders.region_of_rank.assign(regions.begin(), regions.end());
    density_.set_regions(regions);
  }
  if (criteria_told_ns_ == INT64_MIN || now_ns - criteria_told_ns_ >= options_.criteria_every_ns) {
    std::vector<Criterion> present = measured_.criteria.present();
    criteria_told_ns_ = now_ns;
    if (!same(present, told_criteria_)) orders.criteria = told_criteria_ = std::move(present);
  }
  orders.calls = calls_wanted_;
  if (!first && orders.node_of_rank.empty() && orders.region_of_rank.empty() && orders.criteria.empty() &&
      calls_wanted_ == told_calls_wanted_)
    return std::nullopt;
  told_calls_wanted_ = calls_wanted_;
  places_changed_ = false;
  regions_told_ = evaluation_.regions_version();
  orders.version = ++version_;
  orders.raw_bytes_per_s = options_.raw_bytes_per_s / static_cast<std::uint64_t>(std::max(nodes_, 1));
  return orders;
}

// The last a dead node told of its ranks may have been that they were at their end; what it had not sent is missing.
void Root::mark_missing(Snapshot& snapshot, bool silent_whole) const {
  for (RankSummary& rank : snapshot.ranks) {
    const auto r = static_cast<std::size_t>(rank.rank);
    const bool silent = silent_whole && measured_.application.node_of_rank[r] < 0;
    rank.mark_missing(std::min(silent ? INT64_MAX : read_until_[r], closed_through_));
  }
}

void Root::finish() { evaluation_.finish(); }

// What ranks were inside when their nodes looked: what came before is in the sums. Polling calls are sampled there.
std::vector<density::Pyramid::Running> Root::running() const {
  std::vector<density::Pyramid::Running> calls;
  for (const RankStatus& status : measured_.told) {
    if (status.function == 0 || status.finalized || blocked::call_kind(status.function) == blocked::CallKind::polling)
      continue;
    const std::int64_t now = std::max(measured_.newest_ns, status.end_ns + status.inside_ns);
    if (status.inside_ns > 0 && status.inside_ns <= now)
      calls.push_back({status.function, status.rank, now - status.inside_ns, now});
  }
  return calls;
}

std::vector<MpiCall> Root::running_calls(std::int64_t now_ns) const {
  std::vector<MpiCall> calls;
  for (const RankStatus& status : measured_.told) {
    if (status.function == 0 || status.finalized || blocked::call_kind(status.function) == blocked::CallKind::polling)
      continue;
    if (!status.wait.blocked && status.inside_ns < long_ago_ns) continue;
    MpiCall& call = calls.emplace_back();
    call.comm = status.comm;
    call.rank = status.rank;
    call.function = status.function;
    call.peer = status.peer >= 0 ? status.peer : MpiCall::nobody;
    call.end = now_ns;
    call.begin = status.wait.blocked ? status.wait.since_ns : now_ns - std::min(status.inside_ns, year_ns);
    call.site = status.site;
  }
  return calls;
}

void Root::fill(Snapshot& snapshot) const {
  snapshot.application.aggregators = nodes_;
  snapshot.call_density = shown_density_.of(density_, running(), snapshot.ended);
  std::map<std::uint16_t, FunctionActivity> sums;
  std::int64_t last = INT64_MIN;
  std::size_t length = 0;
  for (const auto& [key, f] : functions_) {
    last = std::max(last, f.last_window);
    length = std::max(length, f.history_share.size());
  }
  for (const auto& [key, f] : functions_) {
    FunctionActivity& sum = sums[f.function];
    sum.function = f.function;
    sum.calls += f.calls;
    sum.inside_s += f.inside_s;
    sum.ranks_inside += f.ranks_inside;
    sum.history_share.resize(length, 0);
    for (std::size_t i = 0; i < f.history_share.size(); ++i) {
      const std::int64_t back = last - f.last_window + static_cast<std::int64_t>(f.history_share.size() - 1 - i);
      if (back >= 0 && back < static_cast<std::int64_t>(length))
        sum.history_share[length - 1 - static_cast<std::size_t>(back)] += f.history_share[i];
    }
  }
  snapshot.functions.clear();
  for (auto& [function, sum] : sums) snapshot.functions.push_back(std::move(sum));
  std::sort(snapshot.functions.begin(), snapshot.functions.end(),
            [](const FunctionActivity& a, const FunctionActivity& b) { return a.inside_s > b.inside_s; });
  std::map<std::uint32_t, SiteTime> times;
  for (const auto& [node_site, time] : site_times_) {
    const std::uint32_t id = sites_.id_of(node_site);
    if (id == 0) continue;
    times[id].site = id;
    times[id].calls += time.calls;
    times[id].inside_s += time.inside_s;
  }
  std::vector<SiteTime> listed;
  for (const auto& [id, time] : times) listed.push_back(time);
  add_times(snapshot.site_activity, std::move(listed), snapshot.finished ? SiteSums::most_pairs : live_sites);
  snapshot.deadlocks.clear();
  for (const auto& [node, standing] : deadlocks_)
    snapshot.deadlocks.insert(snapshot.deadlocks.end(), standing.begin(), standing.end());
  snapshot.deadlocks.insert(snapshot.deadlocks.end(), across_standing_.begin(), across_standing_.end());
  snapshot.conditions.clear();
  for (const auto& [node, list] : conditions_) {
    for (const Condition& condition : list) add_condition(snapshot.conditions, condition, host_of(node));
  }
  std::stable_sort(snapshot.conditions.begin(), snapshot.conditions.end(),
                   [](const Condition& a, const Condition& b) { return a.cost_s > b.cost_s; });
  snapshot.found = {};
  for (const auto& [host, machine] : machines_) add_machine(snapshot.found, host, hosts(), machine);
  for (const auto& [rank, binding] : bindings_) snapshot.found.bindings.push_back(binding);
  snapshot.markers = Markers::merged(markers_);
  snapshot.network.traffic_bytes = traffic_bytes_;
  snapshot.network.messages_left_out = messages_left_out_;
  snapshot.network.collectives_left_out = collectives_left_out_;
  for (const std::int32_t node : dead_) {
    std::vector<std::int32_t>& told = snapshot.network.dead_nodes;
    const bool known = std::find(told.begin(), told.end(), host_of(node)) != told.end();
    if (node >= 0 && node < nodes_ && !known) told.push_back(host_of(node));
  }
  snapshot.network.corrections = corrections_;
  for (const auto& [node, clock] : clocks_)
    snapshot.network.clocks.push_back(
        {node, static_cast<double>(clock.at_ns) * 1e-9, clock.offset_ns * 1e-9, clock.drift, clock.error_ns * 1e-9});
  sites_.describe(snapshot);
}

}  // namespace pclscope::nodes
