// Whole situations: what ranks did, what they are inside now, and what follows.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "tests/analysis/blocked/whole_job.hpp"

using namespace pclscope;
using namespace pclscope::test;

TEST_CASE("receives in a circle are a deadlock after half a second") {
  Job job(4);
  for (int r = 0; r < 4; ++r) job.recv(r, (r + 1) % 4);
  CHECK(job.cycles(s / 4).empty());
  const auto& found = job.after(s / 2);
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].members.size() == 4);
  for (int r = 0; r < 4; ++r) {
    const DeadlockMember& m = found[0].members[static_cast<std::size_t>(r)];
    CHECK(m.rank == r);
    CHECK(m.function == static_cast<std::uint16_t>(F::Recv));
    CHECK(m.waits_for == Ranks{(r + 1) % 4});
    CHECK(m.tag == 2);
  }
  CHECK(found[0].since_s == Approx(1.000003));  // when the last one entered
  CHECK(found[0].found_s == Approx(1.75).margin(0.01));
  CHECK(job.blocked.news().size() == 1);
  CHECK(job.after(s / 2)[0].found_s == Approx(1.75).margin(0.01));
  CHECK(job.blocked.news().empty());
  CHECK(job.summary(2).waits_for == Ranks{3});
  CHECK(job.summary(2).call_for_s == Approx(1.25).margin(0.01));
  CHECK(job.summary(2, 9 * s / 4 - s / 2).call_for_s == Approx(0.75).margin(0.01));  // its process died then
}

TEST_CASE("a deadlock that dissolves is gone") {
  Job job(2);
  job.recv(0, 1).recv(1, 0);
  CHECK(job.cycles() == Cycles{{0, 1}});
  job.out(1);
  CHECK(job.cycles().empty());
  job.recv(1, 0);
  CHECK(job.cycles() == Cycles{{0, 1}});
  CHECK(job.blocked.news().size() == 1);  // rank 0 is still in the call that was told about
}

TEST_CASE("a message that was sent, is being sent, or may be taken is no deadlock") {
  SECTION("sent") { CHECK(Job(2).isend(1, 0, 2).recv(0, 1).recv(1, 0).cycles().empty()); }
  SECTION("sent with another tag") { CHECK(Job(2).isend(1, 0, 3).recv(0, 1).recv(1, 0).cycles() == Cycles{{0, 1}}); }
  SECTION("sent and received before") {
    CHECK(Job(2).isend(1, 0, 2).received(0, 1, 2).recv(0, 1).recv(1, 0).cycles() == Cycles{{0, 1}});
  }
  SECTION("sent, and an earlier receive takes it") {
    CHECK(Job(2).irecv(0, 1, 2).isend(1, 0, 2).recv(0, 1).recv(1, 0).cycles() == Cycles{{0, 1}});
  }
  SECTION("a large message on its way") { CHECK(Job(2).in(1, F::Send, 0).recv(0, 1).cycles().empty()); }
  SECTION("by Sendrecv") {
    CHECK(Job(2).in(1, F::Sendrecv, 0, 2, 1, {record::awaited_sendrecv(0, 2)}).recv(0, 1).cycles().empty());
  }
  SECTION("by Sendrecv, to somebody else") {
    CHECK(Job(3).in(1, F::Sendrecv, 0, 2, 1, {record::awaited_sendrecv(2, 2)}).recv(0, 1).cycles() == Cycles{{0, 1}});
  }
  SECTION("by Sendrecv, with another tag") {
    CHECK(Job(2).in(1, F::Sendrecv, 0, 2, 1, {record::awaited_sendrecv(0, 3)}).recv(0, 1).cycles() == Cycles{{0, 1}});
  }
  SECTION("by Sendrecv, but received already") {
    CHECK(Job(2).received(0, 1, 2).in(1, F::Sendrecv, 0, 2, 1, {record::awaited_sendrecv(0, 2)}).recv(0, 1).cycles() ==
          Cycles{{0, 1}});
  }
}

