// The matcher's remote side by hand: what makes a pair wait for another node, and clocks between nodes.
#include <catch2/catch.hpp>

#include "analysis/match/matcher.hpp"
#include "analysis/nodes/budget.hpp"
#include "analysis/nodes/job_sites.hpp"
#include "tests/analysis/match/streams.hpp"

using namespace pclscope;
using test::Stream;
using Kind = record::EventKind;

namespace {

// Rank 0 on one node, rank 1 on another; epochs by hand.
struct TwoNodes {
  Matcher sender{2, [](std::span<const Message>) {}};
  std::vector<Message> messages;
  Matcher receiver{2, [this](std::span<const Message> m) { messages.insert(messages.end(), m.begin(), m.end()); }};
  std::vector<std::pair<std::int32_t, record::Event>> sends;

  TwoNodes() {
    sender.set_forward([this](std::int32_t rank, std::uint8_t, const record::Event& e) { sends.push_back({rank, e}); });
    receiver.set_forward([](std::int32_t, std::uint8_t, const record::Event&) {});
    sender.set_here(0);
    receiver.set_here(1);
  }
  void header(bool muted, std::uint64_t dropped = 0) {
    sender.note_drop(0, dropped);
    sender.note_muted(0, muted);
  }
  void epoch() {
    sender.end_epoch();
    receiver.end_epoch();
    for (const auto& [rank, e] : sends) receiver.add_remote(rank, 0, e, 30);
    sends.clear();
    for (const SenderState& state : sender.sender_news()) receiver.set_sender(state);
    sender.epoch_over();
    receiver.epoch_over();
  }
};

}  // namespace

TEST_CASE(
    "a nonblocking send of another node is paired two epochs after its receive was read, a blocking one at once") {
  TwoNodes nodes;
  Stream s, r;
  s.send(1, 0).send(1, 1, record::flag::nonblocking);
  r.receive(0, 0).receive(0, 1);
  nodes.sender.add(0, 0, s.events);
  nodes.receiver.add(1, 0, r.events);
  nodes.receiver.set_clock_error(12);
  nodes.epoch();
  REQUIRE(nodes.messages.size() == 1);
  CHECK(nodes.messages[0].tag == 0);
  CHECK(nodes.messages[0].clock_error_ns == 42);  // of both sides
  nodes.epoch();
  CHECK(nodes.messages.size() == 1);
  nodes.epoch();
  CHECK(nodes.messages.size() == 2);
}

// Recording is switched off after the sender's header was read in epoch 0, the send is cancelled, an unrecorded one is
// received instead, which is read in epoch 0. Recording goes on after the rings were read in epoch 1, before the header
// is.
TEST_CASE("a cancel in an interval that no header showed comes in time") {
  TwoNodes nodes;
  Stream s, r;
  s.send(1, 0, record::flag::nonblocking);
  nodes.sender.add(0, 0, s.events);
  nodes.header(false);
  r.receive(0, 0);
  nodes.receiver.add(1, 0, r.events);
  nodes.epoch();
  nodes.header(false);
  nodes.epoch();
  Stream summary;
  summary.other(Kind::lost, 0, 0, 0, record::flag::summarised);
  summary.other(Kind::send_cancel_request, 0, 1, 0, record::flag::unrecorded);
  summary.other(Kind::send_cancelled, 0, 1, 0, record::flag::unrecorded);
  record::Event unrecorded{};
  unrecorded.kind = Kind::unrecorded_sends;
  unrecorded.comm = 1;
  unrecorded.peer = 1;
  unrecorded.bytes = 1;
  unrecorded.begin = unrecorded.end = 1;
  summary.events.push_back(unrecorded);
  nodes.sender.add(0, 0, summary.events);
  nodes.header(false);
  nodes.epoch();
  nodes.epoch();
  nodes.epoch();
  nodes.receiver.finish();
  CHECK(nodes.messages.empty());
  CHECK(nodes.receiver.counts().half_recorded == 1);
}

