// What a muted thread accounts for, event by event.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "interpose/recorder/unrecorded.hpp"

using namespace pclscope;
using record::Event;
using record::EventKind;
namespace flag = record::flag;

namespace {

struct Accounts : Unrecorded {
  using Unrecorded::Unrecorded;
  ~Accounts() { give_memory_back(); }
};

struct Written {
  explicit Written(Unrecorded::Summary summary) : events(summary.events, summary.events + summary.count) {
    std::free(summary.events);
  }
  std::vector<Event> of(EventKind kind) const {
    std::vector<Event> found;
    for (const Event& e : events) {
      if (e.kind == kind) found.push_back(e);
    }
    return found;
  }
  std::vector<Event> events;
};

Event posted(std::uint64_t comm, std::int32_t peer, std::int32_t tag) {
  Event e{};
  e.comm = comm;
  e.peer = peer;
  e.tag = tag;
  return e;
}

}  // namespace

TEST_CASE("sends and receives are counted by channel, with their place") {
  Accounts accounts(false);
  std::atomic<std::uint64_t> receives{7};
  CHECK(accounts.empty());
  for (int i = 0; i < 5; ++i) accounts.sent(1, 3, 9, 40, 40);
  accounts.sent(1, 3, 8, 40, 40);
  accounts.sent(1, record::proc_null, 8, 40, 40);
  accounts.received(1, 2, 9, accounts.post(7), 7);
  CHECK(!accounts.empty());
  const Written written(accounts.summary(12, receives));
  REQUIRE(written.events.size() == 4);
  CHECK(written.events[0].kind == EventKind::lost);
  CHECK(written.events[0].ordinal == 12);
  CHECK(written.events[0].flags == flag::summarised);
  CHECK(written.events[1].kind == EventKind::unrecorded_receives);
  CHECK((written.events[1].peer == 2 && written.events[1].bytes == 1 && written.events[1].begin == 7));
  CHECK((written.events[2].kind == EventKind::unrecorded_sends && written.events[2].bytes == 5));
  CHECK((written.events[3].tag == 8 && written.events[3].bytes == 1 && written.events[3].end == 40));
  CHECK(accounts.empty());
  CHECK(receives == 7);
}

TEST_CASE("outstanding receives are numbered in the order of their posts, and flagged when one was overtaken") {
  Accounts accounts(false);
  std::atomic<std::uint64_t> receives{100};
  OutstandingReceive* early = accounts.outstanding(posted(1, 2, 9), accounts.post(100), 100);
  OutstandingReceive* other = accounts.outstanding(posted(1, 2, 8), accounts.post(100), 100);
  OutstandingReceive* any =
      accounts.outstanding(posted(1, record::any_source, record::any_tag), accounts.post(100), 100);
  OutstandingReceive* ended = accounts.outstanding(posted(1, 2, 9), accounts.post(100), 100);
  std::uint64_t number = 0;
  Unrecorded::Post post{};
  REQUIRE(!Unrecorded::end(ended, number, post));
  accounts.received(1, 2, 9, post, 100);
  OutstandingReceive* late = accounts.outstanding(posted(1, 2, 9), accounts.post(100), 100);
  const Written written(accounts.summary(0, receives));
  const auto posts = written.of(EventKind::recv_post);
  REQUIRE(posts.size() == 4);
  CHECK(receives == 104);
  for (std::uint64_t i = 0; i < 4; ++i) CHECK(posts[i].ordinal == 100 + i);
  CHECK(posts[0].flags == (flag::unrecorded | flag::out_of_order));
  CHECK(posts[1].flags == flag::unrecorded);  // another tag
  CHECK(posts[2].flags == (flag::unrecorded | flag::out_of_order));
  CHECK(posts[3].flags == flag::unrecorded);  // posted after
  REQUIRE(Unrecorded::end(any, number, post));
  CHECK(number == 102);
  for (OutstandingReceive* r : {early, other, late}) CHECK(Unrecorded::end(r, number, post));
  CHECK(accounts.empty());
}

TEST_CASE("a freed receive is told with its number, once") {
  Accounts accounts(false);
  std::atomic<std::uint64_t> receives{0};
  std::uint64_t number = 0;
  CHECK(!Unrecorded::let_go(accounts.outstanding(posted(1, 2, 9), accounts.post(0), 0), number));
  OutstandingReceive* later = accounts.outstanding(posted(1, 2, 9), accounts.post(0), 0);
  const Written written(accounts.summary(0, receives));
  const auto freed = written.of(EventKind::recv_freed);
  REQUIRE(freed.size() == 1);
  CHECK(freed[0].ordinal == 0);
  CHECK(Unrecorded::let_go(later, number));
  CHECK(number == 1);
}

