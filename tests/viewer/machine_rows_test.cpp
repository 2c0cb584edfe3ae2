// What nodes are inside, and where ranks are bound, as people and programs see it.
#include "viewer/views/machine_rows.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace pclscope;

namespace {

// Two packages of two cores with two hardware threads each.
Machine small_machine() {
  Machine machine;
  for (std::int32_t t = 0; t < 8; ++t) machine.threads.push_back({t, t / 4, t / 4, t / 4, -1, t / 2});
  return machine;
}

Snapshot with_machine() {
  Snapshot s;
  s.application.ranks = 5;
  s.application.nodes = {"n1", "n2"};
  s.application.node_of_rank = {0, 0, 0, 0, 1};
  s.found.machines = {small_machine()};
  s.found.of_node = {0, 0};
  s.found.bindings = {{0, {{0, 1}}, 0}, {1, {{1, 1}}, 2}, {2, {{4, 7}}, 0}, {3, {{0, 7}}, 0}, {4, {{2, 3}}, 0}};
  s.traffic = {
      {0, 1, 10, 1000, 10, 1e-5, 5e-6}, {1, 2, 5, 50, 0, 0, 0}, {2, 4, 1, 8, 1, 3e-6, 3e-6}, {3, 0, 2, 16, 2, 4e-6, 0}};
  return s;
}

bool has(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& l) { return l.find(text) != l.npos; });
}

}  // namespace

TEST_CASE("a machine in words") {
  CHECK(views::machine_text(small_machine()) == "2 packages, 2 NUMA domains, 2 L3 caches, 4 cores, 8 hardware threads");
  CHECK(views::machine_text({{{0, 0, -1, -1, -1, 0}}}) == "1 package, 1 core, 1 hardware thread");
}

TEST_CASE("machine, bindings and distances: text, rows and JSON") {
  const Snapshot s = with_machine();
  const auto lines = views::machine_lines(s, s.traffic, 20, 0);
  CHECK(has(lines, "2 nodes (n1, n2), each: 2 packages"));
  CHECK(has(lines, "ranks 0,1 are bound to the same core, 0 of n1 (2 hardware threads)"));
  CHECK(has(lines, "not bound: ranks 3"));
  CHECK(has(lines, "1.00 us"));  // of each message on the same core
  const auto json = views::machine_json(s, s.traffic, 3);
  CHECK(json["machines"].size() == 1);
  CHECK(json["machines"][0]["nodes"] == session::Json({"n1", "n2"}));
  REQUIRE(json["ranks"].size() == 3);
  CHECK(json["ranks"][1] == session::Json({{"rank", 1},
                                           {"node", "n1"},
                                           {"hardware_threads", "1"},
                                           {"bound", true},
                                           {"package", 0},
                                           {"numa", 0},
                                           {"l3", 0},
                                           {"l2", nullptr},
                                           {"core", 0},
                                           {"changes", 2}}));
  CHECK(json["ranks"][2]["core"].is_null());
  CHECK(json["shared_cores"][0]["ranks"] == session::Json({0, 1}));
  const auto messages = [&](const std::string& distance) {
    for (const auto& d : json["distances"])
      if (d["distance"] == distance) return d["messages"].get<int>();
    return -1;
  };
  CHECK((messages("same-core") == 10 && messages("other-package") == 5 && messages("other-node") == 1 &&
         messages("not-bound") == 2 && messages("not-known") == 0));
  CHECK(views::binding_rows(s, 2).cells.size() == 2);
}

TEST_CASE("nothing is known: one line, and the messages all the same") {
  Snapshot s = with_machine();
  s.found = {};
  const auto lines = views::machine_lines(s, s.traffic, 20, 0);
  CHECK(has(lines, "is not known: a dump of an older version"));
  CHECK(has(lines, "not known"));
  CHECK_FALSE(has(lines, "may run on"));
  CHECK(views::machine_json(s, s.traffic, 20)["ranks"].empty());
}
