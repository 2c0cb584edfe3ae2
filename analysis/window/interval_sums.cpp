#include "analysis/window/interval_sums.hpp"

#include <algorithm>

namespace pclscope {

LatencySums difference(const LatencySums& later, const LatencySums& earlier) {
  LatencySums d = later;
  d.messages -= earlier.messages;
  d.timed -= earlier.timed;
  d.bytes -= earlier.bytes;
  d.delayed -= earlier.delayed;
  d.ratio -= earlier.ratio;
  d.transfer_ratio -= earlier.transfer_ratio;
  d.log_ratio -= earlier.log_ratio;
  d.transfer_time_ns -= earlier.transfer_time_ns;
  d.blocked -= earlier.blocked;
  return d;
}

namespace {

PairTable::TimeSums minus(const PairTable::TimeSums& times) {
  return {0 - times.timed, -times.time, -times.transfer, -times.log};  // unsigned: sums are right modulo 2^64
}

}  // namespace

void IntervalSums::add_times(bool inter_node, std::uint32_t bin, const PairTable::TimeSums& times) {
  for (SizeTimes& known : times_)
    if (known.bin == bin && known.inter_node == inter_node) {
      known.times += times;
      return;
    }
  times_.push_back({bin, inter_node, times});
}

IntervalSums& IntervalSums::operator+=(const IntervalSums& more) {
  sums += more.sums;
  for (const SizeTimes& t : more.times_) add_times(t.inter_node, t.bin, t.times);
  return *this;
}

RatioSums IntervalSums::ratios(const Judge& judge) const {
  RatioSums all;
  for (const SizeTimes& t : times_)
    if (t.times.timed > 0) all += judge(t.inter_node, t.bin, t.times);
  return all;
}

void RecentWindows::add(std::int64_t begin_ns, const PairTable& pairs) {
  Kept window;
  window.begin_ns = begin_ns;
  window.entries.reserve(pairs.touched().size());
  for (const std::uint32_t pair : pairs.touched()) {
    Entry& entry = window.entries.emplace_back();
    entry.pair = pair;
    entry.sums = pairs.window(pair);
    pairs.window_times(pair, [&](bool inter_node, std::uint32_t bin, const PairTable::TimeSums& times) {
      window.times.push_back({bin, inter_node, times});
      ++entry.times;
    });
  }
  bytes_ += window.bytes();
  windows_.push_back(std::move(window));
  while (bytes_ > most_bytes && !windows_.empty()) {
    bytes_ -= windows_.front().bytes();
    windows_.pop_front();
  }
}

void RecentWindows::forget_before(std::int64_t begin_ns) {
  while (!windows_.empty() && windows_.front().begin_ns < begin_ns) {
    bytes_ -= windows_.front().bytes();
    windows_.pop_front();
  }
}

PairBaseline::PairBaseline(const PairTable& pairs, const RecentWindows& recent, std::int64_t begin_ns) {
  sums_.resize(pairs.size());
  std::vector<LatencySums> newest(pairs.size());
  std::vector<std::vector<SizeTimes>> times_of(pairs.size());
  recent.each_since(begin_ns, [&](std::uint32_t pair, const LatencySums& sums, std::span<const SizeTimes> times) {
    newest[pair] += sums;
    times_of[pair].insert(times_of[pair].end(), times.begin(), times.end());
  });
  first_.reserve(pairs.size() + 1);
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    first_.push_back(times_.size());
    sums_[pair] = difference(pairs.total(pair), newest[pair]);
    pairs.total_times(pair, [&](bool inter_node, std::uint32_t bin, const PairTable::TimeSums& total) {
      SizeTimes before{bin, inter_node, total};
      for (const SizeTimes& t : times_of[pair])
        if (t.bin == bin && t.inter_node == inter_node) before.times += minus(t.times);
      if (before.times.timed > 0) times_.push_back(before);
    });
  }
  first_.push_back(times_.size());
}

}  // namespace pclscope
