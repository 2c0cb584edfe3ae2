// The sampler on made-up trees: what it reads, what it makes of it, and what goes missing meanwhile. And what real
// readings cost, of 64 threads.
#include "analysis/conditions/sampler.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <thread>

#include "tests/analysis/conditions/made_up_tree.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::conditions;
using pclscope::conditions::test::MadeUpTree;

namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr double ticks = 1000;  // a second

struct Job {
  MadeUpTree tree;
  std::vector<std::unique_ptr<record::SegmentHeader>> headers;

  record::SegmentHeader& rank(std::uint32_t pid, const std::string& cores) {
    headers.push_back(std::make_unique<record::SegmentHeader>());
    record::SegmentHeader& h = *headers.back();
    h.pid = pid;
    h.state = record::ProcessState::running;
    tree.link("/proc/" + std::to_string(pid) + "/exe", "/app");
    tree.write("/proc/" + std::to_string(pid) + "/status", "Cpus_allowed_list:\t" + cores + "\n");
    times(pid, 0, 0);
    return h;
  }
  // What its only thread ran and waited so far.
  void times(std::uint32_t pid, std::int64_t ran_ns, std::int64_t waited_ns, int core = 0) const {
    const std::string folder = "/proc/" + std::to_string(pid);
    tree.write(folder + "/task/" + std::to_string(pid) + "/schedstat",
               std::to_string(ran_ns) + " " + std::to_string(waited_ns) + " 5\n");
    tree.write(folder + "/stat", MadeUpTree::stat(pid, "app", static_cast<std::uint64_t>(ran_ns / ms), 0, 1, core));
  }
  void busy(std::int64_t core0_ns, std::int64_t core1_ns) const {
    tree.write("/proc/stat", "cpu  0 0 0 0\ncpu0 " + std::to_string(core0_ns / ms) + " 0 0 0 0 0 0 0\ncpu1 " +
                                 std::to_string(core1_ns / ms) + " 0 0 0 0 0 0 0\n");
  }
};

}  // namespace

TEST_CASE("running, off the core, asleep; outside MPI and inside") {
  Job job;
  record::SegmentHeader& h = job.rank(7, "0");
  job.busy(0, 0);
  Sampler sampler(job.tree.root(), ticks, 1e9);
  REQUIRE(sampler.add(0, h, "/app"));
  CHECK_FALSE(sampler.add(0, h, "/app"));    // once
  CHECK_FALSE(sampler.add(1, h, "/other"));  // a stranger's number
  std::vector<OffCore> told;
  const auto tell = [&](const OffCore& off) { told.push_back(off); };
  job.times(7, 5 * ms, 7 * ms);  // before it was found: not its
  sampler.sample(0, tell);
  CHECK(sampler.times(0) == CoreTimes());
  job.times(7, 45 * ms, 37 * ms);  // 40 ran, 30 off, computing all the time
  sampler.sample(100 * ms, tell);
  CHECK(sampler.times(0) == CoreTimes{100 * ms, 40 * ms, 30 * ms, 30 * ms, 0, 30 * ms, 0});
  CHECK(sampler.times(0).asleep_ns() == 30 * ms);
  h.call_function = 5;
  h.call_since = 1;
  job.times(7, 45 * ms, 57 * ms);  // 20 off: it entered MPI meanwhile, half of it
  sampler.sample(200 * ms, tell);
  CHECK(sampler.times(0).off_computing_ns == 40 * ms);
  job.times(7, 45 * ms, 97 * ms);  // 40 off, in the same call
  sampler.sample(300 * ms, tell);
  CHECK(sampler.times(0) == CoreTimes{300 * ms, 40 * ms, 90 * ms, 40 * ms, 0, 90 * ms, 0});
  h.call_function = 0;
  job.times(7, 45 * ms, 217 * ms);  // 120 in 100: off since before, when it was in MPI
  sampler.sample(400 * ms, tell);
  CHECK(sampler.times(0).off_core_ns == 210 * ms);
  CHECK(sampler.times(0).off_computing_ns == 40 * ms);
  sampler.sample(401 * ms, tell);  // not due
  CHECK(sampler.until_ns() == 400 * ms);
  REQUIRE(told.size() == 4);
  CHECK(told[0].off_ns == 30 * ms);
  CHECK(told[0].begin_ns == 0);
  CHECK(told[3].end_ns == 400 * ms);
  CHECK(told[1].off_ns + told[2].off_ns + told[3].off_ns == 10 * ms);
  CHECK(sampler.times(3) == CoreTimes());
}

