// MemoryLinks against a plain model: who must see what before which epoch. PCLSCOPE_NODES_SEED=S: another seed than 1.
#include "analysis/nodes/memory_link.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>

using namespace pclscope::nodes;
using Kind = LinkEvent::Kind;

namespace {

std::vector<std::byte> number(std::uint64_t value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::uint64_t value_of(const LinkEvent& event) {
  std::uint64_t value = 0;
  REQUIRE(event.bytes.size() == sizeof value);
  std::memcpy(&value, event.bytes.data(), sizeof value);
  return value;
}

std::vector<LinkEvent> all_events(Link& link) {
  std::vector<LinkEvent> events;
  for (LinkEvent event; link.next(event);) events.push_back(event);
  return events;
}

std::uint64_t seed() {
  const char* text = std::getenv("PCLSCOPE_NODES_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 1;
}

}  // namespace

TEST_CASE("A lone node: what it sends to itself comes back, epochs end at once, nothing is traffic") {
  MemoryLinks links(1);
  Link& link = links.at(0);
  link.send(0, number(7));
  link.end_epoch({42, 1});
  const auto events = all_events(link);
  REQUIRE(events.size() == 2);
  CHECK(events[0].kind == Kind::message);
  CHECK(events[0].node == 0);
  CHECK(value_of(events[0]) == 7);
  CHECK(events[1].kind == Kind::epoch);
  CHECK(events[1].word == EpochWord{42, 1});
  CHECK(link.traffic().messages == 0);
}

TEST_CASE("An epoch ends when the last node ended it; words are reduced") {
  MemoryLinks links(3);
  links.at(0).end_epoch({30, 1});
  links.at(2).end_epoch({10, 0});
  CHECK(all_events(links.at(0)).empty());
  links.at(1).end_epoch({20, 1});
  for (int node = 0; node < 3; ++node) {
    const auto events = all_events(links.at(node));
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == Kind::epoch);
    CHECK(events[0].word == EpochWord{10, 2});
  }
  CHECK(links.epochs() == 1);
}

TEST_CASE("What is sent after the end of an epoch arrives behind the epoch") {
  MemoryLinks links(2);
  links.at(0).end_epoch({});
  links.at(0).send(1, number(1));
  CHECK(all_events(links.at(1)).empty());
  links.at(1).end_epoch({});
  const auto events = all_events(links.at(1));
  REQUIRE(events.size() == 2);
  CHECK(events[0].kind == Kind::epoch);
  CHECK(value_of(events[1]) == 1);
}

TEST_CASE("A node that dies is told once, is waited for no more, and gets nothing more") {
  MemoryLinks links(3);
  links.at(2).send(0, number(5));  // arrived before the death
  links.at(0).end_epoch({9, 1});
  links.at(1).end_epoch({8, 1});
  links.kill(2);
  links.kill(2);
  CHECK_FALSE(links.alive(2));
  const auto events = all_events(links.at(0));
  REQUIRE(events.size() == 3);
  CHECK(value_of(events[0]) == 5);
  CHECK(events[1].kind == Kind::died);
  CHECK(events[1].node == 2);
  CHECK(events[2].kind == Kind::epoch);
  CHECK(events[2].word == EpochWord{8, 2});
  links.at(1).send(2, number(6));
  const auto last = all_events(links.at(2));
  REQUIRE(last.size() == 1);
  CHECK(last[0].kind == Kind::closed);
}

TEST_CASE("Nonsense: nodes that do not exist, a closed link, the death of everybody") {
  MemoryLinks links(2);
  links.at(0).send(-1, number(1));
  links.at(0).send(2, number(1));
  CHECK(links.at(0).traffic().messages == 0);
  links.kill(0);
  links.kill(1);
  CHECK(links.epochs() == 0);
  links.at(1).send(1, number(1));
  links.at(1).end_epoch({});
  const auto events = all_events(links.at(1));
  REQUIRE(events.size() == 2);
  CHECK(events[0].kind == Kind::died);
  CHECK(events[1].kind == Kind::closed);
  MemoryLinks closing(1);
  closing.close();
  closing.tell_clock(0, {});
  CHECK(all_events(closing.at(0)).size() == 1);
}

// Model: a message belongs to the epoch its sender was in, and is seen by its receiver before that epoch's event.
TEST_CASE("Random traffic: every message exactly once, in its epoch, in its sender's order") {
  const std::uint64_t s = seed();
  INFO("PCLSCOPE_NODES_SEED=" << s);
  std::mt19937_64 random(s);
  for (int run = 0; run < 200; ++run) {
    const int nodes = 1 + static_cast<int>(random() % 6);
    MemoryLinks links(nodes);
    const auto count = static_cast<std::size_t>(nodes);
    std::vector<std::uint64_t> sending(count, 0), seen_epochs(count, 0), sent(count, 0);
    std::vector<bool> waiting(count, false);
    std::map<std::uint64_t, std::uint64_t> epoch_of;  // of a message
    std::vector<std::set<std::uint64_t>> expected(count);
    std::map<std::pair<int, int>, std::uint64_t> newest;
    std::uint64_t next = 0;
    const auto read = [&](int node) {
      const auto n = static_cast<std::size_t>(node);
      for (const LinkEvent& event : all_events(links.at(node))) {
        if (event.kind == Kind::message) {
          const std::uint64_t value = value_of(event);
          REQUIRE(expected[n].erase(value) == 1);
          REQUIRE(epoch_of[value] == seen_epochs[n]);
          auto& last = newest[{event.node, node}];
          REQUIRE(value >= last);
          last = value + 1;
        } else if (event.kind == Kind::epoch) {
          for (const std::uint64_t value : expected[n]) REQUIRE(epoch_of[value] > seen_epochs[n]);
          ++seen_epochs[n];
          waiting[n] = false;
        }
      }
    };
    for (int step = 0; step < 300; ++step) {
      const int node = static_cast<int>(random() % count);
      const auto n = static_cast<std::size_t>(node);
      const auto what = random() % 10;
      if (what < 5) {
        const int to = static_cast<int>(random() % count);
        const std::uint64_t value = next++;
        epoch_of[value] = sending[n];
        links.at(node).send(to, number(value));
        expected[static_cast<std::size_t>(to)].insert(value);
        if (to != node) ++sent[n];
      } else if (what < 8) {
        read(node);
        if (!waiting[n]) {
          waiting[n] = true;
          ++sending[n];
          links.at(node).end_epoch({static_cast<std::int64_t>(step), 1});
        }
      } else {
        read(node);
      }
    }
    for (int node = 0; node < nodes; ++node) {
      CHECK(links.at(node).traffic().messages == sent[static_cast<std::size_t>(node)]);
      read(node);
    }
    for (std::size_t n = 0; n < count; ++n)
      for (const std::uint64_t value : expected[n]) REQUIRE(epoch_of[value] >= links.epochs());
  }
}