TEST_CASE("sends wait for receivers") {
  CHECK(Job(2).in(0, F::Send, 1).in(1, F::Ssend, 0).cycles() == Cycles{{0, 1}});
  CHECK(Job(2).irecv(1, 0, 2).in(0, F::Send, 1).in(1, F::Send, 0).cycles().empty());
  CHECK(Job(2).irecv(1, any_source, any_tag).in(0, F::Send, 1).in(1, F::Send, 0).cycles().empty());
  CHECK(Job(2).irecv(1, 0, 5).in(0, F::Send, 1).in(1, F::Send, 0).cycles() == Cycles{{0, 1}});
  CHECK(Job(2).in(0, F::Send, 1).cycles().empty());  // 1 computes
  CHECK(Job(2).in(0, F::Send, record::proc_null).in(1, F::Send, 0).cycles().empty());
  CHECK(Job(2).in(0, F::Send, record::unknown_rank).in(1, F::Send, 0).cycles().empty());
}

TEST_CASE("polling is not waiting, and what is not understood is not either") {
  CHECK(Job(2).recv(0, 1).in(1, F::Iprobe, 0).cycles().empty());
  CHECK(Job(2).recv(0, 1).in(1, F::Win_lock, 0).cycles().empty());
  CHECK(Job(2).recv(0, 1).in(1, F::Mrecv, 0).cycles().empty());
}

TEST_CASE("Wait and Waitall need every request, Waitany and Waitsome one") {
  SECTION("receives") {
    for (const F f : {F::Wait, F::Waitall})
      CHECK(Job(2)
                .irecv(0, 1, 2)
                .irecv(1, 0, 2)
                .in(0, f, -3, -1, 0, {receive(0)})
                .in(1, f, -3, -1, 0, {receive(0)})
                .cycles() == Cycles{{0, 1}});
  }
  SECTION("one of them is enough to be stuck in Waitall") {
    Job job(3);
    job.irecv(0, 1, 2).irecv(0, 2, 2).in(0, F::Waitall, -3, -1, 0, {receive(0), receive(1)}).recv(1, 0);
    CHECK(job.cycles() == Cycles{{0, 1}});
    CHECK(job.summary(0).waits_for == Ranks{1, 2});
    CHECK_FALSE(job.summary(0).waits_for_any);
  }
  SECTION("but not in Waitany") {
    for (const F f : {F::Waitany, F::Waitsome}) {
      Job job(3);
      job.irecv(0, 1, 2).irecv(0, 2, 2).in(0, f, -3, -1, 0, {receive(0), receive(1)}).recv(1, 0);
      CHECK(job.cycles().empty());
      job.recv(2, 0);
      CHECK(job.cycles() == Cycles{{0, 1, 2}});
      CHECK(job.summary(0).waits_for_any);
    }
  }
  SECTION("a request that is complete, or of which nothing is known") {
    CHECK(Job(2)
              .irecv(0, 1, 2)
              .completed(0, 0, 1, 2)
              .in(0, F::Wait, -3, -1, 0, {receive(0)})
              .recv(1, 0)
              .cycles()
              .empty());
    CHECK(Job(3).irecv(0, 1, 2).in(0, F::Waitany, -3, -1, 0, {receive(0), 0}).recv(1, 0).cycles().empty());
    CHECK(Job(3).irecv(0, 1, 2).in(0, F::Waitall, -3, -1, 0, {receive(0), 0}).recv(1, 0).cycles() == Cycles{{0, 1}});
  }
  SECTION("sends") {
    CHECK(Job(2).isend(0, 1, 2).in(0, F::Wait, 1, 2, 1, {sent(0)}).recv(1, 0, 3).cycles() == Cycles{{0, 1}});
    CHECK(Job(2).isend(0, 1, 2).in(0, F::Wait, 1, 2, 1, {sent(0)}).recv(1, 0, 2).cycles().empty());
    CHECK(Job(2).irecv(1, 0, 2).isend(0, 1, 2).in(0, F::Wait, 1, 2, 1, {sent(0)}).recv(1, 0, 3).cycles().empty());
  }
  SECTION("more requests than there is room for") {
    Job job(2);
    std::vector<std::uint64_t> awaited;
    for (std::uint64_t i = 0; i < 100; ++i) {
      job.irecv(0, 1, 2);
      awaited.push_back(receive(i));
    }
    job.recv(1, 0);
    CHECK(job.in(0, F::Waitany, -3, -1, 0, awaited).cycles().empty());  // the others may be complete
    CHECK(job.in(0, F::Waitall, -3, -1, 0, awaited).cycles() == Cycles{{0, 1}});
  }
}

