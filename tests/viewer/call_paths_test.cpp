// Which frame of a call path is shown, and the tree of paths.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "interpose/record/functions.hpp"
#include "viewer/views/call_tree.hpp"
#include "viewer/views/site_text.hpp"

using namespace pclscope;
using namespace pclscope::views;

namespace {

constexpr auto a_send = static_cast<std::uint16_t>(record::Function::Send);

// Sites made from outside in; the line tells them apart.
struct Paths {
  std::vector<CallSite> sites;

  std::uint32_t at(const std::string& function, std::uint32_t line, std::uint32_t caller = 0,
                   std::uint16_t mpi_function = 0, const std::string& module = "/bin/app") {
    CallSite& site = sites.emplace_back();
    site.id = static_cast<std::uint32_t>(sites.size());
    site.module = module;
    site.offset = 16 * line;
    site.function = function;
    site.file = "/src/" + function.substr(0, function.find('(')) + ".c";
    site.line = line;
    site.mpi_function = mpi_function;
    site.caller = caller;
    return site.id;
  }
  std::string shown(std::uint32_t id) const { return Sites(sites).brief(id); }
};

// Three callers of put(), which calls MPI; and a call that does not go through it.
struct WithWrapper : Paths {
  std::uint32_t begin = at("__libc_start_call_main", 1, 0, 0, "/lib/libc.so.6");
  std::uint32_t main = at("main", 10, begin);
  std::uint32_t puts[4] = {};
  std::uint32_t direct = 0;
  explicit WithWrapper(int callers) {
    for (int i = 0; i < callers; ++i)
      puts[i] = at("put(int)", 77, at("step", 20 + static_cast<std::uint32_t>(i), main), a_send);
  }
};

}  // namespace

TEST_CASE("what three places or more call, and nearly all goes through, is a wrapper") {
  const WithWrapper two(2), three(3);
  CHECK(two.shown(two.puts[0]) == "put.c:77");
  CHECK(three.shown(three.puts[0]) == "step.c:20");
  CHECK(three.shown(three.puts[2]) == "step.c:22");
  CHECK(Sites(three.sites).find(three.puts[2])->mpi_function == a_send);
  CHECK(Sites(three.sites).place(three.puts[2])->function == "put(int)");
  CHECK(Sites(three.sites).with_caller(three.puts[2]) == "step.c:22, called from main.c:10");
  CHECK(Sites(two.sites).with_caller(two.puts[1]) == "put.c:77, called from step.c:21");
  // Instances of a template are one function.
  Paths instances;
  const std::uint32_t main = instances.at("main", 10), kinds = 3;
  std::uint32_t sends[kinds] = {};
  const char* const types[kinds] = {"int", "float", "Vec<float, 3>"};
  for (std::uint32_t i = 0; i < kinds; ++i)
    sends[i] =
        instances.at(std::string("void put<") + types[i] + ">(int)", 77, instances.at("step", 20 + i, main), a_send);
  CHECK(instances.shown(sends[1]) == "step.c:21");
  // A fourth call elsewhere: only three in four go through it.
  WithWrapper other(3);
  other.direct = other.at("reduce", 5, other.main, a_send);
  CHECK(other.shown(other.puts[0]) == "put.c:77");
}

TEST_CASE("a layer that functions of its own call is a wrapper, whatever else calls MPI; what does more is none") {
  Paths p;
  const std::uint32_t begin = p.at("__libc_start_call_main", 1, 0, 0, "/lib/libc.so.6"), main = p.at("main", 1, begin);
  std::uint32_t direct[4], calls[3], more[4];
  for (std::uint32_t i = 0; i < 4; ++i) direct[i] = p.at("main", 100 + i, begin, a_send);
  for (std::uint32_t i = 0; i < 3; ++i)
    calls[i] = p.at("low", 90, p.at("high", 80, p.at("step_" + std::to_string(i), 20 + i, main)), a_send);
  CHECK(p.shown(calls[0]) == "step_0.c:20");
  CHECK(p.shown(calls[2]) == "step_2.c:22");
  CHECK(Sites(p.sites).with_caller(calls[1]) == "step_1.c:21, called from main.c:1");
  CHECK(p.shown(direct[3]) == "main.c:103");
  // Called by as many, but it has four things to do.
  for (std::uint32_t i = 0; i < 4; ++i)
    more[i] = p.at("part_" + std::to_string(i), 60,
                   p.at("solve", 50 + i, p.at("use_" + std::to_string(i), 40 + i, main)), a_send);
  CHECK(p.shown(more[1]) == "part_1.c:60");
  // Another library's, which calls everything from everywhere.
  Paths python;
  std::uint32_t last = 0;
  python.at("direct", 1, python.at("main", 2), a_send);
  for (std::uint32_t i = 0; i < 3; ++i)
    last = python.at("isend", 7,
                     python.at("eval", 8, python.at("run_" + std::to_string(i), 9 + i, 0, 0, "/lib/libpython.so"), 0,
                               "/lib/libpython.so"),
                     a_send);
  CHECK(python.shown(last) == "isend.c:7");
}

