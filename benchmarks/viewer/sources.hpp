// Runs that nobody made: a job that publishes, and a dump of an exchange.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/viewer/fake_run.hpp"
#include "viewer/session/session.hpp"

namespace pclscope::benchmark {

struct Size {
  std::int32_t ranks, regions;
};

class Fake : public session::Session {
 public:
  bool complete() const override { return false; }
  Status messages(const session::TimeSpan&, const std::function<bool(std::span<const Message>)>&) override {
    return {};
  }
  std::uint64_t message_count() const override { return 0; }
  std::uint64_t messages_not_stored() const override { return 0; }
  std::uint64_t collectives_not_stored() const override { return 0; }
  Result<std::vector<Window>> windows() override { return std::vector<Window>(); }
  Status collectives(const session::TimeSpan&, const std::function<bool(std::span<const CollectiveCall>)>&) override {
    return {};
  }
  Result<Dag> dag(const DagQuestion&) override { return Dag{}; }
  Result<std::vector<PairTraffic>> traffic() override { return std::vector<PairTraffic>(); }
};

// What is usual for 24 sizes, inside nodes and between them.
inline std::vector<Criterion> fake_criteria() {
  std::vector<Criterion> made;
  for (const bool between : {false, true})
    for (unsigned power = 0; power < 24; ++power) {
      Criterion c;
      c.inter_node = between;
      c.bytes_low = std::uint64_t{1} << power;
      c.bytes_high = c.bytes_low * 2;
      c.count = 1000 * (24 - power);
      c.criterion_s = c.median_s = (between ? 2e-6 : 5e-7) + static_cast<double>(c.bytes_low) / (between ? 1e9 : 8e9);
      c.transfer_criterion_s = c.transfer_median_s = 0.8 * c.median_s;
      made.push_back(c);
    }
  return made;
}

// A job that publishes every 100 ms; its regions' histories go on, and each graph is another one.
class FakeLive final : public Fake {
 public:
  using Clock = std::chrono::steady_clock;
  explicit FakeLive(Size size)
      : size_(size),
        snapshot_(test::fake_snapshot({.ranks = size.ranks, .regions = size.regions, .slow = 2, .windows = 120})) {
    snapshot_.criteria = fake_criteria();
  }
  Result<std::optional<Snapshot>> newer(std::chrono::milliseconds timeout) override {
    if (Clock::now() < due_) {
      std::this_thread::sleep_for(std::min<Clock::duration>(timeout, due_ - Clock::now()));
      if (Clock::now() < due_) return std::optional<Snapshot>();
    }
    due_ = Clock::now() + std::chrono::milliseconds(100);
    ++snapshot_.live.sequence;
    snapshot_.duration_s += 0.1;
    snapshot_.live.window_end_realtime_ns += 100'000'000;
    for (Region& region : snapshot_.regions) {
      std::rotate(region.history_ratio.begin(), region.history_ratio.begin() + 1, region.history_ratio.end());
      for (Period& period : region.periods) {
        if (period.open) period.end_s = snapshot_.duration_s;
      }
    }
    return std::optional<Snapshot>(snapshot_);
  }
  // 63,406 pairs, or four of each rank where there are more ranks; more each time.
  Result<std::vector<PairTraffic>> traffic() override {
    const std::int32_t each = std::max(4, 63'406 / size_.ranks);
    std::vector<PairTraffic> pairs;
    ++asked_;
    for (std::int32_t r = 0; r < size_.ranks; ++r)
      for (std::int32_t k = 1; k <= each; ++k) {
        const std::int32_t to = (r + k * k * 7 + k) % size_.ranks;
        const auto count = static_cast<std::uint64_t>(1 + (r * 31 + k * 17) % 97) * asked_;
        if (to != r) pairs.push_back({r, to, count, count * 1000});
      }
    return pairs;
  }
  session::Phase phase() override { return session::Phase::running; }
  bool live() const override { return true; }
  Result<Dag> dag(const DagQuestion& question) override {
    Dag dag = test::fake_dag(std::min(size_.ranks / size_.regions, 128), 40, ++graphs_);
    dag.region = question.region;
    return dag;
  }

 private:
  Size size_;
  Snapshot snapshot_;
  std::uint64_t graphs_ = 0, asked_ = 0;
  Clock::time_point due_{};
};

// A dump of a near-neighbour exchange in three dimensions, twelve steps each; a rank is late in one of them, and with
// it from then on all that its lateness reaches. Messages are made when they are asked for.
class FakeDump final : public Fake {
 public:
  static constexpr std::int64_t exchange_ns = 10'000, late_ns = 400;
  FakeDump(std::array<std::int32_t, 3> extent, int exchanges) : extent_(extent), exchanges_(exchanges) {
    for (std::int32_t r = 0; r < ranks(); ++r)
      for (int k = 0; k < 6; ++k) sends_ += neighbour(r, k) >= 0;
  }
  std::int32_t ranks() const { return extent_[0] * extent_[1] * extent_[2]; }
  Result<std::optional<Snapshot>> newer(std::chrono::milliseconds) override {
    if (given_) return std::optional<Snapshot>();
    given_ = true;
    Snapshot s = test::fake_snapshot({.ranks = ranks(), .regions = 32, .slow = 2, .windows = 120});
    s.finished = true;
    s.duration_s = static_cast<double>(exchange_ns * exchanges_) * 1e-9;
    return std::optional<Snapshot>(std::move(s));
  }
  session::Phase phase() override { return session::Phase::finished; }
  bool live() const override { return false; }
  std::uint64_t message_count() const override { return sends_ * static_cast<std::uint64_t>(exchanges_); }
  std::uint64_t events() const { return 2 * message_count(); }
  Status messages(const session::TimeSpan& span, const std::function<bool(std::span<const Message>)>& visit) override {
    std::vector<Message> batch;
    for (int i = 0; i < exchanges_; ++i) {
      if (span.begin_ns > exchange_ns * (i + 1) || span.end_ns < exchange_ns * i) continue;
      batch.clear();
      for (int k = 0; k < 6; ++k)
        for (std::int32_t r = 0; r < ranks(); ++r)
          if (const std::int32_t to = neighbour(r, k); to >= 0) batch.push_back(message(i, k, r, to));
      std::erase_if(batch, [&](const Message& m) { return !span.has(m.send_begin); });
      if (!visit(batch)) break;
    }
    return {};
  }
  // One wait of each rank in each exchange.
  session::CallCount mpi_call_count() const override {
    return {true, static_cast<std::uint64_t>(exchanges_) * static_cast<std::uint64_t>(ranks()), 0, 0};
  }
  Status mpi_calls(const session::TimeSpan&, const std::function<bool(std::span<const MpiCall>)>& visit) override {
    constexpr std::uint16_t wait_all = 412;
    std::vector<MpiCall> batch(static_cast<std::size_t>(ranks()));
    for (int i = 0; i < exchanges_; ++i) {
      for (std::int32_t r = 0; r < ranks(); ++r) {
        MpiCall& call = batch[static_cast<std::size_t>(r)];
        call.rank = r;
        call.function = wait_all;
        call.begin = exchange_ns * i + 100 + (r * 31 + i * 7) % 100;
        call.end = exchange_ns * i + 5600 + (r * 13) % 100;
        call.outside = i == 0 ? -1 : 4000;
      }
      if (!visit(batch)) break;
    }
    return {};
  }

