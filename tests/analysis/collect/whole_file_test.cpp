#include "analysis/collect/whole_file.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>

using pclscope::collect::whole_file;

TEST_CASE("a file that cannot be read is empty, whatever the reason") {
  CHECK(whole_file("/proc/" + std::to_string(::getpid()) + "/stat").find(std::to_string(::getpid())) == 0);
  CHECK(whole_file("/proc/self/no-such-file").empty());
  CHECK(whole_file("/proc/self/task").empty());  // it is opened, and reading fails: as that of a process that has ended
}
