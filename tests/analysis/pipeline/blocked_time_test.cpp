// Time inside MPI is the sum of its parts, whatever the events: random programs of the simulator, with calls of other
// kinds between theirs.
#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "analysis/efficiency/efficiency.hpp"
#include "analysis/pipeline/pipeline.hpp"
#include "interpose/record/functions.hpp"
#include "tests/analysis/match/mpi_simulator.hpp"

using namespace pclscope;
using record::Event;
using record::EventKind;

namespace {

struct Played {
  Snapshot snapshot;
  std::vector<std::uint64_t> mpi, one_sided, file;  // by rank, ticks
};

// Gives the events the times of calls: a thread's, one after the other, of any length. Events of one call (with equal
// times) stay together.
void stretch(test::Ring& ring, std::mt19937_64& random, Played& played) {
  std::vector<Event> out;
  std::uint64_t now = 1 + random() % 50, begin = 0, end = 0;
  const auto rank = static_cast<std::size_t>(ring.rank);
  for (std::size_t i = 0; i < ring.events.size(); ++i) {
    Event e = ring.events[i];
    if (random() % 6 == 0) {
      Event other{};
      other.kind = random() % 2 ? EventKind::rma_sync : EventKind::file;
      other.begin = now += random() % 20;
      other.end = now += random() % 300;
      (other.kind == EventKind::file ? played.file : played.one_sided)[rank] += other.end - other.begin;
      played.mpi[rank] += other.end - other.begin;
      out.push_back(other);
    }
    const bool timed = !(e.kind >= EventKind::unrecorded_sends && e.kind <= EventKind::lost_number) &&
                       e.kind != EventKind::lost && e.kind != EventKind::init && e.kind != EventKind::finalize;
    if (timed) {
      begin = now += random() % 100;
      end = now += random() % 400;
      e.begin = begin;
      e.end = end;
      played.mpi[rank] += end - begin;
    }
    out.push_back(e);
  }
  ring.events = std::move(out);
}

Played play(const test::SimulatorOptions& options, std::uint64_t seed) {
  test::MpiSimulator simulator(options, seed);
  while (!simulator.done()) simulator.step();
  simulator.finish();
  Played played;
  const auto ranks = static_cast<std::size_t>(options.ranks);
  played.mpi.resize(ranks);
  played.one_sided.resize(ranks);
  played.file.resize(ranks);
  std::mt19937_64 random(seed);
  Application application;
  application.ranks = options.ranks;
  PipelineOptions pipeline_options;
  pipeline_options.window_ns = 1 + static_cast<std::int64_t>(random() % 5000);
  pipeline_options.allowance_ns = static_cast<std::int64_t>(random() % 3000);
  Pipeline pipeline(application, pipeline_options);
  for (int rank = 0; rank < options.ranks; ++rank) pipeline.set_node(rank, "node");
  for (test::Ring& ring : simulator.rings()) stretch(ring, random, played);
  for (bool more = true; more;) {
    more = false;
    for (test::Ring& ring : simulator.rings()) {
      const std::size_t n = std::min<std::size_t>(ring.events.size() - ring.read, random() % 30);
      if (options.threads > 1) pipeline.measurement().set_threads(ring.rank, true);
      pipeline.add(ring.rank, static_cast<std::uint32_t>(ring.thread), std::span(ring.events).subspan(ring.read, n));
      ring.read += n;
      more = more || ring.read < ring.events.size();
    }
    pipeline.end_round(pipeline.measured().newest_ns);
  }
  pipeline.finish();
  played.snapshot = pipeline.snapshot();
  return played;
}

}  // namespace