TEST_CASE("a rank that sleeps outside MPI was not kept from computing") {
  Job job;
  record::SegmentHeader& h = job.rank(7, "0");
  job.busy(0, 0);
  Sampler sampler(job.tree.root(), ticks, 1e9);
  std::int64_t inside_ns = 50 * ms;  // before it was found
  sampler.set_inside([&](std::int32_t rank, std::uint64_t, std::int64_t) {
    CHECK(rank == 0);
    return inside_ns;
  });
  REQUIRE(sampler.add(0, h, "/app"));
  job.times(7, 0, 0);
  sampler.sample(0, nullptr);
  // Each 100 ms: 60 asleep, and 40 in calls, in which it spins or waits for the core. Every reading falls into a sleep.
  for (std::uint64_t i = 1; i <= 5; ++i) {
    h.call_since = i;
    inside_ns += 40 * ms;
    job.times(7, i * 15 * ms, i * 25 * ms);
    sampler.sample(static_cast<std::int64_t>(i) * 100 * ms, nullptr);
  }
  CHECK(sampler.times(0).off_core_ns == 125 * ms);
  CHECK(sampler.times(0).off_computing_ns == 0);
  // 60 computing, of which 30 without a core.
  h.call_since = 6;
  inside_ns += 40 * ms;
  job.times(7, 75 * ms + 50 * ms, 125 * ms + 50 * ms);
  sampler.sample(600 * ms, nullptr);
  CHECK(sampler.times(0).off_computing_ns > 0);
  CHECK(sampler.times(0).off_computing_ns <= 60 * ms);
}

// 8 ranks on 2 cores: rounds of 6 ms without a core, 2 ms of work, and an Allreduce in which it ran 1 ms of 20. Some
// sleep 3 ms outside MPI in each round, some of these 2 ms inside, too.
TEST_CASE("what a rank measures of itself bounds how long it had no core outside MPI, whenever it is read") {
  std::mt19937_64 random(pclscope::test::random_seed());
  for (int run = 0; run < 60; ++run) {
    CAPTURE(run);
    const int sleeps_outside = run % 3 > 0 ? 3 : 0, sleeps_inside = run % 3 > 1 ? 2 : 0;
    const auto add = [](std::atomic<std::uint64_t>& sum, int count) { sum += static_cast<std::uint64_t>(count * ms); };
    Job job;
    record::SegmentHeader& h = job.rank(7, "0");
    job.busy(0, 0);
    Sampler sampler(job.tree.root(), ticks, 1e9);
    REQUIRE(sampler.add(0, h, "/app"));
    // It waited for its core inside MPI for long before it was found, and told that afterwards.
    sampler.sample(0, nullptr);
    add(h.idle_ns, 700);
    add(h.off_inside_ns, 700);
    h.idle_until = 1;
    std::int64_t now = 0, ran = 0, waited = 0, off_outside = 0, next = 10 * ms;
    const auto read_on_the_way = [&] {  // the kernel tells a wait when it ends
      if (now < next) return;
      job.times(7, ran, waited);
      sampler.sample(now, nullptr);
      next = now + static_cast<std::int64_t>(10 + random() % 40) * ms;
      const CoreTimes t = sampler.times(0);
      REQUIRE(t.off_computing_least_ns <= off_outside);
      REQUIRE(t.off_computing_most_ns >= off_outside);
      REQUIRE(t.off_computing_ns >= t.off_computing_least_ns);
      REQUIRE(t.off_computing_ns <= t.off_computing_most_ns);
    };
    const auto spend = [&](int count, std::int64_t* what) {
      now += count * ms;
      if (what != nullptr) *what += count * ms;
    };
    for (std::uint64_t round = 1; round <= 100; ++round) {
      h.call_function = 0;
      spend(6, &waited);
      off_outside += 6 * ms;
      read_on_the_way();
      spend(2, &ran);
      read_on_the_way();
      spend(sleeps_outside, nullptr);
      read_on_the_way();
      add(h.idle_ns, 6 + sleeps_outside);
      add(h.idle_least_ns, 6 + sleeps_outside);
      add(h.idle_most_ns, 6 + sleeps_outside);
      if (sleeps_outside == 0) add(h.off_outside_ns, 6);
      h.idle_until = 2 * round;
      h.call_since = round;
      h.call_function = 5;
      spend(sleeps_inside, nullptr);
      read_on_the_way();
      spend(19, &waited);
      read_on_the_way();
      spend(1, &ran);
      read_on_the_way();
      add(h.idle_ns, 19 + sleeps_inside);
      if (sleeps_inside == 0) add(h.off_inside_ns, 19);
      h.idle_until = 2 * round + 1;
    }
    h.call_function = 0;
    spend(1, &ran);
    h.state = record::ProcessState::finalizing;
    job.times(7, ran, waited);
    sampler.finish(now, nullptr);
    const CoreTimes t = sampler.times(0);
    CHECK(t.off_core_ns == 100 * 25 * ms);
    REQUIRE(off_outside == 100 * 6 * ms);
    CHECK(t.off_computing_least_ns <= off_outside);
    CHECK(t.off_computing_most_ns >= off_outside);
    if (sleeps_inside > 0) continue;
    // But for the time before a first measurement was seen to have begun and ended.
    CHECK(t.off_computing_least_ns >= off_outside - 100 * ms);
    CHECK(t.off_computing_most_ns <= off_outside + 100 * ms);
  }
}

