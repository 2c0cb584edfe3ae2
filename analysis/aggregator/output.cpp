#include "analysis/aggregator/output.hpp"

#include <algorithm>
#include <cstdio>

#include "analysis/attribute/rest.hpp"
#include "analysis/store/reader.hpp"
#include "analysis/window/retention.hpp"
#include "analysis/wire/last_words.hpp"

namespace pclscope::aggregator {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds flush_every{1'000}, flush_seldom{8'000};  // while there is news; in silence ever more seldom
constexpr milliseconds flush_at_least{4'000};                    // where flushing takes long
constexpr int flush_part = 600;                                  // it has so small a part of the time
constexpr milliseconds refresh_after{20};                        // a snapshot for somebody who asks is no older
constexpr std::uint64_t flush_after_bytes = 256 << 10;  // more than a quarter more: where the disk has little room
constexpr milliseconds lines_at_end{10'000};            // for the lines of all call sites
constexpr std::size_t pairs_of_every_summary = 20'000;  // of ranks: of more the dump has them at its end only
constexpr double delay_share = 0.2;                     // of wall time, to follow delays
constexpr double calls_share = 0.005;                   // the same, to log single calls

// Checked by `pclscope run` already; the file may be gone all the same.
std::vector<Criterion> baseline(const Options& options) {
  if (options.baseline.empty()) return {};
  auto reader = store::Reader::open(options.baseline);
  if (reader) return (*reader)->summary().criteria;
  complain("no baseline: " + reader.error().message + ": latencies are judged by this run's own medians");
  return {};
}

Keep keep(const Options& options) {
  if (options.keep == "summaries") return Keep::summaries;
  return options.keep == "all" ? Keep::all : Keep::interesting;
}

}  // namespace

void complain(const std::string& line) { std::fprintf(stderr, "pclscope: %s\n", line.c_str()); }

// The first failure of the store is told once; the job and the live view go on without it.
template <class Action>
void Output::store(Action action) {
  if (!store_) return;
  const Status status = action();
  if (status) return;
  complain(status.error().message + ": storing stopped, " +
           (flushed_ ? "the dump holds what was flushed before" : "there is no dump, as nothing was flushed before") +
           "; the job runs on");
  store_.reset();
}

void Output::hook(PipelineOptions& options) {
  options.window_ns = options_.window_ms * 1'000'000;
  options.baseline = baseline(options_);
  options.delay_share = delay_share;
  options.calls_share = calls_share;
  options.at_leisure = false;
  options.keep = keep(options_);
  options.file_budget_bytes = options_.budget_bytes;
  options.memory_bytes = retention::memory_budget(options_.budget_bytes);
  if (const auto method = region_method(options_.regions)) options.regions.method = *method;
  if (options_.half_life_s >= 0) options.half_life_s = options_.half_life_s;
  if (!options_.dump.empty() && options.keep != Keep::summaries) {
    options.on_messages = [this](std::span<const Message> kept) { store([&] { return store_->append(kept); }); };
    options.on_mpi_calls = [this](std::span<const MpiCall> calls) { store([&] { return store_->append(calls); }); };
    options.on_calls = [this](std::span<const CollectiveCall> calls) { store([&] { return store_->append(calls); }); };
  }
  options.on_window = [this](const Window& window) {
    window_end_ns_ = static_cast<std::int64_t>((window.begin_s + window.length_s) * 1e9);
    window_closed_ = true;
    store([&] { return store_->append(window); });
  };
}

void Output::open() {
  next_flush_ = Clock::now() + flush_every;
  if (!options_.dump.empty()) {
    store::WriterOptions writing;
    writing.budget_bytes = options_.budget_bytes;
    auto writer = store::Writer::create(options_.dump, writing);
    if (writer) store_ = std::move(*writer);
    else complain(writer.error().message + ": the job runs on without a dump");
  }
  broadcast_.open(options_, clock_.origin_realtime_ns());
}

void Output::serve(Analysis& analysis) {
  Evaluation& results = *analysis.results();
  broadcast_.serve([&results](const DagQuestion& question) { return results.dag(question); },
                   [&results] { return results.traffic(); },
                   [&] {
                     if (!ending_ && Clock::now() >= next_refresh_) publish(analysis);
                   },
                   [&analysis](const DensityQuestion& question) { return analysis.density(question); },
                   [&analysis](const CallsQuestion& question) { return analysis.calls(question); });
}

void Output::report(Clock::time_point now, Analysis& analysis) {
  if (broadcast_.watched() && (window_closed_ || now >= next_publish_)) publish(analysis);
  serve(analysis);
  if (store_ && flush_due(now, analysis.results()->events())) {
    Snapshot now_known = snapshot(analysis, End::none);
    analysis.mark_missing(now_known, false);  // should we die now
    flush(std::move(now_known), analysis);
    const Clock::time_point end = Clock::now();
    next_flush_ = end + std::clamp<Clock::duration>(flush_part * (end - now), flush_every, flush_at_least);
    next_silent_flush_ = end + silent_pause_;
  }
}

bool Output::flush_due(Clock::time_point now, std::uint64_t events) {
  if (store_->file_bytes() > next_flush_bytes_) return true;
  if (now < next_flush_) return false;
  const bool silent = events == flushed_events_;
  if (silent && now < next_silent_flush_) return false;
  silent_pause_ = silent ? std::min(std::max(2 * silent_pause_, flush_every), flush_seldom) : flush_every;
  flushed_events_ = events;
  return true;
}

void Output::publish(Analysis& analysis) {
  const milliseconds publish_every{std::clamp<std::int64_t>(options_.window_ms, 20, 500)};
  broadcast_.publish(snapshot(analysis, End::none));
  next_refresh_ = Clock::now() + refresh_after;
  next_publish_ = next_refresh_ - refresh_after + publish_every;
  window_closed_ = false;
}

// What messages refer to is in the file before them.
void Output::flush(Snapshot snapshot, Analysis& analysis) {
  Evaluation& results = *analysis.results();
  const std::vector<CallSite> sites = analysis.site_news();
  // What is new of a job that stands still is about it, and the lines of its calls are found a moment later.
  if (!sites.empty() || snapshot.deadlocks.size() != flushed_deadlocks_) silent_pause_ = flush_every;
  flushed_deadlocks_ = snapshot.deadlocks.size();
  if (store_ && (ending_ || results.pairs() <= pairs_of_every_summary)) snapshot.traffic = results.traffic();
  store([&] { return store_->append(sites); });
  const Evaluation::CallsLeftOut calls = results.calls_left_out();
  store([&] { return store_->leave_out_calls(calls.all, calls.shed); });
  store([&] { return store_->summarize(snapshot); });
  store([&] { return store_->flush(); });
  if (!store_) return;
  if (!flushed_ && on_first_flush) on_first_flush();
  flushed_ = true;
  next_flush_bytes_ = store_->file_bytes() / 4 * 5 + flush_after_bytes;
  results.set_file_bytes(store_->file_bytes());
  if (const auto line = results.budget_bites())
    complain(store_->lacks_disk() ? "the disk has no space left for " + options_.dump +
                                        ": no more messages are stored, summaries go on; the job runs on"
                                  : *line);
}

Snapshot Output::snapshot(Analysis& analysis, End end) {
  if (store_) analysis.results()->set_not_stored(store_->messages_not_stored());
  Snapshot snapshot = analysis.results()->snapshot();
  snapshot.job = options_.job;
  snapshot.time_origin_realtime_ns = clock_.origin_realtime_ns();
  snapshot.finished = end == End::in_order;
  snapshot.ended = end != End::none;
  snapshot.finalized_ranks = std::max(snapshot.finalized_ranks, finalized_ranks);
  snapshot.live.window_s = static_cast<double>(options_.window_ms) / 1e3;
  snapshot.live.sequence = ++sequence_;
  const std::int64_t now = clock_.now_ns();
  // Before the first window there is nothing that could be missing.
  snapshot.live.window_end_realtime_ns = clock_.realtime_of(window_end_ns_ > 0 ? window_end_ns_ : now);
  analysis.fill(snapshot);
  attribute::settle_rest(snapshot, static_cast<double>(now) * 1e-9);
  return snapshot;
}

Snapshot Output::last_snapshot(Analysis& analysis, bool in_order) {
  Snapshot last = snapshot(analysis, in_order ? End::in_order : End::otherwise);
  analysis.mark_missing(last, true);
  return last;
}

void Output::finish(Analysis& analysis, bool in_order) {
  ending_ = true;
  flush(last_snapshot(analysis, in_order), analysis);  // a launcher may have no patience with us now
  analysis.resolve_sites(store_ ? lines_at_end : milliseconds(500));
  const Snapshot last = last_snapshot(analysis, in_order);
  flush(last, analysis);
  store([&] { return store_->close(); });
  if (!store_ && !options_.last_words.empty()) wire::write_last_words(options_.last_words, last);
  broadcast_.publish(last);
  serve(analysis);
  broadcast_.close();
}

}  // namespace pclscope::aggregator
