// What a process's memory map says of MPI and the preloaded library.
#include "analysis/aggregator/unreached.hpp"

#include <catch2/catch.hpp>

using pclscope::aggregator::Reach;
using pclscope::aggregator::reach_of;

namespace {

std::string maps(std::initializer_list<const char*> files) {
  std::string text = "55d0c0000000-55d0c0010000 r--p 00000000 08:01 11 /usr/bin/app\n";
  for (const char* file : files) text += std::string("7f0000000000-7f0000010000 r-xp 00000000 08:01 12 ") + file + "\n";
  return text;
}

constexpr const char* library = "/opt/pclscope/lib/libpclscope-openmpi.so";
constexpr const char* openmpi = "/usr/lib/x86_64-linux-gnu/libmpi.so.40.30.4";
constexpr const char* mpich = "/usr/lib/x86_64-linux-gnu/libmpich.so.12.2.2";
constexpr const char* inside_openmpi = "/usr/lib/x86_64-linux-gnu/openmpi/lib/openmpi3/mca_pml_ob1.so";
constexpr const char* inside_mpich = "/usr/lib/x86_64-linux-gnu/ucx/libuct_cma.so.0.0.0";

}  // namespace

TEST_CASE("where a process stands with MPI and the preloaded library") {
  CHECK(reach_of(maps({})) == Reach::no_mpi);
  CHECK(reach_of(maps({library})) == Reach::no_mpi);
  CHECK(reach_of(maps({library, openmpi})) == Reach::reached);
  CHECK(reach_of(maps({library, mpich})) == Reach::reached);
  CHECK(reach_of(maps({openmpi})) == Reach::without_library);
  CHECK(reach_of(maps({mpich, inside_mpich})) == Reach::without_library);
  CHECK(reach_of(maps({library, openmpi, inside_openmpi})) == Reach::around_library);
  CHECK(reach_of(maps({library, mpich, inside_mpich})) == Reach::around_library);
  CHECK(reach_of(maps({library, inside_mpich})) == Reach::no_mpi);  // UCX by itself
  CHECK(reach_of("") == Reach::no_mpi);                             // it has ended
}
