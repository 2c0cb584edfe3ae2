#include "tests/explore/scenarios.hpp"

namespace explore {
namespace {

using Body = std::function<void(const Calls&)>;

Body sends(int destination, int tag, int count) {
  return [=](const Calls& mpi) {
    for (int i = 0; i < count; ++i) mpi.send(destination, tag);
  };
}
Body receives(int source, int tag, int count) {
  return [=](const Calls& mpi) {
    for (int i = 0; i < count; ++i) mpi.receive(source, tag);
  };
}

// Sends while recording is switched off and on.
Body switches(int destination, int tag) {
  return [=](const Calls& mpi) {
    mpi.send(destination, tag);
    mpi.control(0);
    mpi.send(destination, tag);
    mpi.control(1);
    mpi.send(destination, tag);
  };
}

Body posts_ahead(int source, int tag, int count) {
  return [=](const Calls& mpi) {
    std::vector<MPI_Request> requests;
    for (int i = 0; i < count; ++i) requests.push_back(mpi.post(source, tag));
    for (const MPI_Request request : requests) mpi.wait(request);
  };
}

Body probes(int source, int tag, int count) {
  return [=](const Calls& mpi) {
    for (int i = 0; i < count; ++i) mpi.probe_and_receive(source, tag);
  };
}

Body both(Body first, Body second) {
  return [first = std::move(first), second = std::move(second)](const Calls& mpi) {
    first(mpi);
    second(mpi);
  };
}

}  // namespace

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = {
      {.name = "ring",
       .what = "a ring of 4 events is handed over while it is written, fills up and drops",
       .ranks = {{0}, {1}},
       .programs = {{0, sends(1, 7, 8)}, {1, receives(0, 7, 8)}},
       .ring_events = 4,
       .deviations = 2},
      {.name = "grow",
       .what = "a ring of 4 events grows to 16 while it is handed over",
       .ranks = {{0}, {1}},
       .programs = {{0, sends(1, 7, 10)}, {1, receives(0, 7, 10)}},
       .ring_events = 4,
       .ring_limit = 16,
       .deviations = 2},
      {.name = "mute",
       .what = "one rank is switched off and on between its messages",
       .ranks = {{0}, {1}},
       .programs = {{0, switches(1, 7)}, {1, receives(0, 7, 3)}},
       .deviations = 3},
      {.name = "summaries",
       .what = "receives are outstanding when recording is switched off, and end when it is on again",
       .ranks = {{0}, {1}},
       .programs = {{0, sends(1, 7, 5)},
                    {1,
                     [](const Calls& mpi) {
                       const MPI_Request early = mpi.post(0, 7);
                       mpi.control(0);
                       const MPI_Request within = mpi.post(0, 7);
                       mpi.receive(0, 7);
                       const MPI_Request late = mpi.post(0, 7);
                       mpi.control(1);
                       mpi.receive(0, 7);
                       mpi.wait(late);
                       mpi.wait(within);
                       mpi.wait(early);
                     }}},
       .ring_events = 8,
       .exact = false,  // a receive whose place is not known is ambiguous
       .deviations = 3},
      {.name = "mute-threads",
       .what = "two threads send on one channel, one of them switches off and on",
       .ranks = {{0, true}, {1}},
       .programs = {{0, switches(1, 7)}, {0, sends(1, 7, 2)}, {1, receives(0, 7, 5)}},
       .exact = false,
       .deviations = 1},
      {.name = "drop-threads",
       .what = "two threads receive on one channel into rings of 4 events",
       .ranks = {{0}, {1, true}},
       .programs = {{0, sends(1, 7, 6)}, {1, receives(0, 7, 3)}, {1, probes(0, 7, 3)}},
       .ring_events = 4,
       .exact = false,
       .deviations = 1},
      {.name = "drop-senders",
       .what = "two threads send on one channel into rings of 4 events, one of them more than fit",
       .ranks = {{0, true}, {1}},
       .programs = {{0, sends(1, 7, 2)}, {0, sends(1, 7, 6)}, {1, receives(0, 7, 8)}},
       .ring_events = 4,
       .exact = false,
       .deviations = 1},
      {.name = "attach",
       .what = "an aggregator attaches to two ranks in the middle of their messages, and leaves",
       .ranks = {{0}, {1}},
       .programs = {{0, sends(1, 7, 4)}, {1, receives(0, 7, 4)}},
       .attachable = true,
       .deviations = 2},
      {.name = "attach-outstanding",
       .what = "the same where receives are posted ahead, in both directions",
       .ranks = {{0}, {1}},
       .programs = {{0, both(sends(1, 7, 3), posts_ahead(1, 8, 2))}, {1, both(posts_ahead(0, 7, 3), sends(0, 8, 2))}},
       .attachable = true,
       .deviations = 2},
      {.name = "attach-threads",
       .what = "the same with two threads of a rank that send on one channel",
       .ranks = {{0, true}, {1}},
       .programs = {{0, sends(1, 7, 2)}, {0, sends(1, 7, 2)}, {1, receives(0, 7, 4)}},
       .attachable = true,
       .exact = false,
       .deviations = 1},
      {.name = "kill",
       .what = "an attached aggregator is killed at each of its steps, another one attaches",
       .ranks = {{0}, {1}},
       .programs = {{0, sends(1, 7, 5)}, {1, receives(0, 7, 5)}},
       .attachable = true,
       .killed = true,
       .deviations = 1},
      {.name = "kill-threads",
       .what = "the same where two threads of a rank receive",
       .ranks = {{0}, {1, true}},
       .programs = {{0, sends(1, 7, 4)}, {1, receives(0, 7, 2)}, {1, receives(0, 7, 2)}},
       .attachable = true,
       .killed = true,
       .exact = false,
       .deviations = 1},
  };
  return all;
}

}  // namespace explore
