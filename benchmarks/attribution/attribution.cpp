// What findings cost the aggregator: the messages of the replay patterns through delays alone and through delays and
// findings, window by window, against the whole pipeline; in turn, seven times (--quick: once), medians. Checks that no
// message is lost on the way and that findings come out. Exit status 1 when not.
//
//   attribution_benchmark [--quick]
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "analysis/attribute/attributor.hpp"
#include "analysis/pipeline/pipeline.hpp"
#include "benchmarks/replay/patterns.hpp"

using namespace pclscope;
using benchmark::Trace;

namespace {

constexpr std::int64_t window_ns = 100'000'000;

struct Recorded {
  std::vector<std::vector<Message>> windows;
  std::vector<std::vector<CollectiveCall>> calls;
  std::uint64_t messages = 0, to_others = 0;
};

// Of this process: others may be using the core.
double cpu_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// CPU time of the pipeline.
double pipeline_ns_of(Trace trace, int repeats, const PipelineOptions& options) {
  Application application;
  application.ranks = static_cast<std::int32_t>(trace.events.size());
  Pipeline pipeline(application, options);
  const double start = cpu_ns();
  benchmark::analyse(pipeline, trace, repeats);
  return cpu_ns() - start;
}

Recorded record_all(const Trace& trace, int repeats) {
  Recorded out;
  PipelineOptions options;
  const auto at = [&](std::int64_t time) {
    const auto window = static_cast<std::size_t>(time / window_ns);
    if (window >= out.windows.size()) {
      out.windows.resize(window + 1);
      out.calls.resize(window + 1);
    }
    return window;
  };
  options.on_messages = [&](std::span<const Message> messages) {
    for (const Message& m : messages) out.windows[at(m.recv_end)].push_back(m);
    out.messages += messages.size();
    for (const Message& m : messages) out.to_others += m.source != m.destination;
  };
  options.on_calls = [&](std::span<const CollectiveCall> calls) {
    for (const CollectiveCall& c : calls) out.calls[at(c.end)].push_back(c);
  };
  pipeline_ns_of(trace, repeats, options);
  return out;
}

double delays_ns(const Recorded& r, std::int32_t ranks, attribute::Attributor* attributor) {
  const std::vector<std::int32_t> nodes(static_cast<std::size_t>(ranks), 0), regions(nodes);
  Delays delays(ranks);
  delays.tell(attributor);
  const double start = cpu_ns();
  for (std::size_t k = 0; k < r.windows.size(); ++k) {
    const std::int64_t begin = static_cast<std::int64_t>(k) * window_ns;
    if (attributor != nullptr) {
      for (const Message& m : r.windows[k]) attributor->count(m.source, m.destination, 0, 0, 1, m.bytes);
      attributor->window(begin, begin + window_ns, r.windows[k], r.calls[k], nodes, regions);
    }
    delays.add(r.windows[k], r.calls[k], begin + window_ns);
    if (attributor != nullptr) attributor->refresh(1);
  }
  delays.finish();
  if (attributor != nullptr) attributor->finish(1);
  return cpu_ns() - start;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

bool run(const Trace& trace, int repeats, int times) {
  const auto ranks = static_cast<std::int32_t>(trace.events.size());
  const Recorded r = record_all(trace, repeats);
  attribute::Attributor attributor(ranks, {});
  std::vector<double> pipeline_ns, alone_ns, findings_ns;
  for (int i = 0; i < times; ++i) {
    attributor = attribute::Attributor(ranks, {});
    pipeline_ns.push_back(pipeline_ns_of(trace, repeats, {}));
    alone_ns.push_back(delays_ns(r, ranks, nullptr));
    findings_ns.push_back(delays_ns(r, ranks, &attributor) - alone_ns.back());
  }
  const double pipeline = median(pipeline_ns), findings = median(findings_ns);
  const auto messages = static_cast<double>(r.messages);
  std::printf(
      "%-16s findings %5.0f CPU ns per message: %4.1f %% of the pipeline's %.0f  (delays %.0f; %.1f M messages, %zu "
      "slices)\n",
      trace.name.c_str(), findings / messages, 100 * findings / pipeline, pipeline / messages,
      median(alone_ns) / messages, messages * 1e-6, attributor.slices().all().size());
  std::uint64_t counted = 0;
  for (const AttributionSlice& s : attributor.result().slices) counted += s.intra_messages + s.inter_messages;
  const bool right = counted == r.to_others && !attributor.result().findings.empty();
  if (!right)
    std::printf("  WRONG: %llu of %llu messages in slices, %zu findings\n", static_cast<unsigned long long>(counted),
                static_cast<unsigned long long>(r.to_others), attributor.result().findings.size());
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && !std::strcmp(argv[1], "--quick");
  const int repeats = quick ? 30 : 100, times = quick ? 1 : 7;
  bool right = run(benchmark::halo(200), repeats, times);
  right = run(benchmark::master_worker(2000), repeats, times) && right;
  right = run(benchmark::cg(200), repeats, times) && right;
  return right ? 0 : 1;
}
