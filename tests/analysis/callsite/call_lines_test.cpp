// Return addresses of running programs lead to the line on which the call is written, however the program was built.
#include <catch2/catch.hpp>
#include <set>

#include "analysis/callsite/call_sites.hpp"
#include "tests/analysis/callsite/small_programs.hpp"
#include "tests/patience.hpp"

using namespace pclscope;
using namespace pclscope::callsite;
using namespace pclscope::testing;
using namespace std::chrono_literals;

namespace {

// Three calls: from main, from an inlined and from an ordinary function.
constexpr const char* three_calls = R"(#include <stdio.h>
void called(int line);
static inline __attribute__((always_inline)) void inlined(void) {
  called(__LINE__); __asm__ volatile("");
}
__attribute__((noinline)) void ordinary(int n) {
  if (n > 0)
    called(
      __LINE__ - 1);
  __asm__ volatile("");
}
int main(int argc, char** argv) {
  called(__LINE__);
  inlined();
  ordinary(argc);
  getchar();
  return 0;
}
)";

struct Found {
  CallSite site;
  std::uint32_t line;  // that the program named
};

// The calls that a program makes, as the aggregator would tell them.
std::vector<Found> find_calls(const std::string& program, int count, const std::string& executable) {
  Running running(program);
  CallSites sites(LINES_PROGRAM);
  sites.table().add_process(0, running.pid(), executable);
  std::vector<Found> found(static_cast<std::size_t>(count));
  Snapshot snapshot;
  for (Found& f : found) {
    const Running::Call call = running.next();
    f.line = call.line;
    const std::uint32_t id = sites.site_of(0, call.address, 328);
    CHECK(sites.site_of(0, call.address) == id);
    snapshot.site_activity.emplace_back().site = id;
  }
  sites.resolve_all(test::patience);
  sites.describe(snapshot);
  for (std::size_t i = 0; i < found.size(); i++) {
    for (const CallSite& site : snapshot.sites) {
      if (site.id == snapshot.site_activity[i].site) found[i].site = site;
    }
  }
  return found;
}

std::string addr2line(const Workshop& shop, const CallSite& site) {
  std::ostringstream command;
  command << "addr2line -C -f -e '" << site.module << "' 0x" << std::hex << site.offset - 1;
  return shop.ask(command.str());
}

