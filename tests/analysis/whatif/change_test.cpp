// Changes against runs in which the same was really changed.
#include <catch2/catch.hpp>

#include "analysis/whatif/whatif.hpp"
#include "tests/analysis/whatif/replaying.hpp"

using namespace pclscope;
using namespace pclscope::test;
using whatif::Change;

namespace {

Result<WhatIf> ask(const Program& p, const Change& change, std::int64_t from = 0, std::int64_t to = INT64_MAX / 4) {
  const Outcome o = simulate(p);
  const std::vector<std::int32_t> nodes(static_cast<std::size_t>(p.ranks()));
  return whatif::what_if({p.ranks(), o.messages, o.collectives, nodes}, from, to, change);
}

// A halo on a ring, with an allreduce after every step; rank r computes work(r, step).
template <class Work>
Program halo_of(std::int32_t ranks, int steps, Work work) {
  Program p(ranks);
  for (int step = 0; step < steps; ++step)
    for (std::int32_t r = 0; r < ranks; ++r) {
      const std::int32_t left = (r + ranks - 1) % ranks, right = (r + 1) % ranks;
      p.call(r, K::irecv, site::irecv, left, 0);
      p.call(r, K::irecv, site::irecv, right, 1);
      p.compute(r, work(r, step));
      p.call(r, K::isend, site::isend, right, 0);
      p.call(r, K::isend, site::isend, left, 1);
      p.call(r, K::waitall, site::irecv);
      if (step % 5 == 4) p.call(r, K::allreduce, site::allreduce);
    }
  return p;
}

Change delays(std::vector<std::int32_t> ranks) { return {Change::Kind::delays, std::move(ranks), {}}; }

}  // namespace

TEST_CASE("A group that nobody waits for in the period is ahead at its end, and the end is as late") {
  Program p(4);
  for (int step = 0; step < 100; ++step)
    for (std::int32_t r = 0; r < 4; ++r) {
      p.call(r, K::irecv, site::irecv, r ^ 1, 0);
      p.compute(r, r == 0 ? 9 * ms : 5 * ms);
      p.call(r, K::isend, site::isend, r ^ 1, 0);
      p.call(r, K::waitall, site::irecv);
    }
  const auto part = ask(p, delays({0}), 0, 400 * ms);  // ranks 2 and 3 have done 80 steps, 0 and 1 have done 44
  REQUIRE(part);
  CHECK(part->gain_s() == Approx(0).margin(0.01));
  CHECK(part->ahead_s == Approx(44 * 0.004).margin(0.02));
  CHECK(part->ahead_ranks == 2);
  const auto whole = ask(p, delays({0}));
  REQUIRE(whole);
  CHECK(whole->gain_s() == Approx(0.4).margin(0.02));
  CHECK(whole->ahead_s == Approx(whole->gain_s()).margin(0.02));
}

TEST_CASE("Without its delay a rank computes as its peers: the time of the run without it") {
  const auto noise = [](std::int32_t r, int step) { return ms / 10 * ((7 * r + 3 * step) % 5); };
  const Program slow =
      halo_of(6, 100, [&](int r, int step) { return 5 * ms + noise(r, step) + (r == 2 ? 4 * ms : 0); });
  const Program healthy = halo_of(6, 100, [&](int r, int step) { return 5 * ms + noise(r, step); });
  const auto w = ask(slow, delays({2}));
  REQUIRE(w);
  CHECK(w->replayed_s == Approx(w->measured_s));
  CHECK(w->measured_s == Approx(took_s(simulate(slow))).epsilon(1e-3));
  CHECK(w->predicted_s == Approx(took_s(simulate(healthy))).epsilon(0.01));
  CHECK(w->as == "as its peers do there");
  CHECK(w->covered == 1);
  // Another rank is not the reason.
  const auto other = ask(slow, delays({4}));
  REQUIRE(other);
  CHECK(other->gain_s() == Approx(0).margin(0.01));
}

TEST_CASE("Of two ranks that are equally slow, both have to be quicker") {
  const Program slow = halo_of(8, 60, [](int r, int) { return r == 2 || r == 6 ? 9 * ms : 5 * ms; });
  CHECK(ask(slow, delays({2}))->gain_s() == Approx(0).margin(0.001));
  CHECK(ask(slow, delays({2, 6}))->gain_s() / ask(slow, delays({2, 6}))->measured_s == Approx(4.0 / 9).margin(0.01));
}

