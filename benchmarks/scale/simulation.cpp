#include "benchmarks/scale/simulation.hpp"

#include <algorithm>
#include <chrono>

#include "analysis/match/matcher.hpp"
#include "analysis/values/site_key.hpp"

namespace pclscope::benchmark {

using nodes::LinkEvent;

namespace {

// Delays have their share of wall time (20 % in the aggregator) whatever the size of the job, and the time here is not
// the job's: they are left out.
constexpr double delay_share = 0;
constexpr std::int64_t root_memory = std::int64_t{16}
                                     << 20;  // for messages: the aggregator has 256 MiB, and fills them

nodes::NodeOptions node_options(std::int32_t ranks) {
  nodes::NodeOptions o;
  o.application.ranks = ranks;
  o.analysis.window_ns = window_ns;
  o.analysis.delay_share = delay_share;
  o.analysis.memory_bytes = static_cast<std::size_t>(root_memory);
  o.report_every_ns = window_ns;
  o.site_of = [](std::int32_t, std::uint64_t address, std::uint16_t) { return static_cast<std::uint32_t>(address); };
  o.analysis.name_sites = [](std::span<Message> messages) {
    for (Message& m : messages) {
      m.send_site = site_address(m.send_site);
      m.recv_site = site_address(m.recv_site);
    }
  };
  return o;
}

Work work_of(const LinkEvent& event) {
  if (event.kind != LinkEvent::Kind::message) return Work::epoch_over;
  switch (nodes::kind_of(event.bytes).value_or(nodes::FrameKind::sends)) {
    case nodes::FrameKind::sends: return Work::sends;
    case nodes::FrameKind::report: return Work::report;
    case nodes::FrameKind::calls:
    case nodes::FrameKind::raw: return Work::raw;
    case nodes::FrameKind::orders: return Work::orders;
  }
  return Work::epoch_over;
}

// The other nodes' work in between grows with the job, and takes the caches with it. So they are cold in any size: as
// beside an application.
void forget_caches() {
  static std::vector<std::uint64_t> other(std::size_t{16} << 17, 1);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < other.size(); i += 8) sum += other[i] += sum & 1;
}

}  // namespace

template <class Do>
void Simulation::measured(Real& real, Work work, const Do& what) {
  const Owner owner(real.owner);
  const double start = cpu_s();
  what();
  real.seconds[static_cast<std::size_t>(work)] += cpu_s() - start;
}

Simulation::Simulation(const Setting& setting)
    : setting_(setting),
      layout_{setting.nodes, setting.ranks_per_node},
      program_(setting.pattern, setting.nodes * setting.ranks_per_node),
      links_(setting.nodes),
      status_every_(std::max(500, 2 * setting.nodes) / 100),
      region_of_rank_(static_cast<std::size_t>(program_.ranks()), -1) {
  std::vector<char> whole(static_cast<std::size_t>(setting.nodes), setting.whole);
  std::vector<int> path{0};
  while (path.back() * nodes::arity + 1 < setting.nodes) path.push_back(path.back() * nodes::arity + 1);
  for (const int node : path) whole[static_cast<std::size_t>(node)] = 1;
  node_of_part_ = {0, path.size() > 2 ? path[1] : 0, path.back()};
  real_.reserve(whole.size());
  for (int node = setting.nodes - 1; node >= 0; --node)
    if (whole[static_cast<std::size_t>(node)]) make(node);
  const nodes::RootOptions root;
  for (int node = 0; node < setting.nodes; ++node)
    if (!whole[static_cast<std::size_t>(node)])
      stubs_.push_back(std::make_unique<Stub>(links_.at(node), program_, layout_, whole,
                                              root.raw_bytes_per_s / static_cast<std::uint64_t>(setting.nodes)));
}

void Simulation::make(int node) {
  Real& real = real_.emplace_back();
  real.node = node;
  for (std::size_t part = 0; part < parts; ++part)
    if (node_of_part_[part] == node) real.owner = static_cast<int>(part) + 1;
  const Owner owner(real.owner);
  real.link = std::make_unique<MeteredLink>(links_.at(node));
  real.link->keep_reports = node == node_of_part_[2] && !setting_.whole;
  real.aggregator = std::make_unique<nodes::Node>(*real.link, node_options(program_.ranks()));
  for (std::int32_t i = 0; i < layout_.ranks_per_node; ++i)
    real.aggregator->rank_here(layout_.first_rank(node) + i, false);
  real.aggregator->news().names.push_back({node, "node" + std::to_string(node), "MPI"});
  real.aggregator->news().new_sites = sites_of(node);
}

Simulation::Real* Simulation::real(Part part) {
  const int node = node_of_part_[static_cast<std::size_t>(part)];
  for (Real& r : real_)
    if (r.node == node) return &r;
  return nullptr;
}

void Simulation::listen(Real& real) {
  if (real.owner != 0) forget_caches();
  LinkEvent event;
  while (!real.aggregator->over() && real.link->next(event)) {
    const Work work = work_of(event);
    measured(real, work, [&] { real.aggregator->take(std::move(event)); });
  }
}

