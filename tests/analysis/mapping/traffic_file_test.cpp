#include "analysis/mapping/traffic_file.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "tests/patience.hpp"
#include "tests/test_data.hpp"

using namespace pclscope;
using namespace pclscope::mapping;

namespace {
std::string error_of(const std::string& text) {
  const auto file = parse_traffic(text);
  REQUIRE_FALSE(file);
  REQUIRE(file.error().message.find('\n') == std::string::npos);
  return file.error().message;
}
}  // namespace

TEST_CASE("a published hop-byte file: decimal bytes, hops, lines of one pair add up, self messages are left out") {
  const auto file = parse_traffic("1 0 2e3 2\r\n0 1 1.5e+03 2\n\n0 0 9e9 0\n1 0 5e2 3\n");
  REQUIRE(file);
  CHECK(file->traffic.ranks == 2);
  CHECK(file->traffic.flows == std::vector<Flow>{{0, 1, 1, 1500}, {1, 0, 2, 2500}});
  CHECK(file->hops == std::vector<std::int32_t>{2, 3});
  CHECK(file->self_lines == 1);
  CHECK_FALSE(file->counts_messages);
}

TEST_CASE("our own file: messages and bytes; written and read it is the same") {
  std::mt19937 random(9);
  Traffic traffic{200, {}};
  for (std::int32_t a = 0; a < 200; ++a)
    for (std::int32_t b = 0; b < 200; ++b)
      if (a != b && (random() % 7 == 0 || (a == 199 && b == 0)))
        traffic.flows.push_back({a, b, random(), static_cast<double>(random()) / 3});
  const auto file = parse_traffic(format_traffic(traffic));
  REQUIRE(file);
  CHECK(file->counts_messages);
  CHECK(file->traffic.ranks == 200);
  CHECK(file->traffic.flows == traffic.flows);
}

TEST_CASE("Theta's file begins at rank 3433: numbered anew, and it says who is who") {
  const auto file = read_traffic(test::data_file("par-comm/hopbyte/MiniMD_Theta_n64_c1_w_hopbyte.txt"));
  REQUIRE(file);
  CHECK(file->traffic.ranks == 64);
  CHECK(file->traffic.flows.size() == 384);
  REQUIRE(file->names.size() == 64);
  CHECK(file->names.front() == 3433);
  CHECK(file->hops.empty());
}

TEST_CASE("what cannot be read is named with its line") {
  CHECK(error_of("0 1 5 1\n0 1\n") == "line 2: expected: source destination bytes [hops]");
  CHECK(error_of("# a comment\n0 x 5 1\n") == "line 2: 'x' is no rank");
  CHECK(error_of("0 -1 5 1\n") == "line 1: '-1' is no rank");
  CHECK(error_of("0 1 nan 1\n") == "line 1: 'nan' is no number of bytes");
  CHECK(error_of("0 1 -5 1\n") == "line 1: '-5' is no number of bytes");
  CHECK(error_of("0 1 5 1.5\n") == "line 1: '1.5' is no number of hops");
  CHECK(error_of("0 1 5 1\n0 1 5\n").find("line 2: 3 columns") == 0);
  CHECK(error_of("0 1 5 1 7\n").find("line 1:") == 0);
  CHECK(error_of("# pclscope traffic 1\n0 1 5\n").find("line 2:") == 0);
  CHECK(error_of("# pclscope traffic 1\n0 1 x 5\n") == "line 2: 'x' is no number of messages");
  CHECK(error_of("# pclscope traffic 1\n0 2000000000 1 5\n").find("rank 2000000000") == 0);
  CHECK(error_of("").find("no line") == 0);
  CHECK(error_of("\n# nothing\n").find("no line") == 0);
  CHECK(error_of(std::string("0 1 5\0 1\n", 9)).find("line 1:") == 0);
  CHECK_FALSE(read_traffic("/nonexistent/traffic"));
}

TEST_CASE("random bytes never do more than fail") {
  std::mt19937 random(21);
  const std::string letters = "0123456789 .e+-\n\n#x\t\r,";
  for (int turn = 0; turn < 3000; ++turn) {
    std::string text = turn % 2 == 0 ? std::string(traffic_heading) + "\n" : "";
    for (std::size_t k = random() % 60; k > 0; --k) text += letters[random() % letters.size()];
    const auto file = parse_traffic(text);
    if (!file) continue;
    for (const Flow& flow : file->traffic.flows) {
      REQUIRE(flow.source >= 0);
      REQUIRE(std::max(flow.source, flow.destination) < file->traffic.ranks);
      REQUIRE(flow.bytes >= 0);
    }
  }
}

TEST_CASE("a million lines take about a second at most") {
  std::mt19937 random(2);
  std::string text;
  double bytes = 0;
  for (int k = 0; k < 1'000'000; ++k) {
    const unsigned a = random() % 1000, b = random() % 1000;
    text += std::to_string(a) + " " + std::to_string(b) + " 1.5e+03 3\n";
    if (a != b) bytes += 1500;
  }
  const double before_s = test::core_seconds();
  const auto file = parse_traffic(text);
  const double seconds = test::core_seconds() - before_s;
  REQUIRE(file);
  double sum = 0;
  for (const Flow& flow : file->traffic.flows) sum += flow.bytes;
  CHECK(sum == Approx(bytes));
  CHECK(seconds < 120);  // 0.3 s here; generous for sanitizers on a slow machine
}
