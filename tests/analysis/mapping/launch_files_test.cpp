#include "analysis/mapping/launch_files.hpp"

#include <catch2/catch.hpp>

using namespace pclscope::mapping;

namespace {
const std::vector<std::int32_t> nodes = {1, 0, 0, 1};
const std::vector<std::string> names = {"a", "b"};
std::string text(LaunchFormat format) {
  const auto file = launch_file(format, nodes, names);
  REQUIRE(file);
  return *file;
}
}  // namespace

TEST_CASE("four ranks on two nodes, in the words of each launcher") {
  CHECK(text(LaunchFormat::plain) == "# rank node\n0 b\n1 a\n2 a\n3 b\n");
  CHECK(text(LaunchFormat::openmpi_rankfile) == "rank 0=b slot=0\nrank 1=a slot=0\nrank 2=a slot=1\nrank 3=b slot=1\n");
  CHECK(text(LaunchFormat::hydra) == "b:1\na:2\nb:1\n");
  CHECK(text(LaunchFormat::slurm) == "b\na\na\nb\n");
  CHECK(text(LaunchFormat::cray) == "# MPICH_RANK_REORDER_METHOD=3, 2 ranks on each node\n1,2\n0,3\n");
}

TEST_CASE("what a launcher would misread is refused") {
  CHECK_FALSE(launch_file(LaunchFormat::plain, {0, 2}, names));
  CHECK_FALSE(launch_file(LaunchFormat::plain, {0, -1}, names));
  CHECK_FALSE(launch_file(LaunchFormat::plain, {}, names));
  for (const char* name : {"", "a b", "a\nb", "a=b", "a:2"}) CHECK_FALSE(launch_file(LaunchFormat::hydra, {0}, {name}));
  CHECK_FALSE(launch_file(LaunchFormat::cray, {0, 1, 1}, names));  // the first node has a free place
  CHECK_FALSE(launch_file(LaunchFormat::cray, {1, 1}, names));
  CHECK(launch_file(LaunchFormat::cray, {1, 0, 0}, names));
}
