// Nodes of a run in a topology's file, by short and full names.
#include "analysis/mapping/node_match.hpp"

#include <catch2/catch.hpp>

using namespace pclscope;
using mapping::goes_by_name;
using mapping::match_nodes;
using mapping::Topology;

namespace {

Topology slurm(const std::string& nodes) {
  auto topology = Topology::parse_slurm("SwitchName=s Nodes=" + nodes + "\n", "the file");
  REQUIRE(topology);
  return std::move(*topology);
}

}  // namespace

TEST_CASE("short and full names, in any order") {
  const Topology t = slurm("n[1-4],login.site.org");
  CHECK(*match_nodes(t, {"n3", "n1.site.org", "login"}) == std::vector<std::int32_t>{2, 0, 4});
  CHECK(goes_by_name(t, {"x"}));
  CHECK_FALSE(goes_by_name(t, {}));
  const auto plain = Topology::parse("nodes:4");
  REQUIRE(plain);
  CHECK_FALSE(goes_by_name(*plain, {"0"}));
}

TEST_CASE("who is not there, or might be two, is an error with its name") {
  const Topology t = slurm("n1.a.org,n1.b.org,n2");
  CHECK(*match_nodes(t, {"n1.b.org", "n2"}) == std::vector<std::int32_t>{1, 2});  // the whole name is there
  const auto message = [&](const std::vector<std::string>& names) {
    const auto nodes = match_nodes(t, names);
    REQUIRE_FALSE(nodes);
    return nodes.error().message;
  };
  CHECK(message({"n2", "n9"}).find("no node 'n9'") != std::string::npos);
  CHECK(message({"n1"}).find("several nodes that may be 'n1'") != std::string::npos);
  CHECK(message({"n2", "n2.a.org"}).find("are both n2") != std::string::npos);
}
