// A job on several nodes: what a node's pipeline hands up (role `node`), and what the root's makes of it (role `job`).
#include <algorithm>

#include "analysis/pipeline/pipeline_state.hpp"

namespace pclscope {

namespace {

constexpr std::size_t worst_of_report = 20;

std::uint64_t time_key(const Message& m, bool transfer, std::int64_t ns) {
  const std::uint64_t inter_node = (m.flags & message_flag::inter_node) != 0;
  return inter_node << 63 | std::uint64_t{transfer} << 62 | std::uint64_t{size_bins::bin_of(m.bytes)} << 32 |
         LogHistogram::bucket_for(ns);
}

}  // namespace

// --- role `node` ---

// As measured: for the root's criteria.
void Pipeline::State::count_time(const Message& m, std::int64_t time, std::int64_t transfer) {
  ++unsent.times[time_key(m, false, time)];
  ++unsent.times[time_key(m, true, transfer)];
}

void Pipeline::State::hand_on(OpenWindows::Closed& closed) {
  nodes::WindowPart part;
  part.begin_ns = closed.begin_ns;
  part.regions = pairs.region_sums(region_of_rank, part.all);
  for (const std::uint32_t i : pairs.touched()) {
    const LatencySums& sums = pairs.window(i);
    const PairTable::Pair& pair = pairs.pair(i);
    unsent.pairs.window_sums(pair.source, pair.destination) += sums;
  }
  pairs.clear_window();
  worst.of_window([&](const Message& m, double ratio) { unsent.worst.push_back({ratio, m}); });
  worst.close_window(closed.begin_ns + windows.length_ns());
  if (unsent.worst.size() > 4 * worst_of_report) keep_worst();
  if (options.on_part && !closed.messages.empty()) options.on_part(std::move(part), closed.messages);
}

void Pipeline::State::keep_worst() {
  std::sort(unsent.worst.begin(), unsent.worst.end(),
            [](const nodes::RatedMessage& a, const nodes::RatedMessage& b) { return a.ratio > b.ratio; });
  if (unsent.worst.size() > worst_of_report) unsent.worst.resize(worst_of_report);
}

void Pipeline::epoch_over(std::int64_t until_ns) {
  if (state_->finished) return;
  state_->matcher.epoch_over();
  state_->close_windows(until_ns);
  state_->refresh_totals();
}

void Pipeline::take_report(nodes::Report& report) {
  State& s = *state_;
  s.refresh_totals();
  report.totals = s.totals.since(s.unsent.told);  // unmatched counts may shrink: sums of differences come out right
  s.unsent.told = s.totals;
  report.newest_ns = s.newest_ns;
  for (const std::uint32_t i : s.unsent.pairs.touched()) {
    const PairTable::Pair& pair = s.unsent.pairs.pair(i);
    report.pairs.push_back({pair.source, pair.destination, s.unsent.pairs.window(i)});
  }
  s.unsent.pairs.clear_window();
  for (const auto& [key, count] : s.unsent.times)
    report.times.push_back({(key >> 63) != 0, (key >> 62 & 1) != 0, static_cast<std::uint32_t>(key >> 32 & 0x3fffffff),
                            static_cast<std::uint32_t>(key), count});
  s.unsent.times.clear();
  s.sites.each([&](std::uint32_t send, std::uint32_t recv, const SiteCosts& c) {
    report.sites.push_back(
        {send, recv, c.messages, c.bytes, c.delayed, c.late_sender_ns, c.late_receiver_ns, c.excess_ns});
  });
  s.sites = SiteSums();
  s.keep_worst();
  report.worst = std::move(s.unsent.worst);
  s.unsent.worst.clear();
}

void Pipeline::set_criteria(const std::vector<Criterion>& criteria) { state_->criteria.load(criteria); }

void Pipeline::set_regions(std::vector<std::int32_t> region_of_rank) {
  region_of_rank.resize(state_->ranks.size(), -1);
  state_->region_of_rank = std::move(region_of_rank);
}

Matcher& Pipeline::matcher() { return state_->matcher; }

// --- role `job` ---

void Pipeline::add_report(const nodes::Report& report) {
  State& s = *state_;
  s.totals += report.totals;
  s.newest_ns = std::max(s.newest_ns, report.newest_ns);
  s.collectives_left_out += report.collectives_left_out;
  for (const nodes::PairSums& p : report.pairs)
    if (s.knows(p.source) && s.knows(p.destination)) s.pairs.window_sums(p.source, p.destination) += p.sums;
  if (!report.pairs.empty()) {
    const bool changed = s.regions_changed;  // not told yet
    s.fold_pairs();
    s.regions_changed |= changed;
    s.pairs.clear_window();
  }
  for (const nodes::TimeCount& t : report.times) {
    s.criteria.add_counted(t.inter_node, t.transfer, t.bin, t.bucket, t.count);
    if (!t.transfer && t.count > 0) s.times.add_to_bucket(t.bucket, t.count);
  }
  s.criteria.refresh();
  for (const nodes::SitePairSums& p : report.sites) {
    SiteCosts costs;
    costs.messages = p.messages;
    costs.bytes = p.bytes;
    costs.delayed = p.delayed;
    costs.late_sender_ns = p.late_sender_ns;
    costs.late_receiver_ns = p.late_receiver_ns;
    costs.excess_ns = p.excess_ns;
    s.sites.add_sums(p.send_site, p.recv_site, costs);
  }
  for (const nodes::RatedMessage& w : report.worst) s.worst.add(w.message, w.ratio);
  s.statuses.resize(s.ranks.size());
  for (const nodes::RankStatus& status : report.ranks)
    if (s.knows(status.rank)) s.statuses[static_cast<std::size_t>(status.rank)] = status;
}

void Pipeline::close_part(const nodes::WindowPart& part, std::span<const Message> messages, bool all_there) {
  State& s = *state_;
  const std::int64_t length = s.windows.length_ns();
  s.worst.close_window(part.begin_ns + length);
  State::ClosedWindow window{part.begin_ns, 0, part.all, part.regions, messages, all_there};
  if (s.last_part_ns != INT64_MIN)
    window.skipped = std::max<std::int64_t>((part.begin_ns - s.last_part_ns) / length - 1, 0);
  s.last_part_ns = std::max(s.last_part_ns, part.begin_ns);
  s.finish_window(window);
  s.regions_changed = false;  // told
}

void Pipeline::add_collective(std::int32_t rank, const record::Event& event) {
  if (state_->knows(rank)) state_->collectives.add(rank, event);
}

std::span<const std::int32_t> Pipeline::region_of_rank() const { return state_->regions.id_of_rank(); }
std::uint64_t Pipeline::regions_version() const { return state_->regions_version; }
std::vector<Criterion> Pipeline::present_criteria() const { return state_->criteria.present(); }

void Pipeline::set_nodes(std::vector<std::string> names) { state_->application.nodes = std::move(names); }

void Pipeline::set_place(std::int32_t rank, std::int32_t node) {
  if (!state_->knows(rank)) return;
  state_->application.node_of_rank[static_cast<std::size_t>(rank)] = node;
  state_->matcher.set_node(rank, node);
}

}  // namespace pclscope
