#include "analysis/aggregator/many_nodes.hpp"

#include <algorithm>
#include <utility>

#include "analysis/collect/clock_refit.hpp"
#include "analysis/density/coarser.hpp"
#include "analysis/match/matcher.hpp"
#include "analysis/nodes/job_ticks.hpp"

namespace pclscope::aggregator {
namespace {

using record::EventKind;
using std::chrono::milliseconds;

// Counters, not times, stand in these.
bool has_times(EventKind kind) { return kind != EventKind::unrecorded_sends && kind != EventKind::unrecorded_receives; }

// Statuses of many nodes all end at the root: the more there are the rarer they come.
milliseconds status_every(int nodes) { return milliseconds(std::max(500, 2 * nodes)); }
constexpr std::ptrdiff_t sites_told = 64;  // while it runs: those with the most time
constexpr std::size_t most_corrections = 512;
constexpr std::size_t density_bytes = 32 << 10;  // of what is new; more only in the first seconds of a run
constexpr double good_error_ns = 50'000;
constexpr milliseconds patience_with_time{400};
std::size_t shares_told(int nodes) { return static_cast<std::size_t>(std::clamp(4'800 / nodes, 20, 600)); }

}  // namespace

nodes::NodeOptions ManyNodes::node_options(Application application, PipelineOptions options, bool everything) {
  nodes::NodeOptions o;
  o.application = std::move(application);
  o.analysis = std::move(options);
  o.analysis.name_sites = [this](std::span<Message> messages) { call_sites_.table().translate(messages); };
  o.everything = everything;
  o.report_every_ns = window_ns_;
  o.polled_ns = [this](std::int32_t rank) { return blocked_.polled_ns(rank); };
  o.site_of = [this](std::int32_t rank, std::uint64_t address, std::uint16_t function) {
    return call_sites_.site_of(rank, address, function);
  };
  return o;
}

ManyNodes::ManyNodes(nodes::Link& link, Application application, PipelineOptions options, bool everything,
                     collect::Collector& collector, const collect::TickClock& clock)
    : link_(link),
      collector_(collector),
      clock_(clock),
      time_(link.host_of(link.self()) == 0 ? collect::GlobalClock::Role::root : collect::GlobalClock::Role::other),
      here_(static_cast<std::size_t>(application.ranks), 0),
      window_ns_(options.window_ns),
      node_(link, node_options(std::move(application), std::move(options), everything)),
      blocked_(static_cast<std::int32_t>(here_.size()), window_ns_, node_.measurement().matcher(), collector, clock,
               call_sites_) {
  if (speaks_for_host()) machine_.emplace();
  if (link_.self() == 0) slurm_.emplace();
  blocked_.watch_for_others();
  cores_.set_inside([this](std::int32_t rank, std::uint64_t since, std::int64_t now_ns) {
    return node_.measured().inside_ns(rank) + (since == 0 ? 0 : now_ns - clock_.ticks_to_ns(since));
  });
}

// The first estimates of a clock are rough: rings can wait for better ones a little.
bool ManyNodes::ready() {
  listen();
  if (!time_.known() || node_.over()) return false;
  if (time_is_good_) return true;
  const Clock::time_point now = Clock::now();
  if (first_time_ == Clock::time_point{}) first_time_ = now;
  time_is_good_ = time_.error_ns(clock_.now_ns()) < good_error_ns || now - first_time_ > patience_with_time ||
                  collector_.fullest() > 0.5 || ended_;
  return time_is_good_;
}

void ManyNodes::listen() {
  nodes::LinkEvent event;
  while (!node_.over() && link_.next(event)) {
    if (event.kind == nodes::LinkEvent::Kind::clock) {
      if (!time_.apply(event.clock, std::max(clock_.now_ns(), event.clock.from_ns))) continue;
      if (!speaks_for_host()) continue;  // its other aggregators have the same clock
      node_.news().clocks.push_back({link_.self(), time_.to_global(event.clock.at_ns), event.clock.offset_ns,
                                     event.clock.drift, event.clock.error_ns});
    } else {
      ++heard_;
      node_.take(std::move(event));
    }
  }
}

void ManyNodes::found(collect::SegmentFile& segment) {
  blocked_.set_tick_scale(clock_.scale());
  if (node_name_.empty()) {
    node_name_ = segment.node();
    node_.news().names.push_back({link_.self(), node_name_, segment.mpi()});
  }
  if (segment.rank() >= 0 && static_cast<std::size_t>(segment.rank()) < here_.size())
    here_[static_cast<std::size_t>(segment.rank())] = 1;
  node_.rank_here(segment.rank(), segment.header().threads == record::Threads::many);
  call_sites_.table().add_process(segment.rank(), segment.header().pid, segment.executable());
  if (segment.thread() == 0) cores_.add(segment.rank(), segment.header(), segment.executable());
}

// Event::tag of a nonblocking collective, in ticks of the job's axis.
std::int32_t ManyNodes::completion_on_axis(std::int32_t tag) const {
  const double ticks = static_cast<double>(tag) * static_cast<double>(1u << record::completion_shift);
  return record::completion_length(static_cast<std::uint64_t>(ticks * clock_.scale().ns_per_tick));
}

void ManyNodes::take(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events) {
  blocked_.set_axis_shift(shift_ns());
  blocked_.add(rank, thread, events);
  converted_.assign(events.begin(), events.end());
  const auto to_job = [&](std::uint64_t ticks) {
    return nodes::job_ticks(time_.to_global(clock_.scale().to_ns(ticks)));
  };
  for (record::Event& e : converted_) {
    if (!has_times(e.kind)) continue;
    if (e.kind == record::EventKind::collective && e.tag > 0) e.tag = completion_on_axis(e.tag);
    e.begin = to_job(e.begin);
    e.end = to_job(e.end);
  }
  node_.add(rank, thread, converted_, link_.host_of(link_.self()) == 0 ? 0 : error_of(events));
}

std::int64_t ManyNodes::shift_ns() const {
  const std::int64_t now = clock_.now_ns();
  return time_.to_global(now) - now;
}

// The largest of the last second or two: what is paired now may have been read a little ago, when the clock was known
// less well.
std::uint32_t ManyNodes::error_of(std::span<const record::Event> events) {
  const Clock::time_point now = Clock::now();
  if (now - error_since_ > std::chrono::seconds(1)) {
    error_before_ = error_now_;
    error_now_ = 0;
    error_since_ = now;
  }
  for (const record::Event* e : {&events.front(), &events.back()})
    if (has_times(e->kind)) error_now_ = std::max(error_now_, time_.error_ns(clock_.scale().to_ns(e->end)) + 1);
  return static_cast<std::uint32_t>(std::clamp(std::max(error_now_, error_before_), 0.0, 4e9));
}

void ManyNodes::set_dropped(std::int32_t rank, std::uint64_t total) {
  if (total > 0) node_.measurement().set_dropped(rank, total);
}

void ManyNodes::rings_read(std::int64_t began_ns, bool all_found) {
  const Clock::time_point now = Clock::now();
  cores_.sample(clock_.now_ns(), nullptr);
  if (std::exchange(regions_told_, node_.regions_version()) != regions_told_)
    blocked_.set_regions(node_.region_of_rank());
  blocked_.set_axis_shift(shift_ns());
  const std::int64_t read_ns = node_.closed_until_ns();
  if (blocked_.round(now)) looked_read_ns_ = read_ns;
  if (node_.root()) say_deadlocks();
  if (!node_.epoch_open() || now < next_epoch_ || !(all_found || ended_)) return;
  next_epoch_ = now + std::chrono::nanoseconds(std::clamp<std::int64_t>(window_ns_ / 5, 2'000'000, 50'000'000));
  tell_sites();
  if (now >= next_status_ || ended_) {
    tell_status();
    next_status_ = now + status_every(link_.nodes());
  }
  node_.end_epoch(time_.to_global(began_ns), !ended_);
  if (ended_) next_epoch_ = now;
}

std::chrono::nanoseconds ManyNodes::until_due() const {
  if (!time_is_good_) return milliseconds(1);
  if (!node_.epoch_open()) return std::chrono::nanoseconds::max();
  return std::max<std::chrono::nanoseconds>(next_epoch_ - Clock::now(), std::chrono::nanoseconds(0));
}

// Those across nodes. A node tells its own.
void ManyNodes::say_deadlocks() {
  for (const Deadlock& deadlock : node_.root()->deadlock_news()) {
    Snapshot shown;
    shown.deadlocks.push_back(deadlock);
    node_.root()->sites().describe(shown);
    blocked_.say(deadlock, shown.sites);
  }
}

nodes::NodeSite ManyNodes::told(CallSite site) const {
  const std::uint32_t id = nodes::site_of_node(link_.self(), site.id);
  site.caller = nodes::site_of_node(link_.self(), site.caller);
  return {id, std::move(site)};
}

// What is new; names and lines are looked for in the background.
void ManyNodes::tell_sites() {
  const std::uint32_t known = call_sites_.table().size();
  if (sites_asked_ < known) {
    Snapshot asked;
    while (sites_asked_ < known) asked.site_activity.emplace_back().site = ++sites_asked_;
    call_sites_.describe(asked);
  }
  for (CallSite& site : call_sites_.news()) node_.news().new_sites.push_back(told(std::move(site)));
}

void ManyNodes::tell_status() {
  Snapshot now;
  now.ranks.resize(here_.size());
  blocked_.fill(now, cores_);
  const auto wide = [&](std::uint32_t site) { return nodes::site_of_node(link_.self(), site); };
  nodes::Report& news = node_.news();
  const std::vector<collect::RankRecord> records = collect::rank_records(collector_, here_.size(), ended_);
  for (std::size_t r = 0; r < here_.size(); ++r) {
    if (!here_[r]) continue;
    const RankSummary& inside = now.ranks[r];
    nodes::RankStatus status = node_.measured().status_of(static_cast<std::int32_t>(r));
    status.finalized |= inside.finished;
    status.function = inside.call_function;
    status.peer = inside.call_peer;
    status.tag = inside.call_tag;
    status.comm = inside.call_comm;
    status.site = wide(inside.call_site);
    status.inside_ns = static_cast<std::int64_t>(inside.call_for_s * 1e9);
    status.waits_for = inside.waits_for;
    status.waits_for_any = inside.waits_for_any;
    if (r < blocked_.waits().size() && blocked_.waits()[r].blocked) {
      status.wait = blocked_.waits()[r];
      status.wait.node = link_.self();
      status.wait.since_ns = time_.to_global(status.wait.since_ns);
      status.wait.looked_ns = time_.to_global(status.wait.looked_ns);
      status.wait.read_ns = looked_read_ns_;
    }
    status.cores = cores_.times(static_cast<std::int32_t>(r));
    if (status.cores.observed_ns > 0) status.cores_until_ns = time_.to_global(cores_.until_ns());
    status.read_until_ns = read_until_ns(records[r]);
    news.ranks.push_back(std::move(status));
    if (auto binding = cores_.binding_news(static_cast<std::int32_t>(r))) news.bindings.push_back(std::move(*binding));
  }
  density::add(news.density, blocked_.take_density());
  density::fit(news.density, density_bytes);
  const std::int64_t last_window = time_.to_global(clock_.now_ns()) / window_ns_;
  for (FunctionActivity& f : now.functions) {
    const std::size_t keep = std::min(f.history_share.size(), shares_told(link_.nodes()));
    news.functions.push_back({link_.self(),
                              f.function,
                              f.calls,
                              f.inside_s,
                              f.ranks_inside,
                              {f.history_share.end() - static_cast<std::ptrdiff_t>(keep), f.history_share.end()},
                              last_window});
  }
  std::vector<SiteTime> times = blocked_.site_times();
  if (!ended_ && times.size() > static_cast<std::size_t>(sites_told)) {
    std::nth_element(times.begin(), times.begin() + sites_told, times.end(),
                     [](const SiteTime& a, const SiteTime& b) { return a.inside_s > b.inside_s; });
    times.resize(sites_told);
  }
  for (const SiteTime& t : times) news.site_times.push_back({wide(t.site), t.calls, t.inside_s});
  const double shift = static_cast<double>(shift_ns()) * 1e-9;
  nodes::NodeConditions conditions{link_.self(), cores_.conditions()};
  for (Condition& c : conditions.list) {
    c.begin_s += shift;
    c.end_s += shift;
  }
  news.conditions.push_back(std::move(conditions));
  if (machine_) {
    if (const Machine* machine = machine_->machine(ended_ ? machine::Reading::last_patience : milliseconds(0))) {
      news.machines.push_back({link_.self(), *machine});
      machine_.reset();
    }
  }
  const Measured& measured = node_.measured();
  if (nodes::NodeMarkers markers{link_.self(), measured.activity.markers(measured.scale)}; !markers.list.empty())
    news.markers.push_back(std::move(markers));
  for (Deadlock& d : now.deadlocks) {
    d.since_s += shift;
    d.found_s += shift;
    for (DeadlockMember& member : d.members) {
      member.site = wide(member.site);
      member.since_s += shift;
    }
  }
  news.deadlocks.push_back({link_.self(), std::move(now.deadlocks)});
}

// What is read is in this node's part of the results when its window is closed.
std::int64_t ManyNodes::read_until_ns(const collect::RankRecord& record) const {
  std::int64_t until_ns = 0;
  if (record.whole) until_ns = INT64_MAX;
  else if (record.until_ticks != 0) until_ns = time_.to_global(clock_.scale().to_ns(record.until_ticks));
  return std::min(until_ns, node_.closed_until_ns());
}

void ManyNodes::mark_missing(Snapshot& snapshot, bool over) {
  if (node_.root()) node_.root()->mark_missing(snapshot, over && collector_.in_session());
}

void ManyNodes::end(bool in_order) {
  if (ended_) return;
  ended_ = true;
  in_order_ = in_order;
  blocked_.end_polls();
  cores_.finish(clock_.now_ns(), nullptr);
  call_sites_.resolve_all(milliseconds(300));  // the application waits for us in MPI_Finalize
  if (!speaks_for_host()) return;
  const collect::RefittedClock refitted = collect::refit(time_.records(), most_corrections);
  for (const collect::ClockCorrection& c : collect::corrections(refitted, time_, most_corrections))
    node_.news().corrections.push_back({link_.self(), time_.to_global(c.at_ns), c.correction_ns, c.error_ns});
}

void ManyNodes::finish() {
  blocked_.finish(in_order_);
  if (nodes::Root* root = node_.root()) root->finish();
}

const Matcher& ManyNodes::matcher() const { return node_.measurement().matcher(); }

void ManyNodes::fill(Snapshot& snapshot) {
  if (!node_.root()) return;
  node_.root()->fill(snapshot);
  if (slurm_) snapshot.found.slurm_topology = slurm_->text(snapshot.ended ? slurm_->last_patience : milliseconds(0));
}

DensityPart ManyNodes::density(const DensityQuestion& question) {
  return node_.root() ? node_.root()->density(question) : DensityPart();
}

CallsPart ManyNodes::calls(const CallsQuestion& question) {
  std::vector<MpiCall> running = blocked_.running_calls();
  call_sites_.table().translate(running);
  for (MpiCall& call : running) {
    call.begin = time_.to_global(call.begin);
    call.end = time_.to_global(call.end);
  }
  return node_.calls(question, std::move(running), time_.to_global(clock_.now_ns()));
}

std::vector<CallSite> ManyNodes::site_news() {
  return node_.root() ? node_.root()->sites().news() : std::vector<CallSite>();
}

// The other nodes looked for theirs themselves, as long as there was time.
void ManyNodes::resolve_sites(std::chrono::milliseconds limit) {
  call_sites_.resolve_all(limit);
  if (!node_.root()) return;
  for (CallSite& site : call_sites_.news()) node_.root()->sites().add(told(std::move(site)));
}

}  // namespace pclscope::aggregator
