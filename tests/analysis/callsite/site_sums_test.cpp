// What messages cost at call sites, on paper.
#include "analysis/callsite/site_sums.hpp"

#include <catch2/catch.hpp>

#include "analysis/pipeline/pipeline.hpp"
#include "analysis/window/call_waits.hpp"

using namespace pclscope;

namespace {

// Sent at 1000 ns, received `time` later; the receive was posted at `post` and its completing call entered at `wait`.
Message message(std::uint32_t send_site, std::uint32_t recv_site, std::int64_t time, std::int64_t post,
                std::int64_t wait) {
  Message m;
  m.destination = 1;
  m.send_site = send_site;
  m.recv_site = recv_site;
  m.bytes = 10;
  m.send_begin = m.send_end = 1000;
  m.recv_post = post;
  m.recv_wait = wait;
  m.recv_end = 1000 + time;
  return m;
}

void add(SiteSums& sums, Message m, double ratio) {
  if (ratio > 1) m.flags |= message_flag::delayed;
  // One call each, of a receiver, and a blocking send.
  CallWaits calls;
  sums.add(m, calls.add(m));
  calls.close(INT64_MAX, [&](const CallWaits::Of& of, const BlockedTime& blocked) {
    sums.add_blocked(of.send_site, of.recv_site, blocked);
  });
}

SiteActivity of(const std::vector<SiteActivity>& list, std::uint32_t site) {
  for (const SiteActivity& a : list) {
    if (a.site == site) return a;
  }
  FAIL("no site " << site);
  return {};
}

}  // namespace

TEST_CASE("a late sender is charged to the send's line, the waiting to the receive's") {
  SiteSums sums;
  add(sums, message(1, 2, 100, 400, 400), 0.5);  // the receiver waited 600 ns before the send began
  add(sums, message(1, 2, 100, 1000, 1000), 0.5);
  const auto list = sums.list(10);
  REQUIRE(list.size() == 2);
  CHECK(list[0].site == 1);  // lost most
  CHECK(list[0].sends == 2);
  CHECK(list[0].receives == 0);
  CHECK(list[0].bytes == 20);
  CHECK(list[0].delayed == 0);
  CHECK(list[0].late_sender_s == Approx(600e-9));
  CHECK(list[0].waited_s == 0);
  CHECK(list[0].transfer_s == 0);
  CHECK(list[1].receives == 2);
  CHECK(list[1].waited_s == Approx(600e-9));
  CHECK(list[1].transfer_s == Approx(200e-9));
  CHECK(lost_s(list[1]) == Approx(200e-9));
}

TEST_CASE("a late receiver is charged to the receive's line, as is the transfer") {
  SiteSums sums;
  Message m = message(1, 2, 800, 1500, 1600);  // posted 500 ns after the send began, completed from 1,600 to 1,800
  m.send_end = 1700;                           // the sender was blocked for 200 ns more
  add(sums, m, 4);
  const auto list = sums.list(10);
  REQUIRE(list.size() == 2);
  CHECK(list[0].site == 2);
  CHECK(list[0].late_receiver_s == Approx(500e-9));
  CHECK(list[0].transfer_s == Approx(400e-9));
  CHECK(lost_s(list[0]) == Approx(900e-9));
  CHECK(lost_s(list[1]) == 0);
  CHECK(of(list, 1).delayed == 1);
  CHECK(of(list, 2).delayed == 1);
}

TEST_CASE("messages within one line count once, messages without times only as messages") {
  SiteSums sums;
  add(sums, message(5, 5, 800, 400, 400), 2);
  SiteActivity only = of(sums.list(1), 5);
  CHECK(only.sends == 1);
  CHECK(only.receives == 1);
  CHECK(only.bytes == 10);
  CHECK(only.delayed == 1);
  CHECK(only.transfer_s == Approx(800e-9));
  CHECK(only.late_sender_s == Approx(600e-9));
  CHECK(only.waited_s == Approx(600e-9));
  Message unseen = message(5, 5, 800, 400, 400);
  unseen.flags |= message_flag::unseen_completion;
  add(sums, unseen, 0);
  only = of(sums.list(1), 5);
  CHECK(only.sends == 2);
  CHECK(only.late_sender_s == Approx(600e-9));
}

TEST_CASE("more pairs of sites than there is room for count as unknown") {
  SiteSums sums;
  const auto pairs = static_cast<std::uint32_t>(SiteSums::most_pairs) + 5000;
  for (int round = 0; round < 2; round++) {
    for (std::uint32_t i = 1; i <= pairs; i++) add(sums, message(i, 1, 100, 400, 400), 0.5);
  }
  const auto list = sums.list(pairs);
  const SiteActivity unknown = of(list, 0);
  CHECK(unknown.sends == 2 * 5001);
  std::uint64_t sends = 0;
  for (const SiteActivity& a : list) sends += a.sends;
  CHECK(sends == 2ull * pairs);
  CHECK(of(list, 77).sends == 2);
}

TEST_CASE("the pipeline sums by the ids that it is given, when the window closes") {
  Application application;
  application.ranks = 2;
  PipelineOptions options;
  std::vector<std::uint64_t> keys, stored;
  options.name_sites = [&](std::span<Message> messages) {
    for (Message& m : messages) {
      keys.push_back(m.send_site);
      m.send_site = 3;
      m.recv_site = 4;
    }
  };
  options.on_messages = [&](std::span<const Message> messages) {
    for (const Message& m : messages) stored.push_back(m.send_site * 10 + m.recv_site);
  };
  Pipeline pipeline(application, options);
  record::Event send{}, recv{};
  send.kind = record::EventKind::send;
  send.function = recv.function = 7;
  send.site = 0x1234;
  recv.site = 0x5678;
  send.comm = recv.comm = 1;
  send.begin = send.end = 2'000'000;
  recv.begin = 1'000'000;
  recv.end = 2'000'500;
  send.peer = 1;
  recv.peer = 0;
  recv.kind = record::EventKind::recv_done;
  pipeline.add(0, 0, std::span(&send, 1));
  pipeline.add(1, 0, std::span(&recv, 1));
  pipeline.finish();
  CHECK(keys == std::vector<std::uint64_t>{0x0007'0000'0000'1234});
  CHECK(stored == std::vector<std::uint64_t>{34});
  const auto list = pipeline.snapshot().site_activity;
  REQUIRE(list.size() == 2);
  CHECK(list[0].site == 3);
  CHECK(list[0].late_sender_s == Approx(1e-3));
  CHECK(list[1].waited_s == Approx(1e-3));
}