TEST_CASE("lost numbers are told in runs") {
  Accounts accounts(false);
  std::atomic<std::uint64_t> receives{0};
  for (std::uint64_t n = 5; n < 9; ++n) {
    accounts.lost_number(n, false);
    accounts.lost_number(n + 100, true);
  }
  accounts.lost_number(12, false);
  const Written written(accounts.summary(0, receives));
  const auto lost = written.of(EventKind::lost_number);
  REQUIRE(lost.size() == 3);
  CHECK((lost[0].ordinal == 5 && lost[0].bytes == 4 && lost[0].flags == 0));
  CHECK((lost[1].ordinal == 105 && lost[1].bytes == 4 && lost[1].flags == flag::of_receives));
  CHECK((lost[2].ordinal == 12 && lost[2].bytes == 1));
}

TEST_CASE("more channels than can be kept make an honest loss, and the next interval is exact again") {
  Accounts accounts(false);
  std::atomic<std::uint64_t> receives{0};
  for (std::uint32_t i = 0; i < ChannelCounts::limit; ++i) accounts.sent(1, 0, static_cast<std::int32_t>(i), 0, 0);
  CHECK(Written(accounts.summary(1, receives)).events.size() == 1 + ChannelCounts::limit);
  for (std::uint32_t i = 0; i <= ChannelCounts::limit; ++i) accounts.sent(1, 0, static_cast<std::int32_t>(i), 0, 0);
  const Written over(accounts.summary(1, receives));
  REQUIRE(over.events.size() == 1);
  CHECK(over.events[0].flags == 0);
  accounts.sent(1, 0, 1, 0, 0);
  CHECK(Written(accounts.summary(1, receives)).events.size() == 2);
}

TEST_CASE("a session begins with the totals of everything before, and with the receives that are outstanding") {
  Unrecorded accounts(false, true);
  std::atomic<std::uint64_t> receives{0};
  const auto end = [&](OutstandingReceive* receive) {
    std::uint64_t number = 0;
    Unrecorded::Post post{};
    const bool numbered = Unrecorded::end(receive, number, post);
    accounts.life_received(1, 2, 9, post.order);
    return numbered ? number : OutstandingReceive::unnumbered;
  };
  for (int i = 0; i < 5; ++i) accounts.life_sent(1, 3, 9);
  accounts.life_sent(1, 3, 8);
  accounts.life_unsent(1, 3, 8);  // the only one of its channel was cancelled
  OutstandingReceive* overtaken = accounts.outstanding(posted(1, 2, 9), accounts.post(0), 0);
  CHECK(end(accounts.outstanding(posted(1, 2, 9), accounts.post(0), 0)) == OutstandingReceive::unnumbered);
  OutstandingReceive* late = accounts.outstanding(posted(1, 2, 9), accounts.post(0), 0);

  Unrecorded::number_from(0);
  const Written first(accounts.life_summary({0, 0, 0, nullptr, 0, true, true}, receives));
  REQUIRE(first.events.size() == 5);
  CHECK((first.events[0].kind == EventKind::lost && first.events[0].flags == flag::summarised));
  CHECK((first.events[1].ordinal == 0 && first.events[1].flags == (flag::unrecorded | flag::out_of_order)));
  CHECK((first.events[2].ordinal == 1 && first.events[2].flags == flag::unrecorded));
  CHECK((first.events[3].kind == EventKind::unrecorded_receives && first.events[3].bytes == 1));
  CHECK((first.events[4].kind == EventKind::unrecorded_sends && first.events[4].bytes == 5));

  // In the session: one with a number ends, one is posted with its number, three are sent.
  CHECK(end(overtaken) == 0);
  const std::uint64_t number = receives++;
  OutstandingReceive* recorded = accounts.outstanding(posted(1, 2, 9), accounts.post(3), 3, number);
  for (int i = 0; i < 3; ++i) accounts.life_sent(1, 3, 9);
  CHECK(accounts.empty());

  // The next session: numbers go on, those of the first one are told to be gone.
  Unrecorded::number_from(receives);
  CHECK(Unrecorded::number_now(late) == OutstandingReceive::unnumbered);
  const Written second(accounts.life_summary({3, receives, 3, nullptr, 0, true, true}, receives));
  REQUIRE(second.events.size() == 7);
  CHECK(
      (second.events[1].kind == EventKind::lost_number && second.events[1].bytes == 3 && second.events[1].flags == 0));
  CHECK((second.events[2].kind == EventKind::lost_number && second.events[2].bytes == 3));
  CHECK((second.events[3].ordinal == 3 && second.events[4].ordinal == 4));
  CHECK((second.events[5].bytes == 2 && second.events[5].begin == 3));
  CHECK((second.events[6].bytes == 8 && second.events[6].begin == 3));
  CHECK(end(late) == 3);
  CHECK(end(recorded) == 4);
  accounts.life_give_up();
  CHECK(Written(accounts.life_summary({3, receives, 3, nullptr, 0, true, true}, receives)).events[0].flags == 0);
  accounts.give_memory_back();
  Unrecorded::number_from(0);
}

