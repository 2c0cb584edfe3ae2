// Which messages are stored (--keep, --budget). Summaries and windows always are.
//
//  summaries    none.
//  all          all, while the file is below 95 % of its budget.
//  interesting  all, while the file is below a quarter of its budget. From then on (`bites`), per region: in growth
//               and steady periods all; of every other period the first, the middle and the last window with
//               messages. A message between two regions is stored when either region's window is. Ranks without a
//               region are one region that is always `other`. Beyond 95 % of the budget none.
//
// A window's messages are decided when its regions' kinds are (Evolution: 64 windows later), so they wait here,
// packed. The middle of a period is known when it ends: until then up to 8 windows are held for it, which are thinned
// out as it goes on, and the nearest to the middle is stored (off by 1/16 of the period at most; by more if memory is
// short).
// Order: windows ascending, in a window the order of matching. Only the middle and the last window of an `other`
// period come late: when it ends.
//
// The MPI calls of a window go with it: a call is stored when the window of its rank's region is. Of a window without a
// message they are stored while all is.
//
// Whatever the policy: a window that comes without its messages (shed) has none stored, and they are counted.
//
// Memory: at most `memory_bytes`, for any input. When it is short, the oldest waiting window is decided by what its
// regions look like at that moment; windows held for a middle are thinned out; a window of more than a quarter is
// decided at once; calls that wait take a quarter at most, what is more is left out.
// File: the writer tells its size; between two tellings every message counts as 96 bytes. Messages never exceed it.
// Threads: none.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/values/message.hpp"
#include "analysis/values/mpi_call.hpp"
#include "analysis/values/snapshot.hpp"
#include "analysis/window/evolutions.hpp"
#include "analysis/window/halving_sample.hpp"
#include "analysis/window/recent_messages.hpp"

namespace pclscope {

namespace retention {
inline constexpr std::uint64_t default_budget_bytes = 2'000'000'000;
inline constexpr double everything_below = 0.25;  // of the budget
inline constexpr double nothing_above = 0.95;
inline constexpr std::uint64_t memory_part = 8;  // memory budget = file budget / 8 ...
inline constexpr std::uint64_t most_memory_bytes = std::uint64_t{256}
                                                   << 20;  // ... but at most this, and this without a file
inline constexpr std::uint64_t bytes_per_row = 96;         // of a message in the file, not compressed, at most
inline constexpr std::uint64_t expected_row = 24;          // compressed, until the file has told more
inline constexpr std::size_t middle_candidates = 8;
inline constexpr std::size_t most_waiting = 256;  // windows

// Of messages in memory, all together.
inline constexpr std::uint64_t memory_budget(std::uint64_t file_budget) {
  const std::uint64_t part = file_budget / memory_part;
  return file_budget == 0 || part > most_memory_bytes ? most_memory_bytes : part;
}
}  // namespace retention

class MessageRetention {
 public:
  using Sink = std::function<void(std::span<const Message>)>;  // at most 1024 messages per call, all of one window

  using CallSink = std::function<void(std::span<const MpiCall>)>;

  // Without `call_sink` calls are not looked at.
  MessageRetention(Keep keep, std::uint64_t file_budget, std::size_t memory_bytes, Sink sink,
                   CallSink call_sink = nullptr);
  ~MessageRetention();

  std::size_t largest_window() const { return memory_ / 4; }
  // A closed window, after evolutions.close_window() has returned `number` for it. `region_of_rank`: region's id by
  // rank, -1 none. `packed`: the same messages, nullptr when they were too many (or when it is not known).
  void add(const Window& window, std::uint64_t number, std::span<const Message> messages,
           std::span<const std::int32_t> region_of_rank, const Evolutions& evolutions,
           std::shared_ptr<const KeptWindow> packed = nullptr);
  // Before add() or shed(), or finish(): the calls of that window, so many, which `source` gives to whom it is called
  // with, if they are wanted.
  using CallSource = std::function<void(const CallSink&)>;
  void add_calls(std::uint64_t calls, CallSource source);
  // In place of add(): there is no time for the window's messages.
  void shed(const Window& window, std::uint64_t messages, const Evolutions& evolutions);
  // After evolutions.finish().
  void finish(const Evolutions& evolutions);