TEST_CASE("after an unaccounted loss later sends are ambiguous on the other node, earlier blocking ones are not") {
  TwoNodes nodes;
  Stream s, r;
  s.send(1, 0).other(Kind::lost, 1).skip_send().send(1, 0);
  r.receive(0, 0).receive(0, 0).receive(0, 0);
  nodes.sender.add(0, 0, s.events);
  nodes.receiver.add(1, 0, r.events);
  nodes.header(false, 1);
  nodes.epoch();
  nodes.epoch();
  nodes.receiver.finish();
  CHECK(nodes.receiver.counts().matched == 1);
  CHECK(nodes.receiver.counts().ambiguous == 2);  // the lost one's receive, and the third message
}

TEST_CASE("of a node that is gone blocking sends keep their receives, the rest is half recorded or ambiguous") {
  TwoNodes nodes;
  Stream s, r;
  s.send(1, 0).send(1, 1, record::flag::nonblocking);
  nodes.sender.add(0, 0, s.events);
  nodes.epoch();
  nodes.receiver.set_gone(0);
  r.receive(0, 0).receive(0, 0).receive(0, 1);
  nodes.receiver.add(1, 0, r.events);
  nodes.epoch();
  nodes.receiver.finish();
  CHECK(nodes.receiver.counts().matched == 1);
  CHECK(nodes.receiver.counts().half_recorded == 1);
  CHECK(nodes.receiver.counts().ambiguous == 1);
}

TEST_CASE("the traffic budget: what is granted stays below the limit and the share, whatever the sizes") {
  std::uint64_t seed = 12345, granted = 0, message_bytes = 0;
  const auto next = [&] { return seed = seed * 6364136223846793005ull + 1442695040888963407ull, seed >> 33; };
  nodes::TrafficBudget budget(3'000'000);
  const std::int64_t step = 10'000'000;
  std::int64_t now = 0;
  for (int i = 0; i < 2000; ++i, now += step) {
    budget.advance(now, message_bytes);
    for (int k = 0; k < 5; ++k) {
      const std::uint64_t bytes = next() % 60'000;
      if (budget.raw(bytes)) granted += bytes;
    }
    message_bytes += next() % 4'000'000;
    const double seconds = static_cast<double>(now) * 1e-9;
    REQUIRE(static_cast<double>(granted) <= 3e6 * seconds + 6e6);
    REQUIRE(static_cast<double>(granted) <= 1e6 * seconds + 0.02 * static_cast<double>(message_bytes) + 2e6);
  }
  CHECK(granted > 10'000'000);
}

TEST_CASE("sites of all nodes: one id for each place, dense, and a name that comes later is news") {
  nodes::JobSites sites;
  for (int node = 0; node < 5; ++node)
    for (std::uint32_t i = 1; i <= 20; ++i) {
      nodes::NodeSite site;
      site.id = nodes::site_of_node(node, i);
      site.site.module = "/app";
      site.site.offset = 1000 + i * static_cast<std::uint32_t>(node % 2 + 1);  // nodes see some places in another order
      sites.add(site);
    }
  for (std::uint32_t i = 1; i <= 10; ++i) {
    CHECK(sites.id_of(nodes::site_of_node(0, 2 * i)) == sites.id_of(nodes::site_of_node(1, i)));
    CHECK(sites.id_of(nodes::site_of_node(0, i)) == sites.id_of(nodes::site_of_node(4, i)));
  }
  CHECK(sites.id_of(nodes::site_of_node(7, 1)) == 0);
  CHECK(sites.id_of(0) == 0);
  CHECK(sites.news().size() == 30);
  CHECK(sites.news().empty());
  nodes::NodeSite named;
  named.id = nodes::site_of_node(3, 5);
  named.site.module = "/app";
  named.site.offset = 1010;
  named.site.function = "main";
  named.site.line = 7;
  sites.add(named);
  const auto news = sites.news();
  REQUIRE(news.size() == 1);
  CHECK(news[0].line == 7);
  CHECK(news[0].id == sites.id_of(nodes::site_of_node(3, 5)));
}
