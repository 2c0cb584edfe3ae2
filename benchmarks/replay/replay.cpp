// Replays event streams from memory through the pipeline (match, criteria, windows, regions) on one core, from nearly
// full rings (65,536 events per rank) that are read in slices, as the aggregator does. Reports events per second,
// checks every count, and that memory does not grow from a tenth of the events on (or once the buffers have their size,
// where that is later) to their end, which comes when the run is at least four times as long as it was then. Exit
// status 1 when a result is wrong.
//
// Each pattern twice: match, criteria, windows and regions alone, and with everything that a job has (delays, messages
// in memory, and single calls as a dump gets them, but with --no-calls).
//
//   replay_benchmark [--quick] [--events N] [--only NAME] [--slice EVENTS] [--no-sites] [--no-calls] [--core]
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "analysis/callsite/site_table.hpp"
#include "analysis/pipeline/pipeline.hpp"
#include "benchmarks/replay/patterns.hpp"

using namespace pclscope;
using benchmark::Trace;

namespace {

// Processor time: others may use the machine, too.
struct Clock {
  using duration = std::chrono::nanoseconds;
  static duration now() {
    timespec t{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
  }
};

constexpr std::int64_t settling_ns = 500'000'000;  // five windows: buffers have their size

double resident_mb() {
  std::ifstream statm("/proc/self/statm");
  double size = 0, resident = 0;
  statm >> size >> resident;
  return resident * 4096 / 1e6;
}

struct Expected {
  std::uint64_t messages = 0, events = 0;
};

bool check(const Pipeline& pipeline, const Expected& expected, std::uint64_t delivered) {
  const Snapshot s = pipeline.snapshot();
  const MessageTotals& m = s.messages;
  const bool right = m.matched == expected.messages && delivered == expected.messages && m.ambiguous == 0 &&
                     m.unmatched_sends == 0 && m.unmatched_receives == 0 && m.events == expected.events &&
                     m.clock_violations == 0;
  if (!right)
    std::printf(
        "  WRONG: matched %llu delivered %llu of %llu, ambiguous %llu, unmatched %llu + %llu, events %llu of %llu\n",
        static_cast<unsigned long long>(m.matched), static_cast<unsigned long long>(delivered),
        static_cast<unsigned long long>(expected.messages), static_cast<unsigned long long>(m.ambiguous),
        static_cast<unsigned long long>(m.unmatched_sends), static_cast<unsigned long long>(m.unmatched_receives),
        static_cast<unsigned long long>(m.events), static_cast<unsigned long long>(expected.events));
  return right;
}

// At most `slice` events of each ring. False when all rings are empty.
bool read_slice(Pipeline& pipeline, const Trace& trace, std::vector<std::size_t>& read, std::size_t slice) {
  bool more = false;
  for (std::size_t rank = 0; rank < read.size(); ++rank) {
    const std::span<const record::Event> ring(trace.events[rank]);
    const std::size_t count = std::min(slice, ring.size() - read[rank]);
    pipeline.add(static_cast<std::int32_t>(rank), 0, ring.subspan(read[rank], count));
    read[rank] += count;
    more = more || read[rank] < ring.size();
  }
  return more;
}

// The recorded calls are said to be made from the code of this program, which all ranks run.
void name_sites(Trace& trace, callsite::SiteTable& sites, PipelineOptions& options) {
  const auto here = reinterpret_cast<std::uint64_t>(&resident_mb);
  for (std::size_t rank = 0; rank < trace.events.size(); ++rank) {
    sites.add_process(static_cast<std::int32_t>(rank), static_cast<std::uint32_t>(::getpid()), "");
    for (record::Event& e : trace.events[rank]) e.site = here + e.function;
  }
  options.name_sites = [&sites](std::span<Message> messages) { sites.translate(messages); };
  options.name_mpi_calls = [&sites](std::span<MpiCall> calls) { sites.translate(calls); };
}

// Events of one call have its begin.
std::uint64_t calls_in(const Trace& trace) {
  std::uint64_t calls = 0;
  for (const auto& events : trace.events)
    for (std::size_t i = 0; i < events.size(); ++i)
      calls += i == 0 || events[i].begin != events[i - 1].begin || events[i].function != events[i - 1].function;
  return calls;
}

// Memory is looked at after a tenth of the events, or when it has settled, and at the end.
bool replay(Trace trace, std::uint64_t events, std::size_t slice, bool with_sites, bool with_calls, bool everything) {
  const auto ranks = static_cast<std::int32_t>(trace.events.size());
  Application application;
  application.ranks = ranks;
  PipelineOptions options;
  options.at_leisure = false;  // as in a job
  if (!everything) {
    options.delay_share = 0;
    options.memory_bytes = 0;
  }
  const std::size_t message_memory = options.memory_bytes;
  callsite::SiteTable sites;
  if (with_sites) name_sites(trace, sites, options);
  std::uint64_t delivered = 0, calls = 0, expected_calls = 0;
  if (everything && with_calls) options.on_mpi_calls = [&](std::span<const MpiCall> batch) { calls += batch.size(); };
  options.on_messages = [&](std::span<const Message> messages) { delivered += messages.size(); };
  Pipeline pipeline(application, options);
  for (std::int32_t rank = 0; rank < ranks; ++rank) pipeline.set_node(rank, "node");
  std::vector<std::size_t> read(trace.events.size());
  Expected expected;
  std::int64_t now = 0;
  Clock::duration spent{};
  double resident_before = 0;
  std::int64_t settled_ns = 0;  // when that was
  while (expected.events < events || settled_ns == 0 || now < 4 * settled_ns) {
    const auto start = Clock::now();
    for (bool more = true, first = true; more; first = false) {
      if (!first) pipeline.end_round(now, false);
      more = read_slice(pipeline, trace, read, slice);
    }
    now += static_cast<std::int64_t>(trace.ticks);
    pipeline.end_round(now);
    std::fill(read.begin(), read.end(), 0);
    spent += Clock::now() - start;
    expected.messages += trace.messages;
    expected.events += trace.event_count();
    if (options.on_mpi_calls) expected_calls += calls_in(trace);
    if (settled_ns == 0 && now >= settling_ns && expected.events * 10 >= events) {
      settled_ns = now;
      resident_before = resident_mb();
    }
    trace.advance();
  }
  const double resident = resident_mb();
  const auto start = Clock::now();
  pipeline.finish();
  spent += Clock::now() - start;
  const double seconds = std::chrono::duration<double>(spent).count();
  std::printf(
      "%-20s %s %6.1f M events/s  %5.1f M messages/s  (%.0f M events of %.1f s, %zu regions, resident %.0f MB, at "
      "%.1f s %.0f MB)\n",
      trace.name.c_str(), everything ? "all " : "core", static_cast<double>(expected.events) / seconds / 1e6,
      static_cast<double>(expected.messages) / seconds / 1e6, static_cast<double>(expected.events) / 1e6,
      static_cast<double>(now) / 1e9, pipeline.snapshot().regions.size(), resident,
      static_cast<double>(settled_ns) / 1e9, resident_before);
  bool right = check(pipeline, expected, delivered);
  if (with_sites && (sites.size() == 0) != (expected.messages + calls == 0)) {
    std::printf("  WRONG: no call sites\n");
    right = false;
  }
  if (calls + pipeline.evaluation().calls_left_out().all != expected_calls || calls < expected_calls / 10 * 9) {
    std::printf("  WRONG: %llu calls of %llu\n", static_cast<unsigned long long>(calls),
                static_cast<unsigned long long>(expected_calls));
    right = false;
  }
  const double filling = static_cast<double>(message_memory) / 1e6;  // by messages kept, within their budget
  if (resident > resident_before * 1.1 + 8 + filling) {
    std::printf("  WRONG: memory grew with the number of events\n");
    right = false;
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t events = 100'000'000;
  std::string only;
  std::size_t slice = 2048;
  bool with_sites = true, with_calls = true, core_only = false;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--quick")) events = 30'000'000;
    else if (!std::strcmp(argv[i], "--events") && i + 1 < argc)
      events = static_cast<std::uint64_t>(std::atof(argv[++i]));
    else if (!std::strcmp(argv[i], "--only") && i + 1 < argc) only = argv[++i];
    else if (!std::strcmp(argv[i], "--slice") && i + 1 < argc)
      slice = std::max<std::size_t>(1, std::strtoull(argv[++i], nullptr, 10));
    else if (!std::strcmp(argv[i], "--core")) core_only = true;
    else if (!std::strcmp(argv[i], "--no-sites")) with_sites = false;
    else if (!std::strcmp(argv[i], "--no-calls")) with_calls = false;
    else return std::fprintf(stderr, "replay_benchmark: unknown argument %s\n", argv[i]), 2;
  }
  bool right = true;
  for (const Trace& trace :
       {benchmark::halo(4900), benchmark::master_worker(16000), benchmark::cg(2900), benchmark::quiet_calls(21000)})
    if (only.empty() || trace.name == only)
      for (const bool everything : {false, true})
        if (!everything || !core_only)
          right = replay(trace, events, slice, with_sites, with_calls, everything) && right;
  return right ? 0 : 1;
}