TEST_CASE("threads that call MPI in turn are in it as one would be, those at once are two") {
  for (const bool several : {false, true}) {
    Application application;
    application.ranks = 1;
    Pipeline pipeline(application, PipelineOptions{});
    pipeline.set_node(0, "node");
    pipeline.measurement().set_threads(0, several);
    const auto call = [](std::uint64_t begin, std::uint64_t end, std::uint64_t number) {
      record::Event e{};
      e.begin = begin;
      e.end = end;
      e.kind = record::EventKind::collective;
      e.function = static_cast<std::uint16_t>(record::Function::Allreduce);
      e.comm = 1;
      e.ordinal = number;
      e.peer = -1;
      return e;
    };
    const record::Event first = call(1000, 4000, 0), second = call(6000, 9000, 1), last = call(9000, 10000, 2);
    pipeline.add(0, 0, std::span(&first, 1));
    pipeline.add(0, 1, std::span(&second, 1));
    pipeline.add(0, 0, std::span(&last, 1));
    pipeline.end_round(10000);
    pipeline.finish();
    const RankSummary r = pipeline.snapshot().ranks.at(0);
    CHECK(r.threads == (several ? 2u : 1u));
    CHECK(r.mpi_between_s() == Approx(7e-6));
    // From 1 to 10 us: 2 us outside MPI in turn, else each thread its own.
    const auto times = efficiency::rank_times(pipeline.snapshot());
    REQUIRE(times.size() == 1);
    CHECK(times[0].useful_s == Approx(several ? 5.5e-6 : 2e-6));
  }
}

TEST_CASE("time inside MPI is the sum of its parts, for each rank of random programs") {
  double late = 0, transfer = 0, other = 0, saved = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    test::SimulatorOptions options;
    options.ranks = 2 + static_cast<int>(seed % 4);
    options.threads = 1 + static_cast<int>(seed % 3);
    options.steps = 300;
    options.comms = 1;
    const Played played = play(options, seed);
    CAPTURE(seed);
    double of_ranks = 0, of_sites = 0;
    for (const RankSummary& r : played.snapshot.ranks) {
      const auto rank = static_cast<std::size_t>(r.rank);
      REQUIRE(r.threads <= static_cast<std::uint32_t>(options.threads));
      // As the streams were made: what blocked threads is never more than that, so mpi_s did not have to give.
      REQUIRE(r.mpi_between_s() == Approx(static_cast<double>(played.mpi[rank]) * 1e-9).margin(1e-12));
      REQUIRE(r.one_sided_s == Approx(static_cast<double>(played.one_sided[rank]) * 1e-9).margin(1e-12));
      REQUIRE(r.file_s == Approx(static_cast<double>(played.file[rank]) * 1e-9).margin(1e-12));
      REQUIRE(std::min({r.late_sender_s, r.late_receiver_s, r.transfer_s, r.collective_wait_s, r.other_s}) >= 0);
      const double sum = r.late_sender_s + r.late_receiver_s + r.transfer_s + r.collective_wait_s + r.one_sided_s +
                         r.file_s + r.other_s + r.init_s + r.finalize_s;
      REQUIRE(sum == Approx(r.mpi_s).margin(1e-12));
      REQUIRE(r.finalize_s == Approx(std::max(played.snapshot.duration_s - r.end_s, 0.0)).margin(1e-12));
      if (options.threads == 1 && r.threads == 1) {
        REQUIRE(r.begin_s >= 0);
        REQUIRE(r.mpi_between_s() <= r.end_s - r.begin_s + 1e-9);
        REQUIRE(r.ideal_saved_s >= 0);
        REQUIRE(r.ideal_saved_s <= r.mpi_between_s() + 1e-9);  // computation stays on any network
        saved += r.ideal_saved_s;
      }
      of_ranks += r.late_sender_s + r.late_receiver_s + r.transfer_s;
      late += r.late_sender_s + r.late_receiver_s;
      transfer += r.transfer_s;
      other += r.other_s;
    }
    for (const SiteActivity& a : played.snapshot.site_activity) of_sites += lost_s(a);
    REQUIRE(of_sites == Approx(of_ranks).margin(1e-12));
    double of_regions = 0;
    for (const Region& r : played.snapshot.regions) of_regions += r.late_sender_s + r.late_receiver_s + r.transfer_s;
    for (const RegionLink& l : played.snapshot.links) of_regions += l.late_sender_s + l.late_receiver_s + l.transfer_s;
    REQUIRE(of_regions <= of_ranks + 1e-12);
  }
  CHECK(late > 0);
  CHECK(transfer > 0);
  CHECK(other > 0);
  CHECK(saved > 0);
}