void Simulation::tell_status(Real& real) {
  nodes::Report& news = real.aggregator->news();
  const std::int32_t first = layout_.first_rank(real.node);
  for (std::int32_t rank = first; rank < first + layout_.ranks_per_node; ++rank)
    news.ranks.push_back(real.aggregator->measured().status_of(rank));
  const auto shares = static_cast<std::size_t>(std::clamp(4'800 / setting_.nodes, 20, 600));
  for (std::uint16_t function = 1; function <= 4; ++function)
    news.functions.push_back({real.node, function, 1000, 0.1, 1, std::vector<float>(shares, 0.25f),
                              static_cast<std::int64_t>(clock_) / epochs_of_window});
}

void Simulation::end_epoch(Real& real, int epoch, bool running) {
  if (real.aggregator->over()) return;
  if (real.owner != 0) forget_caches();
  std::vector<record::Event> events;
  for (std::int32_t i = 0; i < layout_.ranks_per_node && running; ++i) {
    const std::int32_t rank = layout_.first_rank(real.node) + i;
    events.clear();
    program_.events(rank, epoch, events);
    measured(real, Work::events, [&] { real.aggregator->add(rank, 0, events, real.node == 0 ? 0 : 500); });
  }
  measured(real, Work::events, [&] { real.aggregator->pair(); });
  if (running && epoch % epochs_of_window == 0 && epoch / epochs_of_window % status_every_ == status_every_ - 1) {
    measured(real, Work::status, [&] { tell_status(real); });
    real.told_status = true;
  }
  measured(real, Work::end_epoch, [&] { real.aggregator->end_epoch((epoch + 1) * epoch_ns, running); });
}

void Simulation::epoch(int number, bool running) {
  clock_ = static_cast<std::uint64_t>(number);
  for (Real& r : real_) listen(r);
  for (const auto& stub : stubs_) stub->listen();
  for (Real& r : real_) end_epoch(r, number, running);
  if (stubs_.empty()) return;
  Real& leaf = *real(Part::leaf);
  const auto regions = real(Part::root)->aggregator->root()->evaluation().region_of_rank();
  std::copy(regions.begin(), regions.end(), region_of_rank_.begin());
  for (const auto& stub : stubs_) stub->end_epoch(number, running, leaf.link->reports, leaf.node, region_of_rank_);
  leaf.link->reports.clear();
}

bool Simulation::all_over() const {
  return std::all_of(real_.begin(), real_.end(), [](const Real& r) { return r.aggregator->over(); });
}

void Simulation::note_window(Outcome& out) {
  const std::uint64_t version = real(Part::root)->aggregator->root()->evaluation().regions_version();
  for (std::size_t part = 0; part < parts; ++part) {
    Real& r = *real(static_cast<Part>(part));
    r.link->cost.seconds = r.seconds;
    const auto orders = static_cast<std::size_t>(nodes::FrameKind::orders);
    const bool rare = r.told_status || version != regions_version_ || r.link->cost.received.frames[orders] > 0 ||
                      (r.node == 0 && r.link->cost.sent.frames[orders] > 0);
    out.of[part].windows.push_back(r.link->cost);
    out.of[part].rare.push_back(rare);
    out.of[part].status_s = std::max(out.of[part].status_s, r.seconds[static_cast<std::size_t>(Work::status)]);
  }
  for (Real& r : real_) {
    r.link->cost = Cost{};
    r.seconds = {};
    r.told_status = false;
  }
  regions_version_ = version;
}

void Simulation::check(Outcome& out) {
  nodes::Root& root = *real(Part::root)->aggregator->root();
  const double start = cpu_s();
  Snapshot full = root.evaluation().snapshot();
  root.fill(full);
  out.snapshot_ms = (cpu_s() - start) * 1e3;
  const Snapshot& s = full;
  const MessageTotals& m = s.messages;
  out.expected = program_.messages_of_window() * static_cast<std::uint64_t>(setting_.windows);
  out.matched = m.matched;
  out.regions = s.regions.size();
  std::uint64_t sent = 0;
  for (const RankSummary& r : s.ranks) sent += r.sends;
  out.left_out = full.network.messages_left_out;
  out.collectives = s.collectives.calls;
  std::uint64_t shown = 0;
  for (Real& r : real_) {
    const MatchCounts c = r.aggregator->measurement().matcher().counts();
    if (c.matched * static_cast<std::uint64_t>(setting_.nodes) != out.expected) out.wrong += " matched-on-node";
    shown += c.unmatched_sends + c.unmatched_receives + c.ambiguous;
  }
  if (shown != 0) out.wrong += " unmatched";
  if (out.matched != out.expected) out.wrong += " matched";
  if (sent != out.expected) out.wrong += " pairs";
  if (m.ambiguous + m.unmatched_sends + m.unmatched_receives + m.clock_violations != 0)
    out.wrong += " totals (ambiguous " + std::to_string(m.ambiguous) + ", unmatched " +
                 std::to_string(m.unmatched_sends) + " + " + std::to_string(m.unmatched_receives) + ", clocks " +
                 std::to_string(m.clock_violations) + ")";
  const std::uint64_t calls =
      static_cast<std::uint64_t>(program_.ranks()) * static_cast<std::uint64_t>(setting_.windows);
  if (out.collectives + full.network.collectives_left_out > calls) out.wrong += " collectives";
  if (!all_over()) out.wrong += " not-over";
  out.right = out.wrong.empty();
}

Outcome Simulation::run() {
  Outcome out;
  const auto start = std::chrono::steady_clock::now();
  int number = 0;
  for (; number < setting_.windows * epochs_of_window; ++number) {
    epoch(number, true);
    if ((number + 1) % epochs_of_window == 0) note_window(out);
  }
  for (std::size_t part = 0; part < parts; ++part)
    out.of[part].memory = live_bytes(real(static_cast<Part>(part))->owner);
  for (int i = 0; i < 60 && !all_over(); ++i) epoch(number++, false);
  for (std::size_t part = 0; part < parts; ++part)
    for (const double s : real(static_cast<Part>(part))->seconds) out.of[part].finish_s += s;
  {
    const Owner owner(1);
    real(Part::root)->aggregator->root()->finish();
  }
  check(out);
  out.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace pclscope::benchmark
