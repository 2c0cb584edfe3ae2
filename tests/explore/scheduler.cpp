#include "tests/explore/scheduler.hpp"

#include <sys/mman.h>

#include <bit>
#include <numeric>
#include <stdexcept>

namespace explore {
namespace {

constexpr std::size_t stack_bytes = 512 * 1024;
constexpr std::size_t longest_run = 50'000;  // steps

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

}  // namespace

Scheduler& Scheduler::the() {
  static Scheduler scheduler;
  return scheduler;
}

void Scheduler::clear() { fibers_.clear(); }

int Scheduler::add(const ExploredRank* rank, const ThreadState& state, std::function<void()> body) {
  fibers_.push_back({.context = {},
                     .rank = rank,
                     .state = state,
                     .body = std::move(body),
                     .on_death = {},
                     .ended = false,
                     .blocked = false,
                     .timed = false,
                     .blocked_at = 0,
                     .woken = 0,
                     .history = 0,
                     .steps = 0,
                     .dies_at = 0});
  while (stacks_.size() < fibers_.size()) {
    void* memory = ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no memory for a stack");
    stacks_.push_back(static_cast<char*>(memory));
  }
  return static_cast<int>(fibers_.size()) - 1;
}

void Scheduler::kill_at(int fiber, std::uint32_t step, std::function<void()> then) {
  Fiber& f = fibers_[static_cast<std::size_t>(fiber)];
  f.dies_at = step;
  f.on_death = std::move(then);
}

End Scheduler::run(std::span<const Deviation> deviations) {
  deviations_ = deviations;
  chance_ = 0;
  return go();
}

End Scheduler::run_at_random(std::uint64_t seed, double chance) {
  deviations_ = {};
  chance_ = chance;
  random_.seed(seed);
  return go();
}

End Scheduler::go() {
  trace_.clear();
  order_.resize(fibers_.size());
  std::iota(order_.begin(), order_.end(), 0);
  changes_ = 1;
  milliseconds_ = 0;
  end_ = End::all_ended;
  for (std::size_t i = 0; i < fibers_.size(); ++i) {
    Fiber& f = fibers_[i];
    ::getcontext(&f.context);
    f.context.uc_stack.ss_sp = stacks_[i];
    f.context.uc_stack.ss_size = stack_bytes;
    f.context.uc_link = nullptr;
    ::makecontext(&f.context, &Scheduler::start, 0);
  }
  running_ = true;
  current_ = 0;
  if (fibers_[0].rank != nullptr) fibers_[0].rank->set_thread(fibers_[0].state);
  ::swapcontext(&outside_, &fibers_[0].context);
  running_ = false;
  current_ = -1;
  return end_;
}

void Scheduler::start() {
  Scheduler& s = the();
  s.fibers_[static_cast<std::size_t>(s.current_)].body();
  s.fibers_[static_cast<std::size_t>(s.current_)].ended = true;
  ++s.changes_;
  const int next = s.first_able();
  if (next >= 0) s.switch_to(next);
  bool all = true;
  for (const Fiber& f : s.fibers_) all = all && f.ended;
  s.leave(all ? End::all_ended : End::stuck);
}

std::uint32_t Scheduler::able_ones() const {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < fibers_.size(); ++i) bits |= static_cast<std::uint32_t>(able(fibers_[i])) << i;
  return bits;
}

// When nobody can go on, time passes until a wait with a limit is over. -1: there is none.
int Scheduler::first_able() {
  for (const int f : order_) {
    if (able(fibers_[static_cast<std::size_t>(f)])) return f;
  }
  int waiting = -1;  // who has waited longest
  for (int f = 0; f < static_cast<int>(fibers_.size()); ++f) {
    const Fiber& fiber = fibers_[static_cast<std::size_t>(f)];
    if (fiber.ended || !fiber.timed) continue;
    if (waiting < 0 || fiber.woken < fibers_[static_cast<std::size_t>(waiting)].woken) waiting = f;
  }
  if (waiting < 0) return -1;
  milliseconds_ += 20;
  fibers_[static_cast<std::size_t>(waiting)].woken = ++wakings_;
  return waiting;
}