  void set_file_bytes(std::uint64_t bytes);
  // Of the messages given to the sink: how many found no room in the file, which then takes no more. They count as left
  // out.
  void set_not_stored(std::uint64_t messages);
  // One line, once, after the first message was left out because of the budget.
  std::optional<std::string> bites();

  std::uint64_t stored() const { return stored_; }
  std::uint64_t left_out() const { return seen_ - stored_ - waiting_; }
  std::uint64_t waiting() const { return waiting_; }  // not decided yet
  std::uint64_t calls_left_out() const;
  double bites_since_s() const { return bites_since_s_; }
  std::size_t bytes() const;
  // Fills all but the budget of memory and its begin; adds to memory_bytes.
  void report(Retention& to) const;

 private:
  using RegionMap = std::vector<std::int32_t>;
  struct Origin;  // of messages: a window, and who of it was stored
  struct HeldCalls;
  struct Waiting;
  struct Candidate;  // the messages of one region in a window, for the middle or the end of a period
  struct RegionState;
  enum class Phase { everything, interesting, nothing };

  Phase begin_window(const Window& window, std::uint64_t messages, const Evolutions& evolutions);
  Phase phase();
  bool room_for_everything() const;
  std::uint64_t rows_left() const;
  std::shared_ptr<const RegionMap> share_map(std::span<const std::int32_t> region_of_rank);
  void hold(const Window& window, std::uint64_t number, std::shared_ptr<const RegionMap> map,
            std::shared_ptr<const KeptWindow> packed);
  void take_large(const Window& window, std::uint64_t number, std::span<const Message> messages,
                  std::shared_ptr<const RegionMap> map, const Evolutions& evolutions);
  void decide(std::int32_t region, std::uint64_t number, PeriodKind kind, bool first);
  void decide_all(const Evolutions& evolutions);
  void end_period(RegionState& state, std::int32_t region);
  void store(const Candidate& candidate, std::int32_t region);
  void force_oldest(const Evolutions& evolutions);
  void release_decided();
  void release_oldest();
  void settle_middles(const Waiting& window);
  void settle_lasts(const Waiting& window);
  using Parts = std::map<std::int32_t, std::shared_ptr<KeptWindow>>;  // by region; nullptr: did not fit
  void fill_parts(const Waiting& window, Parts& parts) const;
  void forget_oldest_released();
  Candidate candidate_at(std::uint64_t number);
  Waiting* waiting_window(std::uint64_t number);
  void keep_memory_bound(const Evolutions& evolutions);
  void drop_everything();
  void write(std::span<const Message> messages);
  void write(std::span<const MpiCall> calls);
  // Calls of ranks for which wanted(rank).
  template <class Wanted>
  void write_calls(const Origin& origin, Wanted&& wanted);
  void hold_calls(Origin& origin);
  void take_calls(bool wanted, const CallSink& sink);
  template <class Wanted>
  void write_those(const KeptWindow& window, const Origin& origin, Wanted&& wanted);
  void left_out(double since_s);

  Keep keep_;
  std::uint64_t not_stored_ = 0;
  std::uint64_t budget_;
  std::size_t memory_;
  Sink sink_;
  CallSink call_sink_;
  CallSource call_source_;  // of the window that is added next
  std::uint64_t source_calls_ = 0;
  std::size_t held_call_bytes_ = 0;  // HeldCalls count themselves
  std::uint64_t held_calls_ = 0;     // that are not stored yet
  std::uint64_t calls_seen_ = 0, calls_stored_ = 0;
  std::map<std::int32_t, RegionState> regions_;
  std::deque<Waiting> waiting_windows_;
  std::deque<Waiting> released_;  // the last two: ends of periods are found one window later
  std::shared_ptr<const RegionMap> map_;
  std::vector<Message> buffer_;
  std::uint64_t told_bytes_ = 0, since_told_ = 0, told_rows_ = 0;
  double measured_row_ = 0;  // bytes per message as the file really grew
  std::uint64_t seen_ = 0, stored_ = 0, waiting_ = 0, shed_ = 0;
  bool everything_over_ = false, finished_ = false;
  double now_s_ = 0, bites_since_s_ = -1, shed_from_s_ = -1, shed_to_s_ = -1;
  bool bites_told_ = false;
};

}  // namespace pclscope
