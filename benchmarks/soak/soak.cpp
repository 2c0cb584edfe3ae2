// A long run, shortened: CG's pattern on 4 x 4 ranks is replayed through the pipeline, and what is kept goes into a
// dump. The rows are slow at times (a rise, a plateau, back), so that growth and steady periods occur. Checks that
// memory stays flat after warm-up, that the file stays within its budget, that every message is counted, that the
// planted periods are found, and that the dump holds what was stored and tells the same periods. Exit status 1 when
// something is wrong.
//
//   soak_benchmark [--events N] [--budget BYTES] [--keep summaries|interesting|all] [--no-delays] [--file PATH]
//
// 1e8 events unless told otherwise: 10 to 45 s, as busy as the machine is; 1e9 take ten times as long (measured: 433
// s).
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "analysis/pipeline/pipeline.hpp"
#include "analysis/store/reader.hpp"
#include "analysis/store/writer.hpp"
#include "analysis/window/evolutions.hpp"
#include "analysis/window/retention.hpp"
#include "benchmarks/replay/patterns.hpp"

using namespace pclscope;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int rows = 4, ranks = 16;
constexpr std::int64_t window_ns = 5'000'000;  // replayed ranks send hundreds of times as often as real ones
constexpr int cycle = 400;                     // repetitions from one slow time of a row to its next
constexpr int rise = 10, plateau = 40;

struct Options {
  double events = 1e8;
  std::uint64_t budget = retention::default_budget_bytes;
  Keep keep = Keep::interesting;
  bool follow_delays = true;
  std::string file = "/tmp/pclscope-soak." + std::to_string(::getpid()) + ".h5";
};

double resident_mb() {
  std::ifstream statm("/proc/self/statm");
  double size = 0, resident = 0;
  statm >> size >> resident;
  return resident * 4096 / 1e6;
}

std::uint64_t size_of(const std::string& path) {
  struct stat s {};
  return ::stat(path.c_str(), &s) == 0 ? static_cast<std::uint64_t>(s.st_size) : 0;
}

// Extra time of a row's messages in one repetition: rows are slow one after the other.
std::uint64_t extra_ns(int row, std::uint64_t repetition) {
  const int at = static_cast<int>((repetition + static_cast<std::uint64_t>(cycle - 100 - row * 60)) % cycle) - 200;
  if (at < 0 || at >= rise + plateau) return 0;
  return at < rise ? static_cast<std::uint64_t>(at + 1) * 600 : rise * 600;
}

// The dump, as the aggregator's worker writes it.
class Dump {
 public:
  explicit Dump(const Options& options) {
    store::WriterOptions to;
    to.budget_bytes = options.budget;
    auto made = store::Writer::create(options.file, to);
    if (!made) std::printf("  WRONG: %s\n", made.error().message.c_str()), std::exit(1);
    writer_ = std::move(*made);
  }
  void append(std::span<const Message> messages) {
    must(writer_->append(messages));
    stored_ += messages.size();
  }
  void append(std::span<const CollectiveCall> calls) { must(writer_->append(calls)); }
  void append(const Window& window, Pipeline& pipeline) {
    must(writer_->append(window));
    ++windows_;
    pipeline.evaluation().set_file_bytes(writer_->file_bytes());
    if (windows_ % 200 == 0) must(writer_->flush());
    if (const auto text = pipeline.evaluation().budget_bites()) std::printf("  %s\n", text->c_str());
  }
  void close(const Snapshot& summary) {
    must(writer_->summarize(summary));
    must(writer_->close());
  }
  std::uint64_t stored() const { return stored_; }
  std::uint64_t windows() const { return windows_; }

 private:
  static void must(const Status& status) {
    if (!status) std::printf("  WRONG: %s\n", status.error().message.c_str()), std::exit(1);
  }
  std::unique_ptr<store::Writer> writer_;
  std::uint64_t stored_ = 0, windows_ = 0;
};