TEST_CASE("a wrapper of several layers, and a recursive one") {
  Paths p;
  const std::uint32_t main = p.at("main", 1);
  std::uint32_t calls[3], again[3];
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::uint32_t step = p.at("step", 20 + i, main);
    calls[i] = p.at("inner", 90, p.at("outer", 80, step), a_send);
    again[i] = p.at("inner", 90, p.at("outer", 80, p.at("outer", 85, step)), a_send);
  }
  CHECK(p.shown(calls[0]) == "step.c:20");
  CHECK(p.shown(calls[2]) == "step.c:22");
  CHECK(p.shown(again[1]) == "step.c:21");
}

TEST_CASE("frames of MPI's libraries and those that are to be skipped are not shown") {
  Paths p;
  const std::uint32_t main = p.at("main", 1), own = p.at("solve", 30, main);
  const std::uint32_t binding = p.at("mpi_send_f08_", 3, own, a_send, "/usr/lib/libmpi_usempif08.so.40");
  CHECK(p.shown(binding) == "solve.c:30");
  Sites::skip({"solve"});
  CHECK(p.shown(binding) == "main.c:1");
  Sites::skip({});
  // Without anybody outside, it stays.
  Paths alone;
  CHECK(alone.shown(alone.at("mpi_send_f08_", 3, 0, a_send, "/usr/lib/libmpi_usempif08.so.40")) == "mpi_send_f08_.c:3");
}

TEST_CASE("damaged callers end a path") {
  Paths p;
  const std::uint32_t a = p.at("a", 1, 7, a_send), b = p.at("b", 2, 2, a_send);
  const Sites sites(p.sites);
  CHECK(sites.path(a).size() == 1);
  CHECK(sites.path(b).size() == 1);
  CHECK(sites.path(9).empty());
  CHECK(sites.caller(a) == nullptr);
}

TEST_CASE("the tree adds up, and its stacks are those of flame graphs") {
  const WithWrapper p(3);
  std::vector<SiteActivity> activity(4);
  for (std::size_t i = 0; i < 3; ++i) {
    activity[i].site = p.puts[i];
    activity[i].calls = i + 1;
    activity[i].inside_s = 0.5;
    activity[i].late_sender_s = 0.25;
  }
  activity[3].inside_s = 0.001;  // not known where
  activity[3].calls = 1;
  const CallTreeNode root = call_tree(activity, Sites(p.sites));
  CHECK(root.calls == 7);
  CHECK(root.inside_s == Approx(1.501));
  REQUIRE(root.callees.size() == 2);
  const CallTreeNode& main = root.callees[0];
  CHECK(main.function == "main");
  CHECK(main.place == "main.c:10");
  CHECK(main.lost_s == Approx(0.75));
  REQUIRE(main.callees.size() == 3);
  CHECK(main.callees[0].callees[0].callees[0].function == "MPI_Send");
  CHECK(call_tree_stacks(root) ==
        std::vector<std::string>{"main main.c:10;step step.c:20;put(int) put.c:77;MPI_Send 500000",
                                 "main main.c:10;step step.c:21;put(int) put.c:77;MPI_Send 500000",
                                 "main main.c:10;step step.c:22;put(int) put.c:77;MPI_Send 500000", "unknown 1000"});
  const auto lines = call_tree_lines(root, 0.01, 100);
  CHECK(lines.size() == 1 + 1 + 3 * 3 + 1);
  CHECK(lines.back().find("... 1 more") != std::string::npos);
  CHECK(call_tree_json(root)["callees"][0]["callees"].size() == 3);
}
