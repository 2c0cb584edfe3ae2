#include "viewer/views/message_rows.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "tests/viewer/memory_session.hpp"

using namespace pclscope;
using test::MemorySession;
using views::MessageOrder;

namespace {

std::vector<Message> random_messages(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Message> messages(500);
  int tag = 0;
  for (Message& m : messages) {
    m.source = static_cast<int>(random() % 10);
    m.destination = static_cast<int>(random() % 10);
    m.tag = tag++;
    m.bytes = random() % 200;
    m.send_begin = random() % 1'000'000;
    m.recv_end = m.send_begin + static_cast<int>(random() % 5000);
  }
  return messages;
}

std::vector<int> tags(session::Session& session, const views::Criteria& criteria, const views::MessageQuery& query) {
  std::vector<int> tags;
  REQUIRE(views::visit_messages(session, criteria, query, [&](const Message& m) {
    tags.push_back(m.tag);
    return true;
  }));
  return tags;
}

double key(const Message& m, MessageOrder order, const views::Criteria& criteria) {
  if (order == MessageOrder::ratio) return -criteria.ratio(m).value_or(-1);
  if (order == MessageOrder::bytes) return -static_cast<double>(m.bytes);
  if (order == MessageOrder::duration) return -static_cast<double>(m.time());
  return static_cast<double>(m.send_begin);
}

}  // namespace

TEST_CASE("messages come in the asked order, with a limit or without") {
  const auto seed = GENERATE(1u, 2u, 3u);
  const auto order = GENERATE(MessageOrder::time, MessageOrder::ratio, MessageOrder::bytes, MessageOrder::duration);
  INFO("seed " << seed);
  std::vector<Message> messages = random_messages(seed);
  MemorySession session(messages);
  const views::Criteria criteria({{false, 0, 50, 1, 1e-6}, {false, 50, 100, 1, 2e-6}, {false, 100, 150, 1, 5e-7}});
  std::stable_sort(messages.begin(), messages.end(),
                   [](const Message& a, const Message& b) { return a.send_begin < b.send_begin; });
  std::stable_sort(messages.begin(), messages.end(), [&](const Message& a, const Message& b) {
    return key(a, order, criteria) < key(b, order, criteria);
  });
  std::vector<double> expected;
  for (const Message& m : messages) expected.push_back(key(m, order, criteria));
  for (const std::optional<std::uint64_t> limit :
       {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(13), std::optional<std::uint64_t>(5000),
        std::optional<std::uint64_t>(0)}) {
    std::vector<double> got;
    std::vector<int> seen;
    views::MessageQuery query{order, {}, limit};
    REQUIRE(views::visit_messages(session, criteria, query, [&](const Message& m) {
      got.push_back(key(m, order, criteria));
      seen.push_back(m.tag);
      return true;
    }));
    std::vector<double> first(expected.begin(),
                              expected.begin() + static_cast<long>(std::min<std::uint64_t>(limit.value_or(500), 500)));
    CHECK(got == first);
    std::sort(seen.begin(), seen.end());
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
  }
}

TEST_CASE("stored order is left alone and stops at the limit") {
  MemorySession session(random_messages(4));
  const views::Criteria none({});
  CHECK(tags(session, none, {MessageOrder::stored, {}, 3}) == std::vector<int>{0, 1, 2});
  CHECK(tags(session, none, {MessageOrder::stored, {}, std::nullopt}).size() == 500);
}

TEST_CASE("ranks choose messages they sent or received") {
  const std::vector<Message> messages = random_messages(5);
  MemorySession session(messages);
  std::vector<int> expected;
  for (const Message& m : messages) {
    if (m.source == 2 || m.destination == 2 || m.source == 7 || m.destination == 7) expected.push_back(m.tag);
  }
  CHECK(tags(session, views::Criteria({}), {MessageOrder::stored, {2, 7}, std::nullopt}) == expected);
}

TEST_CASE("a message as comma-separated values keeps its nanoseconds") {
  Message m;
  m.source = 1;
  m.destination = 2;
  m.comm = 0xabc;
  m.bytes = 8;
  m.send_begin = m.recv_post = m.recv_wait = 12'000'000'007;
  m.recv_end = m.send_begin - 5;
  m.flags = message_flag::clock_violation;
  const auto cells = views::message_cells(m, views::Criteria({}));
  REQUIRE(cells.size() == views::message_titles().size());
  CHECK(cells == std::vector<std::string>{"1",
                                          "2",
                                          "0",
                                          "abc",
                                          "8",
                                          "12.000000007",
                                          "-0.000000005",
                                          "",
                                          "0.000000000",
                                          "0.000000000",
                                          "0.000000000",
                                          "0.000000000",
                                          "0",
                                          "0",
                                          "1",
                                          "1",
                                          "",
                                          "",
                                          "0",
                                          "0"});
  const auto json = views::message_json(m, views::Criteria({}));
  CHECK(json.size() == cells.size());
  CHECK(json["ratio"].is_null());
  CHECK(json["send_site"].is_null());
  m.send_site = 7;
  CallSite site;
  site.id = 7;
  site.file = "/src/halo.c";
  site.line = 42;
  const views::Sites sites({site});
  CHECK(views::message_json(m, views::Criteria({}), sites)["send_site"] == "/src/halo.c:42");
  const auto wide = views::message_lines({m}, views::Criteria({}), 0, sites);
  CHECK(wide[1].find("halo.c:42") != std::string::npos);
  CHECK(views::message_lines({m}, views::Criteria({}), 100, sites)[1].find("halo.c") == std::string::npos);
  CHECK(json["clock_violation"] == true);
  CHECK(json["clock_unclear"] == false);
}

TEST_CASE("received before sent, by no more than the clocks' error: said, and no ratio") {
  Message m;
  m.flags = message_flag::inter_node | message_flag::clock_unclear;
  m.recv_end = -700;
  m.clock_error_ns = 900;
  const views::Criteria criteria({Criterion{true, 0, 100, 10, 1e-6, 1e-6}});
  const auto json = views::message_json(m, criteria);
  CHECK(json["clock_unclear"] == true);
  CHECK(json["clock_violation"] == false);
  CHECK(json["clock_error_ns"] == 900);
  CHECK(json["ratio"].is_null());
  const auto cells = views::message_cells(m, criteria);
  CHECK(cells[cells.size() - 2] == "1");
  CHECK(cells.back() == "900");
  CHECK(views::message_titles().back() == "clock_error_ns");
  CHECK(views::message_lines({m}, criteria, 0)[1].find("clock?") != std::string::npos);
  m.flags = message_flag::inter_node, m.recv_end = 700;
  CHECK(views::message_json(m, criteria)["ratio"].get<double>() == Approx(0.7));
}
