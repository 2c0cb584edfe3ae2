// What stands in /proc/PID/maps, and processes that are not what they seem.
#include <catch2/catch.hpp>
#include <chrono>

#include "analysis/callsite/process_maps.hpp"
#include "analysis/callsite/site_table.hpp"
#include "analysis/values/site_key.hpp"
#include "tests/analysis/callsite/small_programs.hpp"

using namespace pclscope;
using namespace pclscope::callsite;
using namespace pclscope::testing;

namespace {

__attribute__((noinline)) std::uint64_t return_address() {
  return reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
}

std::string own_executable() { return std::filesystem::read_symlink("/proc/self/exe"); }

}  // namespace

TEST_CASE("executable mappings of files are taken, with blanks, line breaks and deletions in their names") {
  ProcessMaps maps;
  maps.take(
      "400000-401000 r--p 00000000 08:01 10                             /opt/my app/a.out\n"
      "401000-402000 r-xp 00001000 08:01 10                             /opt/my app/a.out\n"
      "7f0000000000-7f0000010000 r-xp 00002000 08:01 11                 /tmp/lib\\012x.so (deleted)\n"
      "7f0000010000-7f0000020000 rwxp 00000000 00:00 0 \n"
      "7ffff7fc1000-7ffff7fc3000 r-xp 00000000 00:00 0                  [vdso]\n"
      "nonsense\n-\n7f00-\n\n");
  bool certain = false;
  const auto place = maps.locate(0x401234, certain);
  REQUIRE(place);
  CHECK(place->offset == 0x1234);  // no such file: the place in it
  CHECK(maps.files()[place->file].path == "/opt/my app/a.out");
  CHECK_FALSE(maps.locate(0x400234, certain));
  CHECK(certain);
  const auto library = maps.locate(0x7f000000ffff, certain);
  REQUIRE(library);
  CHECK(library->offset == 0x11fff);
  CHECK(maps.files()[library->file].path == "/tmp/lib\nx.so");
  CHECK(maps.files()[library->file].deleted);
  for (const std::uint64_t address : {0x7f0000010000ull, 0x7ffff7fc1010ull, 0x402000ull, 0ull, ~0ull}) {
    CHECK_FALSE(maps.locate(address, certain));
  }
}

TEST_CASE("a later mapping takes the place of an earlier one, and only that") {
  ProcessMaps maps;
  maps.take("1000-9000 r-xp 00000000 08:01 1 /a\n9000-a000 r-xp 00000000 08:01 2 /b\n");
  maps.take("3000-4000 r-xp 00000000 08:01 3 /c\n");
  bool certain = false;
  CHECK(maps.files()[maps.locate(0x3000, certain)->file].path == "/c");
  CHECK(maps.files()[maps.locate(0x9000, certain)->file].path == "/b");
  CHECK_FALSE(maps.locate(0x1000, certain));  // it is not whole any more: rather nothing than a wrong module
}

TEST_CASE("processes that are gone, of somebody else, or no longer the same have unknown sites") {
  SiteTable table;
  const std::uint64_t here = return_address();
  table.add_process(0, static_cast<std::uint32_t>(::getpid()), own_executable());
  table.add_process(1, static_cast<std::uint32_t>(::getpid()), "/usr/bin/something-else");
  table.add_process(2, 0xffffffffu, "");
  CHECK(table.site_of(0, here) == 1);
  CHECK(table.site_of(1, here) == 0);
  CHECK(table.site_of(2, here) == 0);
  CHECK(table.site_of(3, here) == 0);
  CHECK(table.site_of(-1, here) == 0);
  CHECK(table.site_of(0, 0) == 0);
  const auto stack = reinterpret_cast<std::uint64_t>(&here);
  for (int i = 0; i < 1000; i++) CHECK(table.site_of(0, stack + static_cast<std::uint64_t>(i)) == 0);
  const Workshop shop;
  shop.write("idle.c", "#include <stdio.h>\nvoid called(int);\nint main(void) { called(1); getchar(); return 0; }\n");
  shop.shell("cc idle.c called.o -o idle");
  Running running(shop.path("idle"));
  const std::uint64_t address = running.next().address;
  table.add_process(4, running.pid(), shop.path("idle"));
  running.end();
  CHECK(table.site_of(4, address) == 2);  // it was read when it was welcomed
  CHECK(table.site_of(4, address + 0x7000000) == 0);
}

TEST_CASE("keys carry the address and the function through the matcher") {
  record::Event e{};
  e.function = 305;
  CHECK(site_key(e) == 0);
  e.site = 0x7fff'dead'beefull;
  CHECK(site_address(site_key(e)) == e.site);
  CHECK(site_function(site_key(e)) == 305);
}

TEST_CASE("messages get ids in place of addresses") {
  SiteTable table;
  const std::uint64_t here = return_address();
  table.add_process(0, static_cast<std::uint32_t>(::getpid()), own_executable());
  std::vector<Message> messages(3);
  record::Event e{};
  e.function = 328;
  e.site = here;
  messages[0].send_site = messages[1].recv_site = site_key(e);
  messages[2].destination = 5;  // nobody knows it
  messages[2].recv_site = site_key(e);
  table.translate(messages);
  CHECK(messages[0].send_site == 1);
  CHECK(messages[0].recv_site == 0);
  CHECK(messages[1].recv_site == 1);
  CHECK(messages[2].recv_site == 0);
  CHECK(table.site(1).mpi_function == 328);
}

TEST_CASE("a known site takes a few nanoseconds") {
  SiteTable table;
  table.add_process(0, static_cast<std::uint32_t>(::getpid()), own_executable());
  const std::uint64_t here = return_address();
  constexpr int calls = 10'000'000;
  std::uint64_t sum = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; i++) sum += table.site_of(0, here - static_cast<std::uint64_t>(i & 31));
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  CHECK(sum > 0);
  WARN("site_of: " << took.count() / calls << " ns");
}
