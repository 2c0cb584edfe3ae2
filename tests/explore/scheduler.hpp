// Fibers that take turns at every access to an atomic, as a schedule says. One thread; one Scheduler.
// A schedule is a list of deviations from the order of precedence: at such a step another fiber goes on than would
// have.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "tests/explore/explored_rank.hpp"

namespace explore {

struct Deviation {
  std::uint32_t step;
  int fiber;
};

// What a run came by: where other fibers could have gone on.
struct Step {
  int fiber;           // that was about to make it
  int next;            // that went on
  std::uint32_t able;  // bit f: fiber f could go on
  bool forced;         // `fiber` could not
  bool writes;
  const volatile void* address;
  std::uint64_t state;  // equal: what each fiber has seen so far is equal
};

enum class End { all_ended, stuck, too_long };

class Scheduler {
 public:
  static Scheduler& the();

  void clear();  // no fibers
  // Those added first go on first. `rank`: whose thread it is, nullptr: of no rank.
  int add(const ExploredRank* rank, const ThreadState& state, std::function<void()> body);
  // It is killed when it is about to make its own `step`-th step (from 1).
  void kill_at(int fiber, std::uint32_t step, std::function<void()> then);
  End run(std::span<const Deviation> deviations);
  // At each step another fiber goes on with this chance.
  End run_at_random(std::uint64_t seed, double chance);

  bool ended(int fiber) const { return fibers_[static_cast<std::size_t>(fiber)].ended; }  // or was killed
  std::uint32_t own_steps(int fiber) const { return fibers_[static_cast<std::size_t>(fiber)].steps; }
  const std::vector<Step>& trace() const { return trace_; }
  int current() const { return current_; }
  std::int64_t milliseconds() const { return milliseconds_; }

  // Called by fibers; nothing happens outside of run().
  void before(const volatile void* address, bool writes);
  void saw(std::uint64_t value);
  void changed() { ++changes_; }
  void blocked(bool timed);

 private:
  struct Fiber {
    ucontext_t context;
    const ExploredRank* rank;
    ThreadState state;
    std::function<void()> body, on_death;
    bool ended, blocked, timed;
    std::uint64_t blocked_at;  // changes by then
    std::uint64_t woken;       // by the passing of time: which time that was
    std::uint64_t history;     // hash of all it has seen
    std::uint32_t steps, dies_at;
  };

  static void start();
  End go();
  bool able(const Fiber& f) const { return !f.ended && (!f.blocked || changes_ > f.blocked_at); }
  std::uint32_t able_ones() const;
  int first_able();
  void note_step(bool forced, bool writes, const volatile void* address);
  int deviation(int otherwise);
  void put(int fiber, bool first);
  void die();
  void leave(End end);
  void switch_to(int fiber);

  std::vector<Fiber> fibers_;
  std::vector<char*> stacks_;
  ucontext_t outside_{};
  std::vector<int> order_;  // of precedence
  int current_ = -1;
  bool running_ = false;
  End end_ = End::all_ended;
  std::uint64_t changes_ = 0, wakings_ = 0;
  std::int64_t milliseconds_ = 0;
  std::span<const Deviation> deviations_;
  double chance_ = 0;
  std::mt19937_64 random_;
  std::vector<Step> trace_;
};

}  // namespace explore