bool wrong(bool is, const char* what) {
  if (is) std::printf("  WRONG: %s\n", what);
  return is;
}

// The dump against what was counted while it was written.
bool check_file(const Options& options, const Snapshot& last, const Dump& dump) {
  const auto reader = store::Reader::open(options.file);
  if (!reader) return !wrong(true, reader.error().message.c_str());
  bool bad = wrong(size_of(options.file) > options.budget, "the file is larger than its budget");
  bad |= wrong(!(*reader)->complete(), "the file is not complete");
  bad |= wrong((*reader)->message_count() != dump.stored(), "the file does not hold what was stored");
  bad |= wrong(last.retention.messages_stored != dump.stored(), "the account of stored messages is wrong");
  const auto windows = (*reader)->windows();
  if (!windows) return !wrong(true, windows.error().message.c_str());
  if (windows->empty() || windows->back().length_s > 1.5e-9 * window_ns) {
    std::printf("  windows were merged: periods are not compared\n");
    return !bad;
  }
  for (const Region& region : last.regions)
    bad |=
        wrong(periods_of(*windows, region.id) != region.periods, "the stored windows tell other periods than the run");
  return !bad;
}

bool check_periods(const Snapshot& last, std::uint64_t repeats) {
  bool bad = wrong(last.regions.size() != rows, "the rows are not the regions");
  const double planted = static_cast<double>(repeats) / cycle;
  for (const Region& region : last.regions) {
    int growths = 0, steadies = 0;
    for (const Period& p : region.periods) {
      growths += p.kind == PeriodKind::growth;
      steadies += p.kind == PeriodKind::steady;
    }
    std::printf("  region %d: %d growth and %d steady periods, about %.1f slow times planted\n", region.id, growths,
                steadies, planted);
    bad |= wrong(std::fabs(growths - planted) > 1.5 + planted * 0.05, "growth periods missed or made up");
    bad |= wrong(std::fabs(steadies - planted) > 1.5 + planted * 0.05, "steady periods missed or made up");
  }
  return !bad;
}

// The trace once more: one length later, and as slow as its time says.
void advance(benchmark::Trace& trace, std::uint64_t number) {
  trace.advance();
  for (int rank = 0; rank < ranks; ++rank) {
    const std::uint64_t change = extra_ns(rank / 4, number) - extra_ns(rank / 4, number - 1);
    if (change == 0) continue;
    for (record::Event& e : trace.events[static_cast<std::size_t>(rank)])
      if (e.kind == record::EventKind::recv_done) e.end += change;
  }
}

// In slices, as rings are read.
void replay(Pipeline& pipeline, const benchmark::Trace& trace, std::int64_t now) {
  constexpr std::size_t slice = 1024;
  bool more = true;
  for (std::size_t from = 0; more; from += slice) {
    if (from > 0) pipeline.end_round(now, false);
    more = false;
    for (int rank = 0; rank < ranks; ++rank) {
      const std::span<const record::Event> ring(trace.events[static_cast<std::size_t>(rank)]);
      if (from >= ring.size()) continue;
      pipeline.add(rank, 0, ring.subspan(from, std::min(slice, ring.size() - from)));
      more = more || from + slice < ring.size();
    }
  }
}

void progress(const Options& options, std::uint64_t events, const Snapshot& now) {
  const Retention& r = now.retention;
  std::printf(
      "%5.0f M events  resident %4.0f MB  messages in memory %4.0f of %4.0f MB  file %5.0f MB  stored %6.1f M  left "
      "out %6.1f M\n",
      static_cast<double>(events) / 1e6, resident_mb(), static_cast<double>(r.memory_bytes) / 1e6,
      static_cast<double>(r.memory_budget_bytes) / 1e6, static_cast<double>(size_of(options.file)) / 1e6,
      static_cast<double>(r.messages_stored) / 1e6, static_cast<double>(r.messages_left_out) / 1e6);
  std::fflush(stdout);
}