TEST_CASE("receives from anybody need all to be stuck") {
  Job job(3);
  job.recv(0, any_source).recv(1, 0);
  CHECK(job.cycles().empty());  // 2 computes
  job.recv(2, 1);
  CHECK(job.cycles() == Cycles{{0, 1, 2}});
  CHECK(job.summary(0).waits_for == Ranks{1, 2});
  CHECK(job.summary(0).waits_for_any);
}

TEST_CASE("receives from anybody of a communicator need its members only") {
  Job job(3);
  job.made({0, 1}, 77).recv(0, any_source, 2, 77).recv(1, 0);
  CHECK(job.cycles() == Cycles{{0, 1}});  // whatever 2 does
  CHECK(Job(3).made({0, 1}, 77, record::flag::foreign).recv(0, any_source, 2, 77).recv(1, 0).cycles().empty());
  CHECK(Job(3).recv(0, any_source, 2, 99).recv(1, 0).cycles().empty());  // never heard of it
}

TEST_CASE("collectives wait for those who have not come") {
  SECTION("to a Barrier") {
    Job job(3);
    job.in(0, F::Barrier, -1).in(1, F::Barrier, -1).recv(2, 1);
    CHECK(job.cycles() == Cycles{{1, 2}});  // 0 only waits, too
    CHECK(job.summary(0).waits_for == Ranks{2});
  }
  SECTION("not for those who are through") {
    CHECK(Job(3).collective(2, 0).in(0, F::Barrier, -1).in(1, F::Barrier, -1).recv(2, 1).cycles().empty());
  }
  SECTION("of their own number") {
    Job job(2);
    job.collective(0, 0).in(0, F::Barrier, -1).in(1, F::Barrier, -1);  // 1 is in the one before, which 0 has left
    CHECK(job.cycles().empty());
  }
  SECTION("the root of a Bcast") {
    CHECK(Job(3).in(1, F::Bcast, 0).recv(0, 1).cycles() == Cycles{{0, 1}});
    CHECK(Job(3).in(1, F::Bcast, 2).recv(0, 1).cycles().empty());
  }
  SECTION("a root that needs all, and a member that need not") {
    CHECK(Job(3).in(0, F::Reduce, 0).recv(1, 0).cycles() == Cycles{{0, 1}});
    CHECK(Job(3).in(2, F::Reduce, 0).recv(1, 2).cycles().empty());  // it may only wait for 0, who may come
    CHECK(Job(3).in(2, F::Reduce, 0).recv(1, 2).recv(0, 1).cycles() == Cycles{{0, 1, 2}});
  }
  SECTION("members of the communicator only") {
    CHECK(Job(4).made({2, 3}, 77).in(2, F::Barrier, -1, -1, 77).recv(3, 2, 2, 77).cycles() == Cycles{{2, 3}});
  }
  SECTION("outstanding nonblocking ones count when they are posted") {
    Job job(3);
    job.posted(0, 1).posted(1, 1);  // an Ibarrier each, not complete
    job.in(0, F::Barrier, -1).in(1, F::Barrier, -1).recv(2, 0);
    CHECK(job.cycles() == Cycles{{0, 2}});
    job.posted(2, 1);
    CHECK(job.cycles() == Cycles{{0, 2}});                                         // in the one before
    CHECK(Job(2).posted(1, 1).in(0, F::Barrier, -1).recv(1, 0).cycles().empty());  // an Ibarrier and a Barrier: wrong
  }
  SECTION("a thread whose newest nonblocking one is of another communicator may have posted some") {
    Job job(2);
    job.in(0, F::Barrier, -1).recv(1, 0);
    CHECK(job.cycles() == Cycles{{0, 1}});
    std::uint64_t other = 3;
    while (record::posted_place(other) != record::posted_place(1)) ++other;
    job.posted(1, 1, other);
    CHECK(job.cycles().empty());
  }
  SECTION("the making of a communicator") {
    CHECK(Job(2).in(0, F::Comm_split, -1).in(1, F::Barrier, -1).cycles() == Cycles{{0, 1}});
    CHECK(Job(2).in(0, F::Comm_split, -1).in(1, F::Comm_split, -1).cycles().empty());
    CHECK(Job(2).made({0, 1}, 77).in(0, F::Comm_dup, -1).recv(1, 0).cycles() == Cycles{{0, 1}});
  }
}

