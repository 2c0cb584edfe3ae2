// The list of loaded objects says the same as glibc's own function, which older systems do not have.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "interpose/libc/find_object.hpp"
#include "tests/seed.hpp"

#ifdef DLFO_STRUCT_HAS_EH_DBASE
namespace {

struct Range {
  std::uintptr_t begin, end;
};

int note(dl_phdr_info* object, size_t, void* data) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD) static_cast<std::vector<Range>*>(data)->push_back({begin, begin + part.p_memsz});
  }
  return 0;
}

}  // namespace

TEST_CASE("find object: frames are where glibc finds them, and objects are told apart as it does") {
  std::vector<Range> ranges;
  dl_iterate_phdr(note, &ranges);
  REQUIRE(ranges.size() > 8);  // this program, the C and C++ libraries, the loader
  std::mt19937_64 random(pclscope::test::random_seed());
  dl_find_object libc, libc_by_list;
  REQUIRE(_dl_find_object(reinterpret_cast<void*>(&getenv), &libc) == 0);
  REQUIRE(pclscope::find_object_in_list(reinterpret_cast<void*>(&getenv), &libc_by_list) == 0);
  int found = 0, of_libc = 0;
  for (int i = 0; i < 2000; ++i) {
    const Range& range = ranges[random() % ranges.size()];
    void* const address = reinterpret_cast<void*>(range.begin + random() % (range.end - range.begin));
    dl_find_object expected = {}, seen = {};
    if (_dl_find_object(address, &expected) != 0 || expected.dlfo_eh_frame == nullptr) continue;
    INFO("address " << address);
    REQUIRE(pclscope::find_object_in_list(address, &seen) == 0);
    CHECK(seen.dlfo_eh_frame == expected.dlfo_eh_frame);
    const bool same = expected.dlfo_link_map == libc.dlfo_link_map;
    CHECK((seen.dlfo_link_map == libc_by_list.dlfo_link_map) == same);
    ++found;
    of_libc += same;
  }
  CHECK(found > 500);
  CHECK(of_libc > 0);
  CHECK(of_libc < found);
}

TEST_CASE("find object: memory that no object holds") {
  const auto memory = std::make_unique<int>(0);
  dl_find_object seen;
  CHECK(pclscope::find_object_in_list(memory.get(), &seen) == -1);
  CHECK(pclscope::find_object_in_list(nullptr, &seen) == -1);
}
#endif