TEST_CASE("time stolen from a virtual machine is off the core outside MPI, where the rank did not go to sleep there") {
  Job job;
  record::SegmentHeader& h = job.rank(7, "0");
  job.busy(0, 0);
  Sampler sampler(job.tree.root(), ticks, 1e9);
  REQUIRE(sampler.add(0, h, "/app"));
  sampler.sample(0, nullptr);
  h.idle_until = 1;
  sampler.sample(10 * ms, nullptr);
  // 1 s outside MPI, of which it ran 0.4, and 1 s inside, of which it ran none: the scheduler tells 1.2 s of the 1.6.
  h.idle_ns = 1600 * ms;
  h.idle_least_ns = h.idle_most_ns = h.off_outside_ns = 600 * ms;
  h.off_inside_ns = 1000 * ms;
  h.idle_until = 2;
  h.state = record::ProcessState::finalizing;
  job.times(7, 400 * ms, 1200 * ms);
  sampler.finish(2010 * ms, nullptr);
  CHECK(sampler.times(0).off_core_ns == 1200 * ms);
  CHECK(sampler.times(0).off_computing_ns == 600 * ms);
  CHECK(sampler.times(0).off_computing_least_ns == 600 * ms);
  CHECK(sampler.times(0).off_computing_most_ns == 600 * ms);
}

TEST_CASE("ranks on cores of their own share none, also when one comes late and the run is short") {
  Job job;
  record::SegmentHeader& zero = job.rank(7, "0");
  record::SegmentHeader& one = job.rank(8, "1");
  job.busy(0, 0);
  Sampler sampler(job.tree.root(), ticks, 1e9);
  REQUIRE(sampler.add(0, zero, "/app"));
  for (std::int64_t t = 0; t <= 400; t += 100) {
    if (t == 100) REQUIRE(sampler.add(1, one, "/app"));
    job.times(7, t * ms / 2, t * ms / 2, 0);
    job.times(8, t * ms / 2, t * ms / 2, 1);
    job.busy(t * ms, t * ms);
    sampler.sample(t * ms, nullptr);
  }
  sampler.finish(450 * ms, nullptr);
  REQUIRE(sampler.conditions().size() > 0);
  for (const Condition& condition : sampler.conditions()) CHECK(condition.kind == ConditionKind::other_load);
}

TEST_CASE("a foreign process on a rank's core, from made-up files") {
  Job job;
  record::SegmentHeader& zero = job.rank(7, "0");
  record::SegmentHeader& one = job.rank(8, "1");
  job.busy(0, 0);
  Sampler sampler(job.tree.root(), ticks, 1e9);
  job.tree.write("/proc/99/stat", MadeUpTree::stat(99, "burn", 0, 0, 1, 1));
  REQUIRE(sampler.add(0, zero, "/app"));
  REQUIRE(sampler.add(1, one, "/app"));
  for (std::int64_t t = 0; t <= 5000; t += 100) {  // rank 1 and the process share core 1
    job.times(7, t * ms, 0, 0);
    job.times(8, t * ms / 2, t * ms / 2, 1);
    job.tree.write("/proc/99/stat", MadeUpTree::stat(99, "burn", static_cast<std::uint64_t>(t / 2), 0, 1, 1));
    job.busy(t * ms, t * ms);
    sampler.sample(t * ms, nullptr);
  }
  const auto found = sampler.conditions();
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == ConditionKind::other_load);
  CHECK(found[0].ranks == std::vector<std::int32_t>{1});
  CHECK(found[0].core == 1);
  CHECK(found[0].pid == 99);
  CHECK(found[0].process == "burn");
  CHECK(found[0].cost_s == Approx(2.5).epsilon(0.02));
  CHECK(found[0].load == Approx(0.5).epsilon(0.02));
  CHECK(sampler.times(1).other_load == Approx(0.5).epsilon(0.02));
  CHECK(sampler.times(0).other_load == Approx(0).margin(0.01));
}

