// The newest single calls of a job on several nodes, asked from the root: against a list of all calls.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <tuple>

#include "analysis/nodes/job_ticks.hpp"
#include "analysis/nodes/memory_link.hpp"
#include "analysis/nodes/node.hpp"
#include "analysis/nodes/packing.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using nodes::LinkEvent;
using nodes::MemoryLinks;
using nodes::Node;
using nodes::NodeOptions;
using record::Event;
using record::EventKind;

namespace {

constexpr std::int64_t ms = 1'000'000;

std::vector<MpiCall> sorted(std::vector<MpiCall> calls) {
  std::sort(calls.begin(), calls.end(), [](const MpiCall& a, const MpiCall& b) {
    return std::tuple(a.rank, a.begin, a.end) < std::tuple(b.rank, b.begin, b.end);
  });
  return calls;
}

// Each rank is in one call after the other; every 20 ms all nodes read their rings and end an epoch.
class CallingNodes {
 public:
  CallingNodes(std::mt19937_64& random, int nodes, int ranks) : random_(random), links_(nodes) {
    for (int node = 0; node < nodes; ++node) {
      NodeOptions options;
      options.application.ranks = ranks;
      options.analysis.memory_bytes = 0;
      options.site_of = [](std::int32_t, std::uint64_t address, std::uint16_t) {
        return static_cast<std::uint32_t>(address);
      };
      nodes_.push_back(std::make_unique<Node>(links_.at(node), options));
    }
    for (int rank = 0; rank < ranks; ++rank) {
      now_.push_back(ms);
      place_.push_back(rank % nodes);
      node_of(rank).rank_here(rank, false);
    }
  }
  Node& root() { return *nodes_[0]; }
  std::int64_t now() const { return time_; }

  void step(bool rank_0_hangs = false) {
    time_ += 20 * ms;
    for (std::size_t rank = 0; rank < now_.size(); ++rank)
      if (rank != 0 || !rank_0_hangs) run(static_cast<std::int32_t>(rank));
    for (auto& node : nodes_) node->end_epoch(time_, true);
    for (bool any = true; any;) {
      any = false;
      for (std::size_t node = 0; node < nodes_.size(); ++node) {
        LinkEvent event;
        while (links_.at(static_cast<int>(node)).next(event)) {
          nodes_[node]->take(std::move(event));
          any = true;
        }
      }
    }
    for (auto& node : nodes_) REQUIRE(node->epoch_open());
  }
  std::vector<MpiCall> returned_in(std::int64_t from, std::int64_t until) const {
    std::vector<MpiCall> calls;
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(calls),
                 [&](const MpiCall& call) { return call.end >= from && call.end < until; });
    return sorted(std::move(calls));
  }

 private:
  Node& node_of(std::int32_t rank) { return *nodes_[static_cast<std::size_t>(place_[static_cast<std::size_t>(rank)])]; }
  void run(std::int32_t rank) {
    std::int64_t& now = now_[static_cast<std::size_t>(rank)];
    std::vector<Event> events;
    while (now < time_) {
      Event e{};
      e.kind = EventKind::call;
      e.function = static_cast<std::uint16_t>(1 + random_() % 30);
      e.peer = -1;
      MpiCall call;
      call.rank = rank;
      call.function = e.function;
      call.begin = now + static_cast<std::int64_t>(random_() % (2 * ms));
      call.end = call.begin + static_cast<std::int64_t>(random_() % (5 * ms));
      e.begin = nodes::job_ticks(call.begin);
      e.end = nodes::job_ticks(call.end);
      now = call.end + 1;
      events.push_back(e);
      all_.push_back(call);
    }
    node_of(rank).add(rank, 0, events, 0);
  }

  std::mt19937_64& random_;
  MemoryLinks links_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::int64_t> now_;
  std::vector<std::int32_t> place_;
  std::vector<MpiCall> all_;
  std::int64_t time_ = 0;
};

}  // namespace

TEST_CASE("newest calls of several nodes: all that returned in the period of the answer, of every rank") {
  const auto seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (const int count : {1, 2, 5}) {
    CallingNodes job(random, count, 7);
    for (int i = 0; i < 20; ++i) job.step();
    const CallsPart first = job.root().calls({}, {}, job.now());
    CHECK(first.calls.empty());  // nobody had asked
    CHECK(first.untold.size() == 7);
    for (int i = 0; i < 100; ++i) job.step();
    const CallsPart part = job.root().calls({}, {}, job.now());
    CHECK(part.untold.empty());
    CHECK(part.left_out == 0);
    CHECK(part.until_ns > job.now() - 150 * ms);
    CHECK(part.from_ns < 800 * ms);
    REQUIRE(part.calls.size() > 500);
    const std::vector<MpiCall> got = sorted(part.calls), expected = job.returned_in(part.from_ns, part.until_ns);
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      CHECK(got[i].rank == expected[i].rank);
      CHECK(got[i].function == expected[i].function);
      CHECK(std::abs(got[i].begin - expected[i].begin) <= 1);  // the axis has ticks of its own
      CHECK(std::abs(got[i].end - expected[i].end) <= 1);
    }
  }
}

TEST_CASE("newest calls of several nodes: a rank here that hangs is told with its call, once") {
  const auto seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  CallingNodes job(random, 3, 6);
  (void)job.root().calls({}, {}, job.now());
  for (int i = 0; i < 20; ++i) job.step();
  for (int i = 0; i < 50; ++i) job.step(true);
  MpiCall hangs;
  hangs.rank = 0;
  hangs.function = 9;
  hangs.begin = 450 * ms;
  const CallsPart part = job.root().calls({}, {hangs}, job.now());
  REQUIRE(part.running.size() == 1);
  CHECK(part.running[0].rank == 0);
  CHECK(part.running[0].begin == 450 * ms);
  CHECK(part.running[0].end == job.now());
}

TEST_CASE("a frame of a node that nobody asked changes nothing") {
  std::mt19937_64 random(5);
  CallingNodes job(random, 2, 4);
  nodes::NewestOfNode stray;
  stray.node = 77;
  stray.calls.resize(3);
  LinkEvent event;
  event.kind = LinkEvent::Kind::message;
  event.node = 1;
  event.bytes = pack(stray);
  job.root().take(LinkEvent(event));
  (void)job.root().calls({}, {}, job.now());
  job.root().take(LinkEvent(event));  // of no node
  stray.node = 1;
  stray.calls[0].end = INT64_MAX;  // and of no time
  stray.calls[1].rank = -5;
  stray.calls[2].begin = 5;
  event.bytes = pack(stray);
  job.root().take(LinkEvent(event));
  for (int i = 0; i < 20; ++i) job.step();
  const CallsPart part = job.root().calls({}, {}, job.now());
  CHECK(sorted(part.calls).size() == job.returned_in(part.from_ns, part.until_ns).size());
}