TEST_CASE("collectives of one number that do not match wait for who called another one") {
  const auto called = [](Job& job) {
    std::vector<std::uint16_t> functions;
    for (const DeadlockMember& m : job.after(s)[0].members) functions.push_back(m.called);
    return functions;
  };
  constexpr auto id = [](F f) { return static_cast<std::uint16_t>(f); };
  SECTION("all are inside") {
    Job job(3);
    job.in(0, F::Bcast, 2).in(1, F::Bcast, 2).in(2, F::Barrier, -1);
    CHECK(job.cycles() == Cycles{{0, 2, 1}});
    CHECK(called(job) == std::vector{id(F::Bcast), id(F::Barrier), id(F::Bcast)});
    CHECK(job.summary(2).waits_for_any);
    CHECK(job.summary(2).waits_for == Ranks{0, 1});
  }
  SECTION("one is through, and waits for another one") {
    Job job(3);
    job.collective(1, 0, 1, F::Reduce).recv(1, 0).in(0, F::Reduce, 0).in(2, F::Allreduce, -1);
    CHECK(job.cycles() == Cycles{{0, 2, 1}});
    CHECK(called(job) == std::vector{id(F::Reduce), id(F::Allreduce), id(F::Reduce)});
  }
  SECTION("one is through, and may go on") {
    CHECK(Job(2).collective(1, 0, 1, F::Reduce).in(0, F::Allreduce, -1).cycles().empty());
  }
  SECTION("the same, or its large form") {
    CHECK(Job(2).in(0, F::Bcast, 1).in(1, F::Bcast, 1).cycles().empty());
    CHECK(Job(2).in(0, F::Bcast, 1).in(1, F::Bcast_c, 1).cycles().empty());
  }
  SECTION("of other numbers, and of other communicators") {
    CHECK(Job(2).collective(0, 0, 1, F::Bcast).in(0, F::Barrier, -1).in(1, F::Bcast, 0).cycles().empty());
    CHECK(Job(2).made({0, 1}, 77).in(0, F::Barrier, -1, -1, 77).in(1, F::Bcast, 1).cycles() == Cycles{{0, 1}});
    Job job(2);
    job.made({0, 1}, 77).in(0, F::Barrier, -1, -1, 77).in(1, F::Bcast, 1);
    CHECK(called(job) == std::vector<std::uint16_t>{0, 0});
  }
  SECTION("what one of them called is not known") {
    Job job(3);
    job.in(0, F::Barrier, -1).in(2, F::Bcast, 0).recv(1, 0);
    for (std::uint64_t number = 0; number < 9; ++number) job.collective(1, number, 1, F::Barrier);
    CHECK(job.cycles().empty());
    Job posted(2);
    posted.posted(1, 1).in(0, F::Barrier, -1).in(1, F::Wait, -1, -1, 1, {record::awaited_receive | 0});
    CHECK(posted.cycles().empty());
  }
}