bool run(const Options& options) {
  benchmark::Trace trace = benchmark::cg(290);
  Application application;
  application.ranks = ranks;
  Dump dump(options);
  PipelineOptions to;
  to.window_ns = window_ns;
  to.keep = options.keep;
  to.file_budget_bytes = options.budget;
  to.memory_bytes = retention::memory_budget(options.budget);
  to.delay_share = options.follow_delays ? 1 : 0;
  to.at_leisure = false;
  Pipeline* live = nullptr;
  to.on_messages = [&](std::span<const Message> m) { dump.append(m); };
  to.on_calls = [&](std::span<const CollectiveCall> c) { dump.append(c); };
  to.on_window = [&](const Window& w) { dump.append(w, *live); };
  Pipeline pipeline(application, to);
  live = &pipeline;
  for (int rank = 0; rank < ranks; ++rank) pipeline.set_node(rank, "node");
  std::uint64_t events = 0, messages = 0, repeats = 0;
  double warm_mb = 0, most_mb = 0, most_memory = 0, next_line = 0.1;
  std::int64_t now = 0;
  const auto start = Clock::now();
  while (static_cast<double>(events) < options.events) {
    replay(pipeline, trace, now);
    now += static_cast<std::int64_t>(trace.ticks);
    pipeline.end_round(now);
    events += trace.event_count();
    messages += trace.messages;
    advance(trace, ++repeats);
    if (repeats % 50 == 0) most_mb = std::max(most_mb, resident_mb());
    if (static_cast<double>(events) < next_line * options.events) continue;
    const Snapshot s = pipeline.snapshot();
    if (next_line > 0.35 && warm_mb == 0) warm_mb = most_mb;
    most_memory = std::max(most_memory, static_cast<double>(s.retention.memory_bytes));
    progress(options, events, s);
    next_line += 0.1;
  }
  pipeline.finish();
  const Snapshot last = pipeline.snapshot();
  dump.close(last);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf(
      "%.0f M events, %llu windows in %.0f s: %.1f M events/s; resident %.0f MB after warm-up (0.4), at most %.0f "
      "MB; file %.0f of %.0f MB\n",
      static_cast<double>(events) / 1e6, static_cast<unsigned long long>(dump.windows()), seconds,
      static_cast<double>(events) / seconds / 1e6, warm_mb, most_mb, static_cast<double>(size_of(options.file)) / 1e6,
      static_cast<double>(options.budget) / 1e6);
  bool bad = wrong(last.messages.matched != messages, "not every message was matched");
  bad |= wrong(last.retention.messages_stored + last.retention.messages_left_out != messages,
               "stored and left out are not all messages");
  bad |= wrong(most_mb > warm_mb * 1.1 + 16, "memory grew after warm-up");
  bad |= wrong(most_memory > static_cast<double>(to.memory_bytes), "messages in memory beyond their budget");
  bad |= !check_periods(last, repeats);
  return check_file(options, last, dump) && !bad;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const bool value = i + 1 < argc;
    if (!std::strcmp(argv[i], "--events") && value) options.events = std::atof(argv[++i]);
    else if (!std::strcmp(argv[i], "--budget") && value)
      options.budget = static_cast<std::uint64_t>(std::atof(argv[++i]));
    else if (!std::strcmp(argv[i], "--file") && value) options.file = argv[++i];
    else if (!std::strcmp(argv[i], "--keep") && value)
      ++i, options.keep = argv[i][0] == 's' ? Keep::summaries : argv[i][0] == 'a' ? Keep::all : Keep::interesting;
    else if (!std::strcmp(argv[i], "--no-delays")) options.follow_delays = false;
    else return std::fprintf(stderr, "soak_benchmark: unknown argument %s\n", argv[i]), 2;
  }
  const bool right = run(options);
  ::unlink(options.file.c_str());
  return right ? 0 : 1;
}