TEST_CASE("A rank that does more than others by nature is compared with its own calm time") {
  const auto work = [](int r, int step, bool delayed) {
    return (r == 1 ? 6 * ms : 4 * ms) + (delayed && r == 1 && step >= 40 && step < 80 ? 5 * ms : 0);
  };
  const Program slow = halo_of(4, 120, [&](int r, int step) { return work(r, step, true); });
  const Program healthy = halo_of(4, 120, [&](int r, int step) { return work(r, step, false); });
  const std::int64_t from = 40 * 6 * ms, to = from + 40 * 11 * ms;
  const auto w = ask(slow, delays({1}), from, to);
  REQUIRE(w);
  CHECK(w->as == "as in its own calm time");
  CHECK(w->gain_s() == Approx(took_s(simulate(slow)) - took_s(simulate(healthy))).epsilon(0.06));
}

TEST_CASE("Time outside the period in which a rank was nearly as slow is no calm time: its peers tell") {
  // A tenth less before step 40, where nobody waited for it, say: that is no measure for 9 ms where others take 3.
  const auto work = [](int r, int step) { return r != 1 ? 3 * ms : step < 40 ? 81 * ms / 10 : 9 * ms; };
  const auto w = ask(halo_of(4, 80, work), delays({1}), 40 * 81 * ms / 10);
  REQUIRE(w);
  CHECK(w->as == "as its peers do there");
  CHECK(w->gain_s() / w->measured_s == Approx(2.0 / 3).margin(0.03));
}

TEST_CASE("Equal load: the time of a run in which all compute the mean") {
  const Program uneven = halo_of(5, 80, [](int r, int) { return (2 + r) * ms; });
  const Program even = halo_of(5, 80, [](int, int) { return 4 * ms; });
  const auto w = ask(uneven, {Change::Kind::balanced, {}, {}});
  REQUIRE(w);
  CHECK(w->predicted_s == Approx(took_s(simulate(even))).epsilon(0.01));
}

TEST_CASE("Equal load: one that wanders from rank to rank is levelled in each step") {
  const auto hot = [](int r, int step) { return step / 20 == r; };
  const Program uneven = halo_of(4, 80, [&](int r, int step) { return hot(r, step) ? 20 * ms : 4 * ms; });
  const Program even = halo_of(4, 80, [](int, int) { return 8 * ms; });
  const auto w = ask(uneven, {Change::Kind::balanced, {}, {}});
  REQUIRE(w);
  CHECK(w->measured_s > 1.5);
  CHECK(w->predicted_s == Approx(took_s(simulate(even))).epsilon(0.01));
}

TEST_CASE("Another rank is late in each step: none of them") {
  const auto late = [](int r, int step) { return (step * 2654435761u >> 7) % 6 == static_cast<unsigned>(r); };
  Program slow(6), healthy(6);
  for (int step = 0; step < 100; ++step)
    for (std::int32_t r = 0; r < 6; ++r) {
      slow.compute(r, late(r, step) ? 9 * ms : 4 * ms);
      healthy.compute(r, 4 * ms);
      for (Program* p : {&slow, &healthy}) p->call(r, K::allreduce, site::allreduce);
    }
  const auto w = ask(slow, {Change::Kind::steady, {}, {}});
  REQUIRE(w);
  CHECK(w->predicted_s == Approx(took_s(simulate(healthy))).epsilon(0.03));
}

TEST_CASE("Ranks that call MPI at other lines are compared by their sums") {
  Program p(3), even(3);
  for (int step = 0; step < 50; ++step)
    for (std::int32_t r = 0; r < 3; ++r) {
      p.compute(r, r == 0 ? 9 * ms : 3 * ms);
      even.compute(r, 3 * ms);
      for (Program* of : {&p, &even}) of->call(r, K::allreduce, 10 + static_cast<std::uint32_t>(r));
    }
  const auto w = ask(p, delays({0}));
  REQUIRE(w);
  CHECK(w->as == "in all as long as its peers (at other places)");
  CHECK(w->predicted_s == Approx(took_s(simulate(even))).epsilon(0.05));
}