void Scheduler::put(int fiber, bool first) {
  std::erase(order_, fiber);
  order_.insert(first ? order_.begin() : order_.end(), fiber);
}

void Scheduler::note_step(bool forced, bool writes, const volatile void* address) {
  Fiber& me = fibers_[static_cast<std::size_t>(current_)];
  ++me.steps;
  if (me.steps == me.dies_at) die();
  if (trace_.size() == longest_run) leave(End::too_long);
  me.history = mix(me.history, 1 + static_cast<std::uint64_t>(forced));
  const std::uint32_t bits = able_ones();
  std::uint64_t state = bits;
  for (const Fiber& f : fibers_) state = mix(state, f.history + static_cast<std::uint64_t>(f.ended));
  for (const int f : order_) state = mix(state, static_cast<std::uint64_t>(f));
  trace_.push_back({current_, current_, bits, forced, writes, address, state});
}

int Scheduler::deviation(int otherwise) {
  int next = otherwise;
  if (!deviations_.empty() && deviations_.front().step == trace_.size() - 1) {
    next = deviations_.front().fiber;
    deviations_ = deviations_.subspan(1);
  } else if (chance_ > 0 && std::uniform_real_distribution<>(0, 1)(random_) < chance_) {
    const std::uint32_t bits = trace_.back().able;
    int left = bits == 0 ? 0 : static_cast<int>(random_() % static_cast<unsigned>(std::popcount(bits)));
    for (int i = 0; i < static_cast<int>(fibers_.size()); ++i) {
      if ((bits >> i & 1) == 0) continue;
      if (left-- == 0) next = i;
    }
  }
  trace_.back().next = next;
  if (next != otherwise) {
    if (otherwise == current_) put(current_, false);
    put(next, true);
  }
  return next;
}

void Scheduler::die() {
  Fiber& me = fibers_[static_cast<std::size_t>(current_)];
  me.ended = true;
  ++changes_;
  if (me.on_death) me.on_death();
  const int next = first_able();
  if (next < 0) leave(End::stuck);
  switch_to(next);
}

void Scheduler::leave(End end) {
  end_ = end;
  ::setcontext(&outside_);
}

void Scheduler::switch_to(int fiber) {
  if (fiber == current_) return;
  Fiber& me = fibers_[static_cast<std::size_t>(current_)];
  Fiber& next = fibers_[static_cast<std::size_t>(fiber)];
  if (me.rank != nullptr) me.state = me.rank->thread();
  if (next.rank != nullptr) next.rank->set_thread(next.state);
  current_ = fiber;
  if (me.ended) {
    ::setcontext(&next.context);
  } else {
    ::swapcontext(&me.context, &next.context);
  }
}

void Scheduler::before(const volatile void* address, bool writes) {
  if (!running_) return;
  note_step(false, writes, address);
  switch_to(deviation(current_));
  if (writes) ++changes_;  // not earlier: nobody finds it before it is done
}

void Scheduler::saw(std::uint64_t value) {
  if (!running_) return;
  Fiber& me = fibers_[static_cast<std::size_t>(current_)];
  me.history = mix(me.history, value);
}

void Scheduler::blocked(bool timed) {
  if (!running_) return;
  const std::size_t mine = static_cast<std::size_t>(current_);
  fibers_[mine].blocked = true;
  fibers_[mine].timed = timed;
  fibers_[mine].blocked_at = changes_;
  note_step(true, false, nullptr);
  const int next = first_able();
  if (next < 0) leave(End::stuck);
  switch_to(deviation(next));
  fibers_[mine].blocked = fibers_[mine].timed = false;
}

}  // namespace explore

extern "C" {
void explore_before(const volatile void* address, int writes) {
  explore::Scheduler::the().before(address, writes != 0);
}
void explore_saw(unsigned long value) { explore::Scheduler::the().saw(value); }
void explore_changed() { explore::Scheduler::the().changed(); }
void explore_blocked(int timed) { explore::Scheduler::the().blocked(timed != 0); }
}