TEST_CASE("Wait for a nonblocking collective") {
  const auto ibarrier = record::awaited_collective_of(0, static_cast<std::uint16_t>(F::Ibarrier));
  const auto ibcast = record::awaited_collective_of(0, static_cast<std::uint16_t>(F::Ibcast));
  SECTION("needs all who have not begun it") {
    Job job(3);
    job.posted(0, 1).posted(1, 1);
    job.in(0, F::Wait, -1, -1, 1, {ibarrier}).in(1, F::Wait, -1, -1, 1, {ibarrier}).recv(2, 0);
    CHECK(job.cycles() == Cycles{{0, 2}});
    CHECK(job.summary(1).waits_for == Ranks{2});
    job.posted(2, 1);
    CHECK(job.cycles().empty());
  }
  SECTION("or one of them, all of whom must be known") {
    Job job(3);
    job.posted(0, 1).in(0, F::Waitall, -1, -1, 0, {ibcast}).recv(1, 0);
    CHECK(job.cycles().empty());  // 2 may come
    CHECK(job.recv(2, 1).cycles() == Cycles{{0, 1, 2}});
  }
  SECTION("Waitany needs one of its requests only") {
    Job job(2);
    job.posted(0, 1).irecv(0, 1, 7).recv(1, 0);
    job.in(0, F::Waitany, -1, -1, 0, {ibarrier, record::awaited_receive | 0});
    CHECK(job.cycles() == Cycles{{0, 1}});
    job.posted(1, 1);
    CHECK(job.cycles().empty());
  }
}

TEST_CASE("windows and files") {
  const auto member = [](int rank) { return record::awaited_member | static_cast<unsigned>(rank); };
  SECTION("fences are counted per window") {
    Job job(2);
    job.sync(1, F::Win_fence, -1, 1, 0).sync(0, F::Win_fence, -1, 1, 0);
    job.in(0, F::Win_fence, -1, 0).recv(1, 0);
    CHECK(job.cycles() == Cycles{{0, 1}});
    CHECK(job.sync(1, F::Win_fence, -1, 1, 1).cycles() == Cycles{{0, 1}});
    CHECK(job.sync(1, F::Win_fence, -1, 2, 0).cycles().empty());
    CHECK(Job(2).in(0, F::Win_fence, -1, 0).in(1, F::Win_fence, -1, 0).cycles().empty());
    CHECK(Job(2).in(0, F::Win_fence, -1, 0).in(1, F::Win_fence, -1, 1).cycles() == Cycles{{0, 1}});
    CHECK(Job(3).in(0, F::Win_fence, -1, 0).recv(1, 0).cycles().empty());           // 2 may come, which may be enough
    CHECK(Job(3).in(0, F::Win_free, -1, 0).recv(1, 0).cycles() == Cycles{{0, 1}});  // all must come
  }
  SECTION("making and opening") {
    CHECK(Job(2).in(0, F::Win_create, -1, -1).recv(1, 0).cycles() == Cycles{{0, 1}});
    CHECK(Job(2).sync(1, F::Win_create, -1, 1, -1).in(0, F::Win_create, -1, -1).recv(1, 0).cycles().empty());
    CHECK(Job(2).in(0, F::File_open, -1, -1).recv(1, 0).cycles() == Cycles{{0, 1}});
    CHECK(Job(2).in(0, F::File_write_all, -1, 0).recv(1, 0).cycles().empty());  // it may be writing
  }
  SECTION("Start, Complete and Wait need their partners") {
    CHECK(Job(2).in(0, F::Win_start, -1, 0, 1, {member(1)}).recv(1, 0).cycles() == Cycles{{0, 1}});
    CHECK(Job(2).sync(1, F::Win_post, 0, 1, 0).in(0, F::Win_start, -1, 0, 1, {member(1)}).recv(1, 0).cycles().empty());
    CHECK(Job(2).sync(0, F::Win_start, 1, 1, 0).in(0, F::Win_complete, -1, 0).recv(1, 0).cycles() == Cycles{{0, 1}});
    CHECK(Job(2).sync(1, F::Win_post, 0, 1, 0).in(1, F::Win_wait, -1, 0).recv(0, 1).cycles() == Cycles{{0, 1}});
    Job through(2);
    through.sync(1, F::Win_post, 0, 1, 0).sync(0, F::Win_start, 1, 1, 0).in(1, F::Win_wait, -1, 0).recv(0, 1);
    CHECK(through.cycles() == Cycles{{0, 1}});
    CHECK(through.sync(0, F::Win_complete, -1, 1, 0).cycles().empty());
  }
  SECTION("a lock that another rank holds") {
    const auto exclusive = record::awaited_member | 1, shared = record::awaited_member;
    Job job(2);
    job.sync(1, F::Win_lock, 1, 0, 0, 1).in(0, F::Win_lock, 1, 0, 1, {exclusive}).recv(1, 0);
    CHECK(job.cycles() == Cycles{{0, 1}});
    CHECK(job.sync(1, F::Win_unlock, 1, 0, 0).cycles().empty());
    CHECK(Job(2).sync(1, F::Win_lock, 1, 0, 0).in(0, F::Win_lock, 1, 0, 1, {shared}).recv(1, 0).cycles().empty());
    CHECK(Job(2).sync(1, F::Win_lock, 1, 0, 0).in(0, F::Win_lock, 1, 0, 1, {exclusive}).recv(1, 0).cycles() ==
          Cycles{{0, 1}});
    CHECK(Job(3).sync(1, F::Win_lock, 2, 0, 0, 1).in(0, F::Win_lock, 2, 0, 1, {exclusive}).recv(1, 0).cycles().empty());
  }
  SECTION("nothing is known of a rank that lost events") {
    CHECK(Job(2).lost(1, 0, record::flag::summarised).in(0, F::Win_fence, -1, 0).recv(1, 0).cycles().empty());
  }
}

