// A stored run that nobody made, with as many calls as are asked for. For benchmarks of the window.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analysis/density/packing.hpp"
#include "analysis/density/pyramid.hpp"
#include "tests/viewer/fake_run.hpp"
#include "viewer/session/session.hpp"

namespace pclscope::benchmark {

// A session that makes its calls up, as they lie in a dump: windows, in them by rank. Steps of 1 ms: 0.7 of computing,
// an Irecv, an Isend, a Waitall; in the middle of the run one rank computes for 20 steps while all others wait.
class FakeStored : public session::Session {
 public:
  FakeStored(std::int32_t ranks, std::uint64_t calls)
      : ranks_(ranks), steps_(static_cast<std::int64_t>(calls / 3 / static_cast<std::uint64_t>(ranks))) {}
  std::int32_t late() const { return ranks_ / 3; }
  std::int64_t late_begin() const { return steps_ / 2 * step_ns + 700'000; }
  std::int64_t late_end() const { return late_begin() + 20 * step_ns; }
  std::int64_t end() const { return steps_ * step_ns + 20 * step_ns; }

  Result<std::optional<Snapshot>> newer(std::chrono::milliseconds) override { return std::optional<Snapshot>(); }
  session::Phase phase() override { return session::Phase::finished; }
  bool live() const override { return false; }
  bool complete() const override { return true; }
  Status messages(const session::TimeSpan&, const std::function<bool(std::span<const Message>)>& visit) override {
    std::vector<Message> batch;
    for (std::int64_t step = 0; step < steps_; ++step)
      for (std::int32_t rank = 0; rank < ranks_; ++rank) {
        Message m;
        m.source = rank;
        m.destination = (rank + 1) % ranks_;
        m.flags = record::flag::nonblocking;
        m.send_begin = at(step, rank) + 710'000;
        m.send_end = m.send_begin + 5'000;
        m.recv_post = at(step, m.destination) + 700'000;
        m.recv_wait = at(step, m.destination) + 720'000;
        m.recv_end = std::max(m.send_begin, m.recv_wait) + 100'000;
        batch.push_back(m);
        if (batch.size() < 65536) continue;
        if (!visit(batch)) return {};
        batch.clear();
      }
    visit(batch);
    return {};
  }
  std::uint64_t message_count() const override {
    return static_cast<std::uint64_t>(steps_) * static_cast<std::uint64_t>(ranks_);
  }
  std::uint64_t messages_not_stored() const override { return 0; }
  std::uint64_t collectives_not_stored() const override { return 0; }
  Result<std::vector<Window>> windows() override { return std::vector<Window>(); }
  Status collectives(const session::TimeSpan&, const std::function<bool(std::span<const CollectiveCall>)>&) override {
    return {};
  }
  session::CallCount mpi_call_count() const override { return {true, 3 * message_count(), 0, 0}; }
  Status mpi_calls(const session::TimeSpan&, const std::function<bool(std::span<const MpiCall>)>& visit) override {
    constexpr std::int64_t window = 100;
    std::vector<MpiCall> batch;
    for (std::int64_t first = 0; first < steps_; first += window)
      for (std::int32_t rank = 0; rank < ranks_; ++rank) {
        for (std::int64_t step = first; step < std::min(steps_, first + window); ++step) add(step, rank, batch);
        if (batch.size() < 65536) continue;
        if (!visit(batch)) return {};
        batch.clear();
      }
    visit(batch);
    return {};
  }
  Result<Dag> dag(const DagQuestion&) override { return Dag{}; }
  Result<std::vector<PairTraffic>> traffic() override { return std::vector<PairTraffic>(); }

 private:
  static constexpr std::uint16_t irecv = 246, isend = 255, wait_all = 412;
  static constexpr std::int64_t step_ns = 1'000'000;
  // When a step begins; all are behind from the late one's on.
  std::int64_t at(std::int64_t step, std::int32_t rank) const {
    const std::int64_t middle = steps_ / 2;
    return step * step_ns + (step > middle || (step == middle && rank == late()) ? 20 * step_ns : 0);
  }
  void add(std::int64_t step, std::int32_t rank, std::vector<MpiCall>& to) const {
    const bool late_step = step == steps_ / 2;
    MpiCall call;
    call.rank = rank;
    call.bytes = 1024;
    call.peer = (rank + 1) % ranks_;
    const std::int64_t begin = at(step, rank) + 700'000, next = at(step + 1, rank);
    const std::int64_t jitter = (rank * 7919 + step * 104'729) % 50'000;
    call.function = irecv;
    call.begin = begin;
    call.end = begin + 3'000;
    call.outside = step == 0 ? -1 : 700'000 - jitter + (late_step && rank == late() ? 20 * step_ns : 0);
    to.push_back(call);
    call.function = isend;
    call.begin = begin + 10'000;
    call.end = begin + 15'000;
    call.outside = 7'000;
    to.push_back(call);
    call.function = wait_all;
    call.begin = begin + 20'000;
    // The others wait for the late one.
    const std::int64_t jitter_next = (rank * 7919 + (step + 1) * 104'729) % 50'000;
    call.end = next + jitter_next;
    call.outside = 5'000;
    to.push_back(call);
  }

  std::int32_t ranks_;
  std::int64_t steps_;
};

// The density of its calls.
inline CallDensity density_of(FakeStored& job) {
  density::Pyramid pyramid;
  (void)job.mpi_calls({}, [&](std::span<const MpiCall> batch) {
    for (const MpiCall& c : batch) pyramid.call_inside(pyramid.place(c.function), c.rank, c.begin, c.end);
    return true;
  });
  return pyramid.value();
}

// Its summary; all calls have returned. Without findings: a window shows their period at first, which is not the run's.
inline Snapshot snapshot_of(FakeStored& job, std::int32_t ranks, const CallDensity& density) {
  Snapshot snapshot = test::fake_snapshot({.ranks = ranks, .regions = 36, .slow = -1, .windows = 20});
  for (RankSummary& rank : snapshot.ranks) rank.call_function = 0;
  snapshot.call_density = density::pack(density);
  snapshot.duration_s = static_cast<double>(job.end()) * 1e-9;
  return snapshot;
}

// The same run with its summary, as a window opens it.
class FakeCallsDump final : public FakeStored {
 public:
  FakeCallsDump(std::int32_t ranks, std::uint64_t calls, std::shared_ptr<const Snapshot> summary)
      : FakeStored(ranks, calls), summary_(std::move(summary)) {}
  Result<std::optional<Snapshot>> newer(std::chrono::milliseconds) override {
    if (!summary_) return std::optional<Snapshot>();
    std::optional<Snapshot> given(*summary_);
    given->finished = true;
    summary_.reset();
    return given;
  }

 private:
  std::shared_ptr<const Snapshot> summary_;
};

}  // namespace pclscope::benchmark
