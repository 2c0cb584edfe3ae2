#include "analysis/nodes/report_sums.hpp"

#include <algorithm>

namespace pclscope::nodes {

namespace {

constexpr std::size_t worst_of_report = 20;

// One bucket of the time, or transfer time, of messages of one size class.
std::uint64_t time_key(const Message& m, bool transfer, std::int64_t ns) {
  const std::uint64_t inter_node = (m.flags & message_flag::inter_node) != 0;
  return inter_node << 63 | std::uint64_t{transfer} << 62 | std::uint64_t{size_bins::bin_of(m.bytes)} << 32 |
         LogHistogram::bucket_for(ns);
}

TimeCount count_of(std::uint64_t key, std::uint64_t count) {
  return {(key >> 63) != 0, (key >> 62 & 1) != 0, static_cast<std::uint32_t>(key >> 32 & 0x3fffffff),
          static_cast<std::uint32_t>(key), count};
}

}  // namespace

void UnsentSums::count_time(const Message& m, std::int64_t time, std::int64_t transfer) {
  ++times_[time_key(m, false, time)];
  ++times_[time_key(m, true, transfer)];
}

WindowPart UnsentSums::close(const OpenWindows::Closed& closed, const Measured& measured,
                             std::span<const std::int32_t> region_of_rank) {
  WindowPart part;
  part.begin_ns = closed.begin_ns;
  part.regions = measured.pairs.region_sums(region_of_rank, part.all);
  for (const std::uint32_t i : measured.pairs.touched()) {
    const PairTable::Pair& pair = measured.pairs.pair(i);
    const std::uint32_t at = pairs_.touch(pair.source, pair.destination);
    pairs_.window_sums(at) += measured.pairs.window(i);
    measured.pairs.window_times(i, [&](bool inter_node, std::uint32_t bin, const PairTable::TimeSums& times) {
      pairs_.add_times(at, inter_node, bin, times);
    });
  }
  measured.worst.of_window([&](const Message& m, double ratio) { worst_.push_back({ratio, m}); });
  if (worst_.size() > 4 * worst_of_report) keep_worst();
  return part;
}

void UnsentSums::keep_worst() {
  std::sort(worst_.begin(), worst_.end(),
            [](const RatedMessage& a, const RatedMessage& b) { return a.ratio > b.ratio; });
  if (worst_.size() > worst_of_report) worst_.resize(worst_of_report);
}

void UnsentSums::take(Measured& measured, Report& report) {
  report.totals = measured.totals.since(told_);  // unmatched counts may shrink: sums of differences come out right
  told_ = measured.totals;
  report.newest_ns = measured.newest_ns;
  for (const std::uint32_t i : pairs_.touched()) {
    const auto [source, destination] = pairs_.pair(i);
    PairSums& pair = report.pairs.emplace_back(PairSums{source, destination, pairs_.window(i)});
    pair.sums.ratio = pair.sums.transfer_ratio = pair.sums.log_ratio = 0;
    pairs_.window_times(
        i, [&, s = source, d = destination](bool inter_node, std::uint32_t bin, const PairTable::TimeSums& times) {
          report.pair_times.push_back({s, d, inter_node, bin, times.timed, times.time, times.transfer, times.log});
        });
  }
  pairs_.clear_window();
  for (const auto& [key, count] : times_) report.times.push_back(count_of(key, count));
  times_.clear();
  measured.sites.each([&](std::uint32_t send, std::uint32_t recv, const SiteCosts& c) {
    report.sites.push_back(
        {send, recv, c.messages, c.bytes, c.delayed, c.late_sender_ns, c.late_receiver_ns, c.transfer_ns});
  });
  measured.sites = SiteSums();
  keep_worst();
  report.worst = std::move(worst_);
  worst_.clear();
}

bool add_report(Measured& measured, const Report& report) {
  measured.totals += report.totals;
  measured.newest_ns = std::max(measured.newest_ns, report.newest_ns);
  for (const TimeCount& t : report.times) {
    measured.criteria.add_counted(t.inter_node, t.transfer, t.bin, t.bucket, t.count);
    if (!t.transfer && t.count > 0) measured.times.add_to_bucket(t.bucket, t.count);
  }
  measured.criteria.refresh();
  for (const SitePairSums& p : report.sites) {
    SiteCosts costs;
    costs.messages = p.messages;
    costs.bytes = p.bytes;
    costs.delayed = p.delayed;
    costs.late_sender_ns = p.late_sender_ns;
    costs.late_receiver_ns = p.late_receiver_ns;
    costs.transfer_ns = p.transfer_ns;
    measured.sites.add_sums(p.send_site, p.recv_site, costs);
  }
  for (const RatedMessage& w : report.worst) measured.worst.add(w.message, w.ratio);
  measured.told.resize(static_cast<std::size_t>(measured.application.ranks));
  for (const RankStatus& status : report.ranks)
    if (measured.knows(status.rank)) measured.told[static_cast<std::size_t>(status.rank)] = status;
  for (const PairSums& p : report.pairs)
    if (measured.knows(p.source) && measured.knows(p.destination))
      measured.pairs.window_sums(measured.pairs.touch(p.source, p.destination)) += p.sums;
  for (const PairTimes& p : report.pair_times) {
    if (!measured.knows(p.source) || !measured.knows(p.destination) || p.bin >= size_bins::count) continue;
    const std::uint32_t pair = measured.pairs.touch(p.source, p.destination);
    if (measured.pairs.window(pair).messages > 0)
      measured.pairs.add_times(pair, p.inter_node, p.bin, {p.timed, p.time_ns, p.transfer_ns, p.log});
  }
  measured.pairs.judge_window(measured.inverse());
  measured.pairs.fold_window();
  return !report.pairs.empty();
}

}  // namespace pclscope::nodes
