// fake_job NAME ENDPOINT FILE [finish|die]: publishes a hand-made snapshot every 50 ms like an aggregator, announced as
// job NAME, until FILE is there, 300 s at most; answers questions for dependency graphs: 5,000 messages from 10 s to 12
// s. "finish" ends in order, "die" without taking the announcement back.
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "analysis/discovery/jobs.hpp"
#include "analysis/order/dag_builder.hpp"
#include "analysis/wire/publisher.hpp"
#include "tests/viewer/hand_made.hpp"

namespace {

std::vector<pclscope::Message> kept_messages() {
  std::vector<pclscope::Message> messages;
  for (int i = 0; i < 5000; ++i) {
    pclscope::Message m;
    m.source = i % 6;
    m.destination = (i + 1 + i / 6 % 5) % 6;
    m.tag = i;
    m.bytes = 8;
    m.send_begin = m.send_end = m.recv_post = m.recv_wait = 10'000'000'000 + 400'000LL * i;
    m.recv_end = m.send_begin + 2000;
    messages.push_back(m);
  }
  return messages;
}

pclscope::Result<pclscope::Dag> answer(pclscope::DagQuestion question, const pclscope::Snapshot& snapshot,
                                       const std::vector<pclscope::Message>& messages) {
  for (const pclscope::Region& region : snapshot.regions) {
    if (region.id == question.region) question.ranks = region.ranks;
  }
  pclscope::DagSource source;
  source.messages = messages;
  source.node_of_rank = snapshot.application.node_of_rank;
  source.ratio = [](const pclscope::Message& m) { return static_cast<double>(m.time()) / 2000; };
  return pclscope::build_dag(question, source);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace pclscope;
  if (argc < 4) return 2;
  const auto now = [] {
    timespec t{};
    ::clock_gettime(CLOCK_REALTIME, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  };
  auto publisher = wire::Publisher::bind(argv[2]);
  if (!publisher) return std::fprintf(stderr, "%s\n", publisher.error().message.c_str()), 1;
  Snapshot snapshot = test::eventful_snapshot();
  snapshot.job = argv[1];
  discovery::Job job;
  job.name = argv[1];
  job.endpoint = argv[2];
  job.command = "./heat \x1b[2J input.txt";
  job.mpi = "Open MPI v4.1.4";
  job.node = "here";
  job.ranks = 6;
  job.aggregator_pid = static_cast<std::uint32_t>(::getpid());
  job.started_realtime_ns = now();
  if (!discovery::announce(job)) return 1;
  const std::vector<Message> messages = kept_messages();
  const std::int64_t end = now() + 300'000'000'000;
  while (now() < end && ::access(argv[3], F_OK) != 0) {
    snapshot.live.window_end_realtime_ns = now();
    ++snapshot.live.sequence;
    (*publisher)->publish(snapshot);
    (*publisher)->serve([&](const DagQuestion& question) { return answer(question, snapshot, messages); });
    ::usleep(50'000);
  }
  if (argc > 4 && std::strcmp(argv[4], "die") == 0) std::_Exit(9);
  snapshot.finished = true;
  ++snapshot.live.sequence;
  (*publisher)->publish(snapshot);
  ::usleep(500'000);  // for a busy machine to deliver it
  discovery::withdraw(job.name);
  return 0;
}