TEST_CASE("waiting for a rank that has finished") {
  Job job(3);
  job.recv(0, 1).finish(1).finish(2);
  const auto& found = job.after(s);
  REQUIRE(found.size() == 1);
  CHECK(found[0].on_finished);
  CHECK(found[0].members[0].waits_for == Ranks{1});
  CHECK(Job(2).isend(1, 0, 2).finish(1).recv(0, 1).cycles().empty());  // its message may still come
  CHECK(Job(2).finish(1).cycles().empty());
  CHECK(job.summary(1).waits_for == Ranks{0});
  CHECK(job.summary(1).finished);
}

TEST_CASE("what is not known completely is no deadlock") {
  Job job(2);
  job.recv(0, 1).recv(1, 0);
  SECTION("unread events") {
    job.views_[1].unread = true;
    CHECK(job.cycles().empty());
    job.views_[1].unread = false;
  }
  SECTION("a ring that was not found") {
    job.all_found = false;
    CHECK(job.cycles().empty());
    job.all_found = true;
  }
  SECTION("drops that left no event yet, then one that says what happened") {
    job.header(1).dropped = 3;
    CHECK(job.cycles().empty());
    job.lost(1, 3, record::flag::summarised).isend(1, 0, 99);
  }
  CHECK(job.cycles() == Cycles{{0, 1}});
  job.header(0).dropped = 1;
  job.lost(0, 1, 0);  // and nobody knows what
  CHECK(job.cycles().empty());
}

