// Which parts of a period a dump has whole.
#include <catch2/catch.hpp>

#include "analysis/whatif/whatif.hpp"
#include "tests/analysis/whatif/replaying.hpp"

using namespace pclscope;
using namespace pclscope::test;

namespace {

constexpr std::int64_t window = 100 * ms;

std::vector<Window> windows_of(std::span<const Message> messages, std::int64_t end) {
  std::vector<Window> windows;
  for (std::int64_t at = 0; at < end; at += window) {
    Window& w = windows.emplace_back();
    w.begin_s = static_cast<double>(at) * 1e-9;
    w.length_s = static_cast<double>(window) * 1e-9;
    for (const Message& m : messages) w.all.messages += m.recv_end >= at && m.recv_end < at + window;
  }
  return windows;
}

}  // namespace

TEST_CASE("Parts without a missing message are replayed, and said how much they are") {
  Setting s;
  s.steps = 400;
  s.plant = {2, 150, 300 * ms};
  const Program p = halo({5}, s);
  const Outcome o = simulate(p);
  const std::int64_t end = *std::max_element(o.end_ns.begin(), o.end_ns.end());
  const std::vector<Window> windows = windows_of(o.messages, end);
  const auto parts_without = [&](std::int64_t from, std::int64_t to, std::vector<Message>& kept) {
    kept.clear();
    for (const Message& m : o.messages)
      if (m.recv_end < from || m.recv_end >= to) kept.push_back(m);
    return whatif::whole_parts(windows, kept, 0, end);
  };
  std::vector<Message> kept;
  auto parts = parts_without(0, 0, kept);
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].from_ns == 0);
  CHECK(parts[0].to_ns == end);
  parts = parts_without(220 * ms, 260 * ms, kept);  // one window lacks some, none during the stall
  REQUIRE(parts.size() == 1);                       // it did not end in a message then
  parts = parts_without(500 * ms, 550 * ms, kept);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].to_ns == 500 * ms);
  CHECK(parts[1].from_ns == 600 * ms);
  const whatif::Change change{whatif::Change::Kind::delays, {2}, {}};
  const auto w = whatif::what_if({5, kept, o.collectives, {}}, parts, 0, end, change);
  REQUIRE(w);
  const double length_s = static_cast<double>(end) * 1e-9;
  CHECK(w->covered == Approx(1 - 0.1 / length_s));
  CHECK(w->gain_s() == Approx(0.3 / w->covered).epsilon(0.05));
  parts = parts_without(20 * ms, 80 * ms, kept);
  CHECK(whatif::what_if({5, kept, o.collectives, {}}, parts, 100 * ms, 300 * ms, change));
  const auto refused = whatif::what_if({5, kept, o.collectives, {}}, parts, 0, 150 * ms, change);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("too little") != std::string::npos);
}