TEST_CASE("a rank that ends, or is in MPI_Finalize, is read no more") {
  Job job;
  record::SegmentHeader& a = job.rank(7, "0-1");
  record::SegmentHeader& b = job.rank(8, "0-1");
  job.busy(0, 0);
  Sampler sampler(job.tree.root(), ticks, 1e9);
  sampler.add(0, a, "/app");
  sampler.add(1, b, "/app");
  sampler.sample(0, nullptr);
  job.times(7, 50 * ms, 0);
  a.state = record::ProcessState::finalizing;
  job.tree.write("/proc/8/task/8/schedstat", "");  // as a process that is gone
  sampler.sample(100 * ms, nullptr);
  job.times(7, 90 * ms, 0);
  sampler.finish(1000 * ms, nullptr);
  CHECK(sampler.times(0).observed_ns == 100 * ms);
  CHECK(sampler.times(0).running_ns == 50 * ms);
  CHECK(sampler.times(1).observed_ns == 0);
}

TEST_CASE("what real readings cost, of 64 threads") {
  std::atomic<bool> over{false};
  std::atomic<int> begun{0};
  std::vector<pid_t> ids(64);
  std::vector<std::thread> threads;
  for (pid_t& id : ids)
    threads.emplace_back([&] {
      id = static_cast<pid_t>(::syscall(SYS_gettid));
      ++begun;
      while (!over) ::usleep(20'000);
    });
  while (begun < 64) ::usleep(1'000);
  const ProcTree proc;
  std::vector<KeptFile> files;
  for (const pid_t id : ids)
    files.push_back(proc.schedstat(static_cast<std::uint32_t>(::getpid()), static_cast<std::uint32_t>(id)));
  char buffer[128];
  using Clock = std::chrono::steady_clock;
  double best_us = 1e9;
  int good = 0;
  for (int round = 0; round < 200; ++round) {
    const auto start = Clock::now();
    for (const KeptFile& file : files) good += parse_schedstat(file.read(buffer, sizeof buffer)).has_value();
    best_us = std::min(best_us, std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 200 * 64);
  WARN("64 threads read in " << best_us << " us (best of 200)");

  // 64 ranks for real: they are all this process. What the sampler took of the time, whatever else the machine does.
  std::vector<std::unique_ptr<record::SegmentHeader>> headers;
  Sampler sampler;
  for (std::int32_t rank = 0; rank < 64; ++rank) {
    headers.push_back(std::make_unique<record::SegmentHeader>());
    headers.back()->pid = static_cast<std::uint32_t>(::getpid());
    headers.back()->state = record::ProcessState::running;
    REQUIRE(sampler.add(rank, *headers.back(), ""));
  }
  const auto start = Clock::now();
  std::chrono::nanoseconds now{0};
  for (; now < std::chrono::seconds(3) || sampler.samples() < 10; now = Clock::now() - start) {
    sampler.sample(1 + now.count(), nullptr);
    ::usleep(4'000);
  }
  const double share = std::chrono::duration<double>(sampler.spent()) / now;
  WARN("64 ranks: " << sampler.samples() << " samples in " << 1e-9 * static_cast<double>(now.count()) << " s, "
                    << 100 * share << " % of a core");
  CHECK(share < 0.05);  // 0.5 % is meant; ten times as much would be a defect
}

TEST_CASE("where a rank is bound is known at once; changes are seen and counted, news are told once") {
  Job job;
  record::SegmentHeader &a = job.rank(7, "1,4-6"), &b = job.rank(8, "0-7");
  job.busy(0, 0);
  Sampler sampler(job.tree.root(), ticks, 1e9);
  REQUIRE(sampler.add(3, a, "/app"));
  REQUIRE(sampler.add(1, b, "/app"));
  CHECK(sampler.binding_news(3) == RankBinding{3, {{1, 1}, {4, 6}}, 0});
  CHECK_FALSE(sampler.binding_news(3));
  CHECK_FALSE(sampler.binding_news(0));  // not here
  sampler.sample(0, nullptr);
  CHECK_FALSE(sampler.binding_news(3));
  job.tree.write("/proc/7/status", "Cpus_allowed_list:\t2\n");
  std::int64_t at = 0;
  for (; at < 6000 * ms; at += 50 * ms) sampler.sample(at, nullptr);
  CHECK(sampler.binding_news(3) == RankBinding{3, {{2, 2}}, 1});
  job.tree.write("/proc/7/status", "");  // it cannot be read any more: the last that was seen stands
  for (; at < 12000 * ms; at += 50 * ms) sampler.sample(at, nullptr);
  CHECK_FALSE(sampler.binding_news(3));
  CHECK(sampler.bindings() == std::vector<RankBinding>{{1, {{0, 7}}, 0}, {3, {{2, 2}}, 1}});
}