 private:
  std::int32_t neighbour(std::int32_t rank, int k) const {
    const auto axis = static_cast<std::size_t>(k / 2);
    const std::int32_t stride = axis == 0 ? 1 : axis == 1 ? extent_[0] : extent_[0] * extent_[1];
    const std::int32_t at = rank / stride % extent_[axis] + (k % 2 == 0 ? 1 : -1);
    return at < 0 || at >= extent_[axis] ? -1 : rank + (k % 2 == 0 ? stride : -stride);
  }
  Message message(int i, int k, std::int32_t r, std::int32_t to) const {
    Message m;
    m.source = r;
    m.destination = to;
    m.send_begin =
        exchange_ns * i + 1000 * k + (r == ranks() / 3 && i == exchanges_ / 2 ? late_ns : (r * 31 + i * 7) % 100);
    m.send_end = m.send_begin + 50;
    m.send_site = 4;
    m.recv_site = 3;
    m.recv_post = m.recv_wait = exchange_ns * i + 1000 * k + 460 + (to * 17) % 100;
    m.recv_end = exchange_ns * i + 1000 * k + 600 + (r * 13) % 100;
    return m;
  }
  std::array<std::int32_t, 3> extent_;
  int exchanges_;
  std::uint64_t sends_ = 0;
  bool given_ = false;
};

}  // namespace pclscope::benchmark