TEST_CASE("A link that was slow for a while: as at other times") {
  // By hand: rank 0 on node 0 sends to 1 on node 1, which waits; 1 ms, from the 40th on 9 ms.
  std::vector<Message> messages;
  std::int64_t now = 0, sent[2] = {0, 0};
  for (int i = 0; i < 80; ++i) {
    const std::int64_t lag = i >= 40 ? 9 * ms : ms;
    for (const std::int32_t from : {0, 1}) {  // and back, quickly
      Message m;
      m.source = from;
      m.destination = 1 - from;
      m.bytes = 4096;
      m.flags = record::flag::nonblocking | message_flag::inter_node;
      m.send_begin = now;
      m.send_end = now + 1000;
      m.recv_post = m.recv_wait = sent[1 - from];
      sent[from] = m.send_end + 100;
      m.recv_end = now + (from == 0 ? lag : ms);
      now = m.recv_end + 2000;
      messages.push_back(m);
    }
  }
  const std::vector<std::int32_t> nodes = {0, 1};
  const whatif::Records records{2, messages, {}, nodes};
  const std::int64_t slow_from = messages[80].send_begin - 1500;
  const Change change{Change::Kind::links, {}, {0, 1}};
  const auto w = whatif::what_if(records, slow_from, now, change);
  REQUIRE(w);
  CHECK(w->as == "as the same sizes took at other times");
  CHECK(w->changed == 40);
  CHECK(w->gain() == Approx(0.8).margin(0.02));
  // Slow all the time: what is usual is not known; another link would tell.
  const auto unknown = whatif::what_if({2, std::span(messages).subspan(80), {}, nodes}, slow_from, now,
                                       {Change::Kind::links, {}, {0, 1, 1, 0}});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message.find("usually") != std::string::npos);
}

TEST_CASE("What cannot be replayed is refused in one line") {
  const auto told = [](const Result<WhatIf>& w) { return w ? std::string() : w.error().message; };
  const Program p = halo_of(3, 10, [](int, int) { return ms; });
  CHECK(told(ask(p, delays({7}))) == "there is no rank 7");
  CHECK(told(ask(p, delays({0}), 3600 * 1000 * ms, 3700 * 1000 * ms)).find("no calls") != std::string::npos);
  CHECK(told(ask(p, delays({0, 1, 2}))).find("nothing to compare") != std::string::npos);
  // Two threads in MPI at once.
  std::vector<Message> messages;
  for (int i = 0; i < 20; ++i) {
    Message m;
    m.source = 0;
    m.destination = 1;
    m.send_begin = i * ms;
    m.send_end = i * ms + 3 * ms;
    m.recv_post = m.recv_wait = m.send_begin;
    m.recv_end = m.send_end + 1000;
    messages.push_back(m);
  }
  CHECK(told(whatif::what_if({2, messages, {}, {}}, 0, INT64_MAX / 4, delays({0}))).find("overlap") !=
        std::string::npos);
}

TEST_CASE("What a finding asks for") {
  Finding f;
  f.cause = Cause::late_sender;
  f.ranks = {3, 1};
  REQUIRE(whatif::change_for(f));
  CHECK(whatif::change_for(f)->kind == Change::Kind::delays);
  CHECK(whatif::change_for(f)->ranks == f.ranks);
  f.cause = Cause::pattern;
  f.detail = "imbalance";
  CHECK(whatif::change_for(f)->kind == Change::Kind::balanced);
  f.detail = "chain";
  CHECK_FALSE(whatif::change_for(f));
  f.cause = Cause::collective_wait;
  f.ranks.clear();
  CHECK(whatif::change_for(f)->kind == Change::Kind::steady);
  f.ranks = {1};
  CHECK(whatif::change_for(f)->kind == Change::Kind::delays);
  for (const char* detail : {"late for MPI_Finalize", "same rank late for files"}) {  // a replay has no such calls
    f.detail = detail;
    CHECK_FALSE(whatif::change_for(f));
  }
  f.cause = Cause::background;
  f.nodes = {0, 2};
  CHECK(whatif::change_for(f)->nodes == f.nodes);
  for (const Cause cause : {Cause::none, Cause::unknown, Cause::mapping, Cause::outage, Cause::one_sided_wait,
                            Cause::file, Cause::startup, Cause::blocked}) {
    f.cause = cause;
    CHECK_FALSE(whatif::change_for(f));
  }
}
