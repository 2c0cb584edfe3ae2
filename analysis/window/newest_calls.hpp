// The newest calls of a job's ranks, one by one, in memory, for as long as somebody asks for them: made of events as a
// CallLog makes them, and packed. Independent of what a dump keeps.
//
//   add(events)               as the rings are read
//   settle(read_until, sink)  every ring has been read to where it stood then: calls that returned some time before go
//                             to the sink (which names their sites), in batches
//   keep(calls)               into memory: what the sink got, or what another node has sent
//   complete_until(ns)        whatever returned before is in memory, or left out
//   part(question, ...)       of those in memory
//
// Memory: `bytes` for the calls, the oldest go first; 16 bytes for each of at most `most_waiting` that are not settled;
// what a CallLog has per thread. Time: `share` of the thread's, beyond that calls are left out and counted. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "analysis/values/calls_part.hpp"
#include "analysis/values/time_share.hpp"
#include "analysis/window/call_log.hpp"
#include "analysis/window/packed_calls.hpp"

namespace pclscope {

class NewestCalls {
 public:
  static constexpr std::size_t most_bytes = std::size_t{8} << 20, block_bytes = std::size_t{64} << 10;
  static constexpr std::size_t most_waiting = 400'000;
  static constexpr std::int64_t step_ns = 50'000'000;       // calls are settled in steps of the time axis
  static constexpr std::int64_t allowance_ns = 20'000'000;  // a call is read a little after it has returned
  static constexpr std::int64_t kept_ns = 60'000'000'000;
  static constexpr double time_share = 0.03;                 // with what part() takes; packing an answer is the wire's
  static constexpr std::chrono::seconds forgotten_after{5};  // nobody has asked
  using Sink = CallLog::Sink;

  // `share` 1: no limit, as of a job that keeps all calls anyway.
  explicit NewestCalls(std::int32_t ranks, double share = time_share, std::size_t bytes = most_bytes);

  void set_tick_scale(TickScale scale) { log_.set_tick_scale(scale); }
  void add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events);
  // Sites are addresses (Event::site) until the sink has named them.
  void settle(std::int64_t read_until_ns, const Sink& sink);
  void keep(std::span<const MpiCall> calls);
  // What is settled when rings have been read until then.
  static std::int64_t settled_until(std::int64_t read_until_ns);
  void complete_until(std::int64_t ns) {
    if (ns >= from_ns_) until_ns_ = std::max(until_ns_, ns);
  }
  // What returned before is not all here.
  void incomplete_before(std::int64_t ns) { from_ns_ = std::max(from_ns_, ns); }

  // From when on calls that come from add() are all there, but for those left out; INT64_MAX: not known yet.
  std::int64_t whole_from_ns() const { return whole_from_ns_; }
  std::int64_t settled_until_ns() const { return settled_ns_; }
  std::uint64_t left_out() const { return log_.left_out(); }
  // `running`: the calls that ranks were inside at `now_ns`. Those that have returned since are taken out.
  CallsPart part(const CallsQuestion& question, std::vector<MpiCall> running, std::int64_t now_ns);

  std::size_t bytes() const { return bytes_; }

 private:
  struct Block {
    PackedCalls calls;
    std::int64_t last_end = INT64_MIN;
  };
  void forget_oldest();
  std::vector<MpiCall> newest(const CallsQuestion& question, std::int64_t& from_ns) const;

  CallLog log_;
  TimeShare time_;
  std::size_t most_bytes_, bytes_ = 0;
  std::deque<Block> blocks_;                              // as calls were settled
  using Thread = std::pair<std::int32_t, std::uint16_t>;  // of which rank
  std::map<Thread, std::int64_t> returned_;               // the last time, of those that were kept
  int settled_times_ = 0;
  std::int64_t settled_ns_ = INT64_MIN, whole_from_ns_ = INT64_MAX;
  std::int64_t from_ns_ = INT64_MIN, until_ns_ = INT64_MIN;
};

}  // namespace pclscope
