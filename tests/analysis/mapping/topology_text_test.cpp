// What users write: what is understood, and what is said of the rest.
#include <catch2/catch.hpp>
#include <fstream>

#include "analysis/mapping/topology.hpp"
#include "tests/analysis/mapping/temporary_file.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::mapping;

namespace {

std::string refusal(const std::string& text) {
  const auto topology = Topology::parse(text);
  INFO(text);
  REQUIRE_FALSE(topology);
  CHECK(topology.error().message.find('\n') == std::string::npos);
  return topology.error().message;
}

std::string refusal_of_file(const std::string& content) {
  const test::TemporaryFile file(content);
  const std::string message = refusal("edges:" + file.path());
  REQUIRE(message.rfind(file.path(), 0) == 0);
  return message.substr(file.path().size());
}

}  // namespace

TEST_CASE("malformed topologies are refused in one line that says what is wrong") {
  using Catch::Contains;
  for (const char* text : {"", ":", "torus", "ring:4", "Torus:4", "torus4x4"})
    CHECK_THAT(refusal(text), Contains("is none of: nodes:16, torus:"));
  CHECK_THAT(refusal("torus:"), Contains("nothing behind the colon"));
  CHECK_THAT(refusal("torus:4x"), Contains("number is missing"));
  CHECK_THAT(refusal("torus:x4"), Contains("number is missing"));
  CHECK_THAT(refusal("torus:4xx4"), Contains("number is missing"));
  CHECK_THAT(refusal("torus:4,4"), Contains("unexpected ',4'"));
  CHECK_THAT(refusal("torus:4mm"), Contains("unexpected 'm'"));
  CHECK_THAT(refusal("torus:0x4"), Contains("below 1"));
  CHECK_THAT(refusal("torus:-4"), Contains("below 1"));
  CHECK_THAT(refusal("torus:4 "), Contains("unexpected"));
  CHECK_THAT(refusal("torus:99999999999999999999"), Contains("more than 1048576 nodes"));
  CHECK_THAT(refusal("torus:1024x1025"), Contains("more than 1048576 nodes"));
  CHECK_THAT(refusal("torus:65536x65536x65536x65536x65536"), Contains("more than 1048576 nodes"));
  CHECK_THAT(refusal("torus:1" + std::string(200, 'x')), Contains("number is missing"));
  CHECK_THAT(refusal("torus:2x2x4@AB"), Contains("each dimension's letter"));
  CHECK_THAT(refusal("torus:2x2x4@ABB"), Contains("each dimension's letter"));
  CHECK_THAT(refusal("torus:2x2x4@ABD"), Contains("each dimension's letter"));
  CHECK_THAT(refusal("torus:2x2x4@"), Contains("each dimension's letter"));
  CHECK_THAT(refusal("hyperx:4mx4"), Contains("only a torus"));
  CHECK_THAT(refusal("hyperx:65536"), Contains("links"));
  CHECK_THAT(refusal("nodes:4x4"), Contains("one number"));
  CHECK_THAT(refusal("nodes:4m"), Contains("only a torus"));
  CHECK_THAT(refusal("dragonfly:4x4"), Contains("GROUPSxROUTERSxNODES"));
  CHECK_THAT(refusal("dragonfly:1x100000x1"), Contains("links"));
  CHECK_THAT(refusal("fattree:1048576x2"), Contains("nodes"));
  std::string many = "torus:1";
  for (int i = 0; i < 40; ++i) many += "x1";
  CHECK_THAT(refusal(many), Contains("more than 32 sizes"));
  CHECK_THAT(refusal(std::string("torus:4\0x4", 10)), Contains("unexpected"));
}

TEST_CASE("malformed edge lists are refused with the line's number") {
  using Catch::Contains;
  CHECK_THAT(refusal("edges:/does/not/exist"), Contains("cannot read /does/not/exist"));
  CHECK_THAT(refusal("edges:/"), Contains("/"));
  CHECK_THAT(refusal_of_file(""), Contains("no links in it"));
  CHECK_THAT(refusal_of_file("# nothing\n\n"), Contains("no links in it"));
  CHECK_THAT(refusal_of_file("a b\nb c d\n"), Contains(" line 2: two names"));
  CHECK_THAT(refusal_of_file("a b\n\n# x\nb\n"), Contains(" line 4: two names"));
  CHECK_THAT(refusal_of_file("a b\nb b\n"), Contains(" line 2: a link from 'b' to itself"));
  CHECK_THAT(refusal_of_file("a b\nc d\n"), Contains("not connected: no way from 'a' to 'c'"));
  CHECK_THAT(refusal_of_file("a b\nnode z\n"), Contains("not connected"));
  CHECK_THAT(refusal_of_file("a b\n" + std::string(10'000, 'x')), Contains(" line 2: longer than"));
}

TEST_CASE("names become vertices: nodes first, by their lines, else by number, else as they appear") {
  const test::TemporaryFile by_line("s1 h2\ns1 h1\nnode h1\nnode h2\nnode h1\ns1 h1\n"), by_number("10 2\n2 1\n1 10\n"),
      as_seen("b a\na c\n");
  const auto lines = Topology::parse("edges:" + by_line.path());
  REQUIRE(lines);
  CHECK(lines->nodes() == 2);
  CHECK(lines->vertices() == 3);
  CHECK(lines->name(0) == "h1");
  CHECK(lines->name(2) == "s1");
  CHECK(lines->route(0, 1) == std::vector<std::int32_t>{0, 2, 1});
  CHECK(lines->coordinates(0).empty());
  const auto numbers = Topology::parse("edges:" + by_number.path()), seen = Topology::parse("edges:" + as_seen.path());
  REQUIRE(numbers);
  REQUIRE(seen);
  CHECK(numbers->name(0) == "1");
  CHECK(numbers->name(2) == "10");
  CHECK(seen->name(0) == "b");
  CHECK(seen->name(1) == "a");
}

TEST_CASE("routes go through dimensions in the order that was asked for") {
  const auto plain = Topology::parse("torus:3x3"), turned = Topology::parse("torus:3x3@BA");
  REQUIRE(plain);
  REQUIRE(turned);
  CHECK(plain->route(0, 4) == std::vector<std::int32_t>{0, 3, 4});
  CHECK(turned->route(0, 4) == std::vector<std::int32_t>{0, 1, 4});
  CHECK(turned->text() == "torus:3x3@BA");
  const auto ring = Topology::parse("torus:4");  // at equal length up from even places, down from odd ones
  REQUIRE(ring);
  CHECK(ring->route(0, 2) == std::vector<std::int32_t>{0, 1, 2});
  CHECK(ring->route(1, 3) == std::vector<std::int32_t>{1, 0, 3});
}

TEST_CASE("half a million lines are read") {
  std::string text;
  const std::int32_t lines = test::thinned(500'000);
  for (int v = 0; v < lines; ++v) text += std::to_string(v) + " " + std::to_string((v + 1) % lines) + "\n";
  const test::TemporaryFile file(text);
  const auto ring = Topology::parse("edges:" + file.path());
  REQUIRE(ring);
  CHECK(ring->nodes() == lines);
  CHECK(ring->hops(0, lines / 2) == lines / 2);
}
