// What /proc and the cgroups say, in made-up trees.
#include "analysis/conditions/proc_tree.hpp"

#include <catch2/catch.hpp>

#include "tests/analysis/conditions/made_up_tree.hpp"

using namespace pclscope::conditions;
using pclscope::conditions::test::MadeUpTree;

TEST_CASE("what the kernel writes, and what it does not") {
  const auto times = parse_schedstat("113688 12874776 2\n");
  REQUIRE(times);
  CHECK(times->ran_ns == 113688);
  CHECK(times->waited_ns == 12874776);
  for (const char* bad : {"", "5", "x y", "-1 5 1"}) CHECK_FALSE(parse_schedstat(bad));

  const auto stat = parse_stat(MadeUpTree::stat(7, "a (b) c", 30, 12, 4, 3));
  REQUIRE(stat);
  CHECK(stat->name == "a (b) c");
  CHECK(stat->used_ticks == 42);
  CHECK(stat->threads == 4);
  CHECK(stat->core == 3);
  for (const char* bad : {"", "7 (x", "7 (x) R 1", "7 )x( R 1 2 3"}) CHECK_FALSE(parse_stat(bad));

  using Cores = std::vector<std::int32_t>;
  CHECK(parse_cpu_list("0-3,8") == Cores{0, 1, 2, 3, 8});
  CHECK(parse_cpu_list("\t5\n") == Cores{5});
  CHECK(parse_cpu_list("3,1,1-2") == Cores{1, 2, 3});
  CHECK(parse_cpu_list("") == Cores{});
  CHECK(parse_cpu_list("0-4000000000").size() <= 65'536);
  CHECK(parse_allowed("Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0,2\nMems_allowed:\t1\n") == Cores{0, 2});
  // Idle, waiting for disks and stolen time are not busy.
  CHECK(parse_busy("cpu  9 9 9 9 9 9 9 9\ncpu0 1 2 4 100 100 8 16 50 0 0\ncpu2 5 0 0 7 0 0 0 0\nintr 5\n") ==
        std::vector<std::uint64_t>{31, 0, 5});
  CHECK(parse_busy("nothing").empty());
}

TEST_CASE("a kept descriptor sees what is new") {
  const MadeUpTree tree;
  tree.write("/proc/7/task/7/schedstat", "10 20 1\n");
  const ProcTree proc(tree.root());
  const KeptFile file = proc.schedstat(7, 7);
  REQUIRE(file.open());
  char buffer[64];
  CHECK(parse_schedstat(file.read(buffer, sizeof buffer))->ran_ns == 10);
  tree.write("/proc/7/task/7/schedstat", "11 20 1\n");
  CHECK(parse_schedstat(file.read(buffer, sizeof buffer))->ran_ns == 11);
  CHECK_FALSE(proc.schedstat(7, 8).open());
}

TEST_CASE("a number is the process that it should be") {
  const MadeUpTree tree;
  tree.link("/proc/7/exe", "/home/me/app");
  const ProcTree proc(tree.root());
  CHECK(proc.is_process(7, "/home/me/app"));
  CHECK(proc.is_process(7, "/home/me"));  // cut off by who wrote it down
  CHECK_FALSE(proc.is_process(7, "/usr/bin/other"));
  CHECK_FALSE(proc.is_process(8, "/home/me/app"));
}

TEST_CASE("quotas of cgroups, version 1") {
  const MadeUpTree tree;
  tree.write("/proc/7/cgroup", "5:memory:/job\n1:cpu,cpuacct:/job/step\n0::/\n");
  const std::string cpu = "/sys/fs/cgroup/cpu";
  tree.write(cpu + "/job/step/cpu.cfs_quota_us", "-1\n");
  tree.write(cpu + "/job/step/cpu.cfs_period_us", "100000\n");
  const ProcTree proc(tree.root());
  CHECK_FALSE(proc.quota(7));
  tree.write(cpu + "/job/cpu.cfs_quota_us", "150000\n");
  tree.write(cpu + "/job/cpu.cfs_period_us", "100000\n");
  tree.write(cpu + "/job/cpu.stat", "nr_periods 22\nnr_throttled 16\nthrottled_time 120242784\n");
  const auto quota = proc.quota(7);
  REQUIRE(quota);  // of the group above
  CHECK(quota->cores == 1.5);
  CHECK(quota->periods == 22);
  CHECK(quota->throttled == 16);
  tree.write(cpu + "/job/step/cpu.cfs_quota_us", "50000\n");
  CHECK(proc.quota(7)->cores == 0.5);  // the tighter one
  CHECK_FALSE(proc.quota(8));
}

TEST_CASE("quotas of cgroups, version 2") {
  const MadeUpTree tree;
  tree.write("/proc/7/cgroup", "0::/slice/job\n");
  tree.write("/sys/fs/cgroup/slice/job/cpu.max", "max 100000\n");
  const ProcTree proc(tree.root());
  CHECK_FALSE(proc.quota(7));
  tree.write("/sys/fs/cgroup/slice/job/cpu.max", "50000 100000\n");
  tree.write("/sys/fs/cgroup/slice/job/cpu.stat", "usage_usec 5\nnr_periods 40\nnr_throttled 30\nthrottled_usec 9\n");
  const auto quota = proc.quota(7);
  REQUIRE(quota);
  CHECK(quota->cores == 0.5);
  CHECK(quota->throttled == 30);
  // In a container that sees only its own part of the tree.
  tree.write("/proc/7/cgroup", "0::/../../elsewhere\n");
  tree.write("/sys/fs/cgroup/cpu.max", "25000 100000\n");
  CHECK(proc.quota(7)->cores == 0.25);
}

TEST_CASE("all processes") {
  const MadeUpTree tree;
  tree.write("/proc/7/stat", MadeUpTree::stat(7, "x", 1, 2, 1, 0));
  tree.write("/proc/stat", "cpu 1\n");
  tree.write("/proc/8x/stat", "");
  const ProcTree proc(tree.root());
  CHECK(proc.processes() == std::vector<std::uint32_t>{7});
  CHECK(proc.process(7)->used_ticks == 3);
  CHECK_FALSE(proc.process(9));
  CHECK(ProcTree("/nowhere").processes().empty());
}