void check_three_calls(const Workshop& shop, const std::string& name, bool one_file = true) {
  const std::string program = shop.path(name);
  const auto calls = find_calls(program, 3, program);
  const char* functions[] = {"main", "inlined", "ordinary"};
  for (int i = 0; i < 3; i++) {
    const CallSite& site = calls[i].site;
    INFO(name << ", call from " << functions[i]);
    CHECK(site.module == program);
    CHECK(site.line == calls[i].line);
    CHECK(site.function == functions[i]);
    CHECK(site.file == shop.path("three.c"));
    CHECK(site.mpi_function == 328);
    CHECK(site.build_id.size() == 40);
    // binutils do not look for separate debug files everywhere.
    const std::string other = one_file ? addr2line(shop, site) : "";
    if (one_file) CHECK(other.starts_with(site.function + "\n"));
    if (one_file) CHECK(other.find(":" + std::to_string(site.line)) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("calls of programs built in many ways are found on their lines") {
  const Workshop shop;
  shop.write("three.c", three_calls);
  for (const char* options :
       {"-g -O0 -fPIE -pie", "-g -O2 -fPIE -pie", "-g -O0 -fno-pie -no-pie", "-g -O2 -fno-pie -no-pie",
        "-g -gdwarf-4 -O2", "-g -gdwarf-5 -O2 -flto", "-g -O2 -static", "-g1 -O2", "-g -O2 -gz",
        "-g -O2 -ffunction-sections -Wl,--gc-sections -Wl,-z,separate-code", "-g -O2 -Wl,-z,noseparate-code"}) {
    INFO(options);
    // An absolute path, as build systems give it: that is what the debug information says then.
    shop.shell(std::string("cc ") + options + " '" + shop.path("three.c") + "' called.o -o program");
    check_three_calls(shop, "program");
  }
}

TEST_CASE("the same call has the same id in all ranks, different calls have different ids") {
  const Workshop shop;
  shop.write("three.c", three_calls);
  shop.shell("cc -g -O0 -fPIE -pie three.c called.o -o program");
  SiteTable table;
  std::vector<std::unique_ptr<Running>> ranks;
  std::set<std::uint64_t> first_addresses;
  for (std::int32_t rank = 0; rank < 3; rank++) {
    Running& running = *ranks.emplace_back(std::make_unique<Running>(shop.path("program")));
    table.add_process(rank, running.pid(), shop.path("program"));
    for (std::uint32_t id = 1; id <= 3; id++) {
      const std::uint64_t address = running.next().address;
      if (id == 1) first_addresses.insert(address);
      CHECK(table.site_of(rank, address) == id);
    }
  }
  CHECK(table.size() == 3);
  CHECK(table.modules().size() == 1);
  if (first_addresses.size() == 1) WARN("addresses are not random here: not tested");
}

TEST_CASE("a library that is loaded later, from a path with blanks, is found") {
  const Workshop shop;
  shop.write("library.c",
             "void called(int line);\nvoid enter(void) {\n  called(__LINE__);\n  __asm__ volatile(\"\");\n}\n");
  shop.write("loader.c", R"(#include <dlfcn.h>
#include <stdio.h>
void called(int line);
int main(int argc, char** argv) {
  called(__LINE__);
  getchar();
  void* library = dlopen("./with two  blanks.so", RTLD_NOW);
  ((void (*)(void))dlsym(library, "enter"))();
  getchar();
  return 0;
})");
  shop.shell("cc -g -O2 -shared -fPIC library.c called.o -o 'with two  blanks.so'");
  shop.shell("cc -g -O2 loader.c called.o -rdynamic -o loader -ldl");
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(std::filesystem::path(shop.path("loader")).parent_path());
  Running running(shop.path("loader"));
  std::filesystem::current_path(before);
  CallSites sites(LINES_PROGRAM);
  sites.table().add_process(0, running.pid(), shop.path("loader"));
  REQUIRE(sites.site_of(0, running.next().address) == 1);
  running.go_on();
  const Running::Call call = running.next();
  REQUIRE(sites.site_of(0, call.address) == 2);
  sites.resolve_all(test::patience);
  const auto news = sites.news();
  REQUIRE(news.size() == 2);
  CHECK(news[1].module == shop.path("with two  blanks.so"));
  CHECK(news[1].line == call.line);
  CHECK(news[1].function == "enter");
}

TEST_CASE("C++: functions are demangled, template and namespace included") {
  const Workshop shop;
  shop.write("names.cpp", R"(#include <cstdio>
extern "C" void called(int line);
namespace solver {
template <class T> struct Grid {
  __attribute__((noinline)) void exchange(T, const char*) { called(__LINE__); asm volatile(""); }
};
}
int main() { solver::Grid<double>().exchange(1, ""); std::getchar(); }
)");
  shop.shell("c++ -g -O2 names.cpp called.o -o names");
  const auto calls = find_calls(shop.path("names"), 1, "");
  CHECK(calls[0].site.line == calls[0].line);
  CHECK(calls[0].site.function == "solver::Grid<double>::exchange(double, char const*)");
}

TEST_CASE("Fortran: the user's line, in the program, a module and a contained procedure") {
  const Workshop shop;
  if (!shop.try_shell("gfortran --version")) {
    WARN("skipped: no gfortran");
    return;
  }
  shop.write("calls.F90", R"(module halo
  integer, volatile :: after = 0
  interface
    subroutine called(line) bind(C)
      use iso_c_binding
      integer(c_int), value :: line
    end subroutine
  end interface
contains
  subroutine exchange()
    call called(__LINE__)
    after = after + 1  ! else the call may become a jump, which leaves no trace
  end subroutine
end module
program ring
  use halo
  call called(__LINE__)
  call exchange()
  call inner()
  read(*, *, end=1)
1 continue
contains
  subroutine inner()
    call called(__LINE__)
    after = after + 1
  end subroutine
end program
)");
  for (const char* options : {"-O0", "-O2"}) {
    INFO(options);
    shop.shell(std::string("gfortran -g -fno-inline ") + options + " calls.F90 called.o -o calls");
    const auto calls = find_calls(shop.path("calls"), 3, shop.path("calls"));
    for (const Found& call : calls) {
      CHECK(call.site.line == call.line);
      CHECK(call.site.file.ends_with("/calls.F90"));
    }
    CHECK(calls[0].site.function == "ring");
    CHECK(calls[1].site.function == "exchange");
    CHECK(calls[2].site.function == "inner");
  }
}

TEST_CASE("debug information in a separate file, by link and by build-id") {
  const Workshop shop;
  shop.write("three.c", three_calls);
  const std::string compile = "cc -g -O2 '" + shop.path("three.c") + "' called.o -o program";
  const std::string split = "objcopy --only-keep-debug program program.debug && strip program";
  shop.shell(compile + " && " + split + " && objcopy --add-gnu-debuglink=program.debug program");
  check_three_calls(shop, "program", false);
  shop.shell("mkdir .debug && mv program.debug .debug/");
  check_three_calls(shop, "program", false);
  shop.shell("rm -r .debug && " + compile + " && " + split + " && mv program.debug elsewhere");
  const auto without = find_calls(shop.path("program"), 3, "");
  CHECK(without[0].site.line == 0);
  const std::string id = without[0].site.build_id;
  REQUIRE(id.size() == 40);
  const std::string folder = "symbols/.build-id/" + id.substr(0, 2);
  shop.shell("mkdir -p " + folder + " && mv elsewhere " + folder + "/" + id.substr(2) + ".debug");
  ::setenv("PCLSCOPE_DEBUG_DIRECTORIES", shop.path("symbols").c_str(), 1);
  const auto with = find_calls(shop.path("program"), 3, "");
  ::unsetenv("PCLSCOPE_DEBUG_DIRECTORIES");
  for (const Found& call : with) CHECK(call.site.line == call.line);
}

TEST_CASE("without debug information the nearest symbol is told, and without symbols nothing is made up") {
  const Workshop shop;
  shop.write("three.c", three_calls);
  shop.shell("cc -O2 three.c called.o -rdynamic -o symbols");
  auto calls = find_calls(shop.path("symbols"), 3, "");
  CHECK(calls[0].site.function == "main");
  CHECK(calls[1].site.function == "main");  // inlined: symbols do not know
  CHECK(calls[2].site.function == "ordinary");
  shop.shell("strip symbols");  // dynamic symbols stay
  calls = find_calls(shop.path("symbols"), 3, "");
  CHECK(calls[2].site.function == "ordinary");
  shop.shell("cc -O2 three.c called.o -o bare && strip bare");
  calls = find_calls(shop.path("bare"), 3, "");
  for (const Found& call : calls) {
    CHECK(call.site.id != 0);
    CHECK(call.site.module == shop.path("bare"));
    CHECK(call.site.function.empty());
    CHECK(call.site.file.empty());
    CHECK(call.site.line == 0);
  }
}

TEST_CASE("a program without build-id has lines while it runs") {
  const Workshop shop;
  shop.write("three.c", three_calls);
  shop.shell("cc -g -O2 three.c called.o -Wl,--build-id=none -o program");
  const auto calls = find_calls(shop.path("program"), 3, shop.path("program"));
  CHECK(calls[2].site.build_id.empty());
  for (const Found& call : calls) CHECK(call.site.line == call.line);
}