TEST_CASE("receives that were kept elsewhere are numbered in the order of all posts") {
  Unrecorded accounts(false, true);
  std::atomic<std::uint64_t> receives{0};
  const auto at = [&](std::int32_t tag) { return accounts.outstanding(posted(1, 2, tag), accounts.post(0), 0); };
  const auto skipped = [&] { return accounts.post(0); };
  const Unrecorded::Post first = skipped();
  OutstandingReceive* second = at(12);
  const Unrecorded::Post third = skipped(), fourth = skipped();
  OutstandingReceive* fifth = at(15);
  const Unrecorded::Post sixth = skipped();

  OutstandingReceive* later = nullptr;
  std::vector<OutstandingReceive*> kept = {second, fifth};
  for (const auto& [post, tag] :
       {std::pair(sixth, 16), std::pair(fourth, 14), std::pair(third, 13), std::pair(first, 11)})
    kept.push_back(later = accounts.outstanding_earlier(posted(1, 2, tag), post, later));
  const Written written(accounts.life_summary({0, 0, 0, nullptr, 0, true, true}, receives));
  REQUIRE(written.events.size() == 7);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(written.events[1 + i].ordinal == i);
    CHECK(written.events[1 + i].tag == static_cast<std::int32_t>(11 + i));
    CHECK(written.events[1 + i].flags == flag::unrecorded);
  }
  for (OutstandingReceive* receive : kept) {
    std::uint64_t number = 0;
    Unrecorded::Post post{};
    CHECK(Unrecorded::end(receive, number, post));
  }
  accounts.give_memory_back();
}

TEST_CASE("a thread leaves its totals and its outstanding receives to another one") {
  Unrecorded ended(true, true), heir(true, true);
  std::atomic<std::uint64_t> receives{0};
  for (std::int32_t tag = 0; tag < 1000; ++tag) ended.life_sent(1, 3, tag);
  heir.life_sent(1, 3, 999);
  OutstandingReceive* left = ended.outstanding(posted(1, 2, 9), ended.post(0), 0);
  heir.inherit(ended);
  const Written summary(heir.life_summary({0, 0, 0, nullptr, 0, true, true}, receives));
  CHECK(summary.of(EventKind::recv_post).size() == 1);
  std::uint64_t sum = 0;
  for (const Event& e : summary.of(EventKind::unrecorded_sends)) sum += e.bytes;
  CHECK(sum == 1001);
  CHECK(Written(ended.life_summary({0, 0, 0, nullptr, 0, false, true}, receives)).events.size() == 1);
  std::uint64_t number = 7;
  Unrecorded::Post post{};
  CHECK(Unrecorded::end(left, number, post));
  CHECK(number == 0);
  ended.give_memory_back();
  heir.give_memory_back();
}

TEST_CASE("any thread may end a receive while its owner writes the summary") {
  const unsigned seed = GENERATE(31u, 32u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::atomic<std::uint64_t> receives{0};
  Accounts owner(true), other(true);
  constexpr int count = 20000;
  std::vector<std::atomic<OutstandingReceive*>> given(count);
  std::atomic<int> numbered{0}, counted{0};
  std::thread ends([&] {
    for (int i = 0; i < count; ++i) {
      OutstandingReceive* r = nullptr;
      while ((r = given[static_cast<std::size_t>(i)].load(std::memory_order_acquire)) == nullptr)
        std::this_thread::yield();
      std::uint64_t number = 0;
      Unrecorded::Post post{};
      if (Unrecorded::end(r, number, post)) {
        ++numbered;
      } else {
        ++counted;
        other.received(1, 2, 3, post, receives.load());
      }
    }
  });
  std::size_t posts = 0;
  for (int i = 0; i < count; ++i) {
    given[static_cast<std::size_t>(i)].store(owner.outstanding(posted(1, 2, 3), owner.post(receives), receives),
                                             std::memory_order_release);
    if (random() % 50 == 0) posts += Written(owner.summary(0, receives)).of(EventKind::recv_post).size();
  }
  ends.join();
  posts += Written(owner.summary(0, receives)).of(EventKind::recv_post).size();
  CHECK(posts == static_cast<std::size_t>(numbered));
  CHECK(receives == posts);
  std::uint64_t told = 0;
  for (const Event& e : Written(other.summary(0, receives)).of(EventKind::unrecorded_receives)) told += e.bytes;
  CHECK(told == static_cast<std::uint64_t>(counted));
  CHECK(numbered + counted == count);
}