TEST_CASE("a rank with several threads is stuck when all of them are") {
  Job job(2);
  SECTION("one at a time: the others may not call MPI") {
    job.header(0, 1);
    CHECK(job.recv(0, 1).recv(1, 0).cycles() == Cycles{{0, 1}});
  }
  SECTION("many: a thread of the process that is not in MPI may be about to send") {
    for (const int r : {0, 1}) {
      job.header(r).threads = record::Threads::many;
      job.header(r).pid = static_cast<std::uint32_t>(::getpid());
      job.header(r).tasks = 1;
    }
    CHECK(job.recv(0, 1).recv(1, 0).cycles() == Cycles{{0, 1}});
    std::atomic<bool> stop{false};
    std::thread other([&] {
      while (!stop) std::this_thread::yield();
    });
    CHECK(job.cycles().empty());
    job.header(0, 1).threads = job.header(1, 1).threads = record::Threads::many;
    job.in(0, F::Recv, 1, 7, 1, {}, 1).in(1, F::Recv, 0, 7, 1, {}, 1);
    CHECK(job.cycles() == Cycles{{0, 1}});
    job.out(1, 1).in(1, F::Send, 0, 7, 1, {}, 1);  // one of them is being served
    CHECK(job.cycles().empty());
    stop = true;
    other.join();
    job.header(0).tasks = 0;  // not known
    CHECK(job.out(0, 1).out(1, 1).cycles().empty());
  }
}

TEST_CASE("a deadlock stays one while its processes are being killed") {
  Job job(2);
  for (const int r : {0, 1}) {
    job.header(r).threads = record::Threads::many;
    job.header(r).pid = static_cast<std::uint32_t>(::getpid());
    job.header(r).tasks = 1;
  }
  CHECK(job.recv(0, 1).recv(1, 0).cycles() == Cycles{{0, 1}});
  job.header(1).tasks = 3;  // the other two have ended
  CHECK(job.cycles() == Cycles{{0, 1}});
  job.header(0).pid = 0x7fffffff;  // nobody
  CHECK(job.cycles() == Cycles{{0, 1}});
  CHECK(job.blocked.news().size() == 1);
  job.out(1);
  CHECK(job.cycles().empty());
}

TEST_CASE("whom a rank waits for is told without a deadlock, too") {
  Job job(4);
  job.irecv(1, 2, 2).irecv(1, 3, 2).recv(0, any_source).in(1, F::Waitall, -3, -1, 0, {receive(0), receive(1)});
  CHECK(job.cycles(s / 5).empty());
  CHECK(job.summary(0).waits_for == Ranks{1, 2, 3});
  CHECK(job.summary(0).waits_for_any);
  CHECK(job.summary(1).waits_for == Ranks{2, 3});
  CHECK(job.summary(1).call_function == static_cast<std::uint16_t>(F::Waitall));
  CHECK(job.summary(3).call_function == 0);
  job.out(1).isend(1, 0, 2);
  job.after(s / 5);
  CHECK(job.summary(0).waits_for.empty());  // a message for it is there
  CHECK(job.summary(1).waits_for.empty());
}

TEST_CASE("the slot is read whole or not at all") {
  // A writer as in Recorder::enter and leave: every field of call n is n.
  record::SegmentHeader header{};
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    constexpr auto relaxed = std::memory_order_relaxed;
    for (std::uint32_t n = 1; !stop; ++n) {
      header.call_since.store(n, relaxed);
      header.call_site.store(n, relaxed);
      header.call_comm.store(n, relaxed);
      header.call_peer.store(static_cast<std::int32_t>(n), relaxed);
      header.call_tag.store(static_cast<std::int32_t>(n), relaxed);
      header.call_function.store(static_cast<std::uint32_t>(F::Send), relaxed);
      if (n % 64 == 0) std::this_thread::yield();
      header.call_function.store(0, relaxed);
    }
  });
  int whole = 0;
  blocked::CurrentCall call;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (whole < 200'000 && (whole <= 100 || std::chrono::steady_clock::now() < end)) {
    blocked::read_current_call(header, call);
    if (call.function == 0) continue;
    ++whole;
    const bool same = call.site == call.since && call.comm == call.since &&
                      call.peer == static_cast<std::int32_t>(call.since) && call.tag == call.peer;
    if (!same)
      FAIL_CHECK("torn: since " << call.since << " site " << call.site << " peer " << call.peer << " tag " << call.tag);
  }
  stop = true;
  writer.join();
  CHECK(whole > 100);
}
