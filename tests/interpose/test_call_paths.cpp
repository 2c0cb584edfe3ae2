// Call paths against unwinding each time: random walks through functions whose frames are of every kind that compilers
// make (fixed, with a frame pointer, with alloca, aligned at run time, with arguments on the stack, recursive, behind
// pointers), on the thread's stack, on stacks of coroutines that come and go at the same place, in signal handlers.
#include <alloca.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "interpose/process/clock.hpp"
#include "interpose/recorder/call_paths.hpp"
#include "tests/seed.hpp"
#include "tests/thinned.hpp"

namespace pclscope {
record::ClockSource clock_source = record::ClockSource::monotonic;
}

namespace {

using pclscope::Caller;
using pclscope::CallPaths;

const unsigned walks = pclscope::test::thinned(200'000);

struct Walk {
  CallPaths paths;
  std::uint64_t random;
  unsigned left = 0;  // calls until the "MPI call"
  unsigned limit;
  std::uint64_t calls = 0, hits = 0, wrong = 0, cut = 0, without = 0;

  Walk(std::uint64_t seed, unsigned frames) : random(seed), limit(frames) { paths.open(frames); }
  std::uint32_t next() {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(random >> 33);
  }
};

struct Truth {
  const std::uint64_t* frame;
  std::uint64_t addresses[CallPaths::most_frames];
  unsigned count, limit;
};

_Unwind_Reason_Code take(_Unwind_Context* context, void* argument) {
  auto& truth = *static_cast<Truth*>(argument);
  const auto* cfa = reinterpret_cast<const std::uint64_t*>(_Unwind_GetCFA(context));
  if (truth.count == 0 && cfa != truth.frame + 2) return _URC_NO_REASON;
  int interrupted = 0;
  const std::uint64_t address = _Unwind_GetIPInfo(context, &interrupted);
  if (interrupted || address == 0) return _URC_END_OF_STACK;
  truth.addresses[truth.count++] = address;
  return truth.count == truth.limit ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// What calls main or begins a thread is left out.
bool begins(std::uint64_t address) {
  Dl_info info;
  return dladdr(reinterpret_cast<void*>(address - 1), &info) != 0 && std::strstr(info.dli_fname, "libc.so") != nullptr;
}

// What an MPI function of the library is.
[[gnu::noinline]] void mpi_call(Walk& walk) {
  const Caller caller = PCLSCOPE_CALLER;
  CallPaths::Known* known = walk.paths.look(caller);
  walk.hits += known != nullptr;
  if (known == nullptr) known = walk.paths.learn(caller);
  ++walk.calls;
  if (known == nullptr) {
    ++walk.without;
    return;
  }
  std::uint64_t frames[CallPaths::most_frames];
  const unsigned count = CallPaths::frames(*known, frames);
  Truth truth{caller.frame, {}, 0, walk.limit};
  _Unwind_Backtrace(take, &truth);
  if (count > truth.count || std::memcmp(frames, truth.addresses, count * sizeof *frames) != 0) ++walk.wrong;
  walk.cut += count < truth.count && !begins(truth.addresses[count]);
}

using Step = void (*)(Walk&);
void go_on(Walk& walk);
#define AFTER asm volatile("" ::: "memory")  // no tail call

#define FIXED(n, bytes)                      \
  [[gnu::noinline]] void fixed##n(Walk& w) { \
    char local[bytes];                       \
    asm volatile("" ::"r"(local));           \
    go_on(w);                                \
    AFTER;                                   \
  }
FIXED(1, 8)
FIXED(2, 40)
FIXED(3, 1000)

[[gnu::noinline]] void alloca_leaf(Walk& w) {
  void* memory = alloca(16 + 16 * (w.next() % 3));
  asm volatile("" ::"r"(memory));
  mpi_call(w);
  AFTER;
}
[[gnu::noinline]] void alloca_inner(Walk& w) {
  void* memory = alloca(16 + 16 * (w.next() % 3));
  asm volatile("" ::"r"(memory));
  go_on(w);
  AFTER;
}
[[gnu::noinline]] void aligned(Walk& w) {
  alignas(64) char local[64];
  asm volatile("" ::"r"(local));
  go_on(w);
  AFTER;
}
[[gnu::noinline]] void aligned_alloca(Walk& w) {
  alignas(64) char local[64];
  void* memory = alloca(16 + 16 * (w.next() % 3));
  asm volatile("" ::"r"(local), "r"(memory));
  go_on(w);
  AFTER;
}
#ifdef __clang__
#define FRAMED [[gnu::noinline]]
#else
#define FRAMED [[gnu::noinline, gnu::optimize("no-omit-frame-pointer")]]
#endif
FRAMED void framed(Walk& w) {
  go_on(w);
  AFTER;
}
// Keeps much in registers that the functions it calls must save, rbp among them.
[[gnu::noinline]] void busy_registers(Walk& w) {
  std::uint64_t a = w.next(), b = w.next(), c = w.next(), d = w.next(), e = w.next(), f = w.next();
  go_on(w);
  asm volatile("" ::"r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f));
}
// rbp, if it is used, points into the function's own frame.
[[gnu::noinline]] void points_at_itself(Walk& w) {
  std::uint64_t local[12] = {w.next()};
  std::uint64_t *p = local + 1, *q = local + 3, *r = local + 5, *s = local + 7, *t = local + 9, *u = local + 11;
  asm volatile("" : "+r"(p), "+r"(q), "+r"(r), "+r"(s), "+r"(t), "+r"(u)::"memory");
  go_on(w);
  asm volatile("" ::"r"(p), "r"(q), "r"(r), "r"(s), "r"(t), "r"(u) : "memory");
}
[[gnu::noinline]] void many_arguments(Walk& w, long, long, long, long, long, long g, long h, long i) {
  asm volatile("" ::"r"(g + h + i));
  go_on(w);
  AFTER;
}
[[gnu::noinline]] void calls_many_arguments(Walk& w) {
  many_arguments(w, 1, 2, 3, 4, 5, 6, 7, 8);
  AFTER;
}
[[gnu::noinline]] void two_targets(Walk& w) {
  static const Step either[] = {fixed1, alloca_leaf};
  either[w.next() % 2](w);
  AFTER;
}
[[gnu::noinline]] void deep(Walk& w) {
  if (w.next() % 8 != 0) deep(w);
  else go_on(w);
  AFTER;
}

constexpr Step steps[] = {fixed1, fixed2, fixed3, alloca_inner,   aligned,          aligned_alloca,       framed,
                          framed, framed, deep,   busy_registers, points_at_itself, calls_many_arguments, two_targets,
                          fixed1, fixed2};

[[gnu::noinline]] void go_on(Walk& w) {
  if (w.left == 0) {
    mpi_call(w);
  } else {
    --w.left;
    steps[w.next() % std::size(steps)](w);
  }
  AFTER;
}

void walk_once(Walk& w) {
  w.left = w.next() % 7;
  go_on(w);
  AFTER;
}

// --- coroutines ---
ucontext_t home, away;
Walk* on_own_stack;
void coroutine() {
  for (int i = 0; i < 20; ++i) walk_once(*on_own_stack);
}
void walk_on_stacks(Walk& w) {
  on_own_stack = &w;
  // The lower end of what was there before is free, or something else: a stale word must not be read.
  constexpr std::size_t most = 1 << 20;
  const std::size_t bytes = (std::size_t{1} << 16) << (w.next() % 5);
  void* stack = mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) return;
  munmap(static_cast<char*>(stack) + bytes, most - bytes);
  getcontext(&away);
  away.uc_stack.ss_sp = stack;
  away.uc_stack.ss_size = bytes;
  away.uc_link = &home;
  makecontext(&away, coroutine, 0);
  swapcontext(&home, &away);
  munmap(stack, bytes);
}

Walk* in_handler;
void handle(int) { walk_once(*in_handler); }

void judge(const char* what, const Walk& w) {
  std::printf("%s: %llu calls, %llu known, %llu wrong, %llu cut, %llu without\n", what,
              static_cast<unsigned long long>(w.calls), static_cast<unsigned long long>(w.hits),
              static_cast<unsigned long long>(w.wrong), static_cast<unsigned long long>(w.cut),
              static_cast<unsigned long long>(w.without));
  CHECK(w.wrong == 0);
  CHECK(w.cut * 20 <= w.calls);  // some frames look as if they could be of the kinds that are not followed
  CHECK(w.without == 0);
  CHECK(w.hits > w.calls / 20);
}

}  // namespace

TEST_CASE("a call path is the one that unwinding finds") {
  const std::uint64_t seed = pclscope::test::random_seed();
  CAPTURE(seed);
  for (const unsigned limit : {1u, 3u, 8u, 16u}) {
    Walk w(seed + limit, limit);
    for (unsigned i = 0; i < walks / 4; ++i) walk_once(w);
    judge("one stack", w);
  }
}

TEST_CASE("a call path on stacks that come and go at the same place") {
  Walk w(pclscope::test::random_seed() + 100, 8);
  for (unsigned i = 0; i < walks / 200; ++i) walk_on_stacks(w);
  judge("coroutines", w);
}

TEST_CASE("a call path in a signal handler") {
  Walk w(pclscope::test::random_seed() + 200, 8);
  in_handler = &w;
  const auto before = std::signal(SIGUSR1, handle);
  for (unsigned i = 0; i < walks / 20; ++i) std::raise(SIGUSR1);
  std::signal(SIGUSR1, before);
  judge("signal handler", w);
}

TEST_CASE("each thread has call paths of its own") {
  std::vector<std::unique_ptr<Walk>> of_threads;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) {
    Walk& w = *of_threads.emplace_back(std::make_unique<Walk>(pclscope::test::random_seed() + 300 + i, 0u));
    threads.emplace_back([&w] {
      w.limit = 8;
      w.paths.open(8);
      for (unsigned k = 0; k < walks / 16; ++k) walk_once(w);
    });
  }
  for (std::thread& t : threads) t.join();
  for (const auto& w : of_threads) judge("thread", *w);
}

TEST_CASE("the same call again is known, whoever else calls from there") {
  Walk w(1, 8);
  for (unsigned i = 0; i < 1000; ++i) {
    for (const Step step : {fixed1, fixed2, fixed3, framed}) {
      w.left = 0;
      step(w);
    }
  }
  judge("four places", w);
  CHECK(w.hits >= 4 * 900);  // a compiler may unroll the loop
  CallPaths none;
  none.open(0);
  CHECK_FALSE(none.on());
}
