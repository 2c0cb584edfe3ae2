#include "analysis/aggregator/worker.hpp"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>

#include "analysis/aggregator/blocked_watch.hpp"
#include "analysis/aggregator/broadcast.hpp"
#include "analysis/callsite/call_sites.hpp"
#include "analysis/collect/board_file.hpp"
#include "analysis/collect/collector.hpp"
#include "analysis/collect/tick_clock.hpp"
#include "analysis/pipeline.hpp"
#include "analysis/store/reader.hpp"
#include "analysis/store/writer.hpp"
#include "analysis/window/retention.hpp"

namespace pclscope::aggregator {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::uint64_t slice = 2048;                     // events per ring
constexpr microseconds shortest_nap{100};
constexpr microseconds longest_nap{4'000};               // a ring of 65,536 events outlasts it at 16 M events/s
constexpr milliseconds flush_every{1'000};
constexpr double delay_share = 0.2;   // of wall time, to follow delays
constexpr double order_share = 0.05;  // and for vector clocks
constexpr milliseconds search_early{5}, search_late{200};  // for new segments
constexpr milliseconds late_comers{10'000};              // after the first ring, ranks without one are given up
constexpr milliseconds lines_at_end{10'000};        // for the lines of all call sites
constexpr milliseconds last_words{300};                  // how long dying ranks may still be writing

std::atomic<bool> terminated{false};
void on_termination(int) { terminated = true; }

void complain(const std::string& line) { std::fprintf(stderr, "pclscope: %s\n", line.c_str()); }

Application application_of(const Options& options) {
  Application application;
  application.command = options.command;
  application.ranks = options.ranks;
  application.aggregators = 1;
  application.node_of_rank.assign(static_cast<std::size_t>(options.ranks), -1);
  return application;
}

class Worker {
 public:
  explicit Worker(const Options& options)
      : options_(options), collector_(options.token), pipeline_(application_of(options), pipeline_options()) {
    // `pclscope run` waits for the worker by this board; without one it does not wait.
    if (auto board = collect::BoardFile::open(options.token)) board_ = std::move(*board);
  }

  int run() {
    if (board_) board_->board().aggregator.store(static_cast<std::uint32_t>(::getpid()));
    open_store();
    broadcast_.open(options_, clock_.origin_realtime_ns());
    while (!stopping_) round();
    finish();
    if (board_) {
      board_->board().aggregator_done.store(1);
      board_->notify();
    }
    collect::remove_leftovers(options_.token);  // those who still need the board have it mapped
    return 0;
  }

 private:
  PipelineOptions pipeline_options() {
    PipelineOptions options;
    options.window_ns = options_.window_ms * 1'000'000;
    options.name_sites = [this](std::span<Message> messages) { call_sites_.table().translate(messages); };
    options.name_call_sites = [this](std::span<CollectiveCall> calls) { call_sites_.table().translate(calls); };
    options.baseline = baseline();
    options.delay_share = delay_share;
    options.order_share = order_share;
    options.keep = keep();
    options.file_budget_bytes = options_.budget_bytes;
    options.memory_bytes = retention::memory_budget(options_.budget_bytes);
    if (const auto method = region_method(options_.regions)) options.regions.method = *method;
    if (!options_.dump.empty() && options.keep != Keep::summaries) {
      options.on_messages = [this](std::span<const Message> kept) { store([&] { return store_->append(kept); }); };
      options.on_calls = [this](std::span<const CollectiveCall> calls) { store([&] { return store_->append(calls); }); };
    }
    options.on_window = [this](const Window& window) {
      window_end_ns_ = static_cast<std::int64_t>((window.begin_s + window.length_s) * 1e9);
      window_closed_ = true;
      store([&] { return store_->append(window); });
    };
    return options;
  }

  Keep keep() const {
    if (options_.keep == "summaries") return Keep::summaries;
    return options_.keep == "all" ? Keep::all : Keep::interesting;
  }

  // Checked by `pclscope run` already; the file may be gone all the same.
  std::vector<Criterion> baseline() const {
    if (options_.baseline.empty()) return {};
    auto reader = store::Reader::open(options_.baseline);
    if (reader) return (*reader)->summary().criteria;
    complain("no baseline: " + reader.error().message + ": latencies are judged by this run's own medians");
    return {};
  }

  void open_store() {
    if (options_.dump.empty()) return;
    store::WriterOptions writing;
    writing.budget_bytes = options_.budget_bytes;
    auto writer = store::Writer::create(options_.dump, writing);
    if (writer) store_ = std::move(*writer);
    else complain(writer.error().message + ": the job runs on without a dump");
  }

  // One turn: look for new rings, read them all once, close what is due, tell the world, rest a little.
  void round() {
    const auto start = Clock::now();
    if (start >= next_search_) search(start);
    const std::uint64_t events = drain();
    end_round();
    blocked_.round(start);
    report(start);
    listen(events);
  }

  void search(Clock::time_point now) {
    collector_.discover([this](collect::SegmentFile& segment) { welcome(segment); });
    for (const std::string& line : collector_.complaints()) complain(line);
    const bool all_here = collector_.processes() >= static_cast<std::size_t>(options_.ranks);
    if (collector_.segments().empty()) first_seen_ = now;
    // A rank that has no ring (no memory for one) must not hold up the others for ever.
    everybody_ = all_here || now - first_seen_ > late_comers;
    next_search_ = now + (all_here ? search_late : search_early);
  }

  // Pairing needs every ring read: not while one is still to be found.
  void end_round() {
    if (!clock_.settled()) return;
    const bool missing = collector_.threads_missing();
    if (missing) next_search_ = {};
    pipeline_.end_round(clock_.now_ns(), everybody_ && !missing);
  }

  void welcome(collect::SegmentFile& segment) {
    clock_.settle(segment.header().clock);
    pipeline_.set_tick_scale(clock_.scale());
    blocked_.set_tick_scale(clock_.scale());
    pipeline_.set_node(segment.rank(), segment.node());
    pipeline_.set_threads(segment.rank(), segment.header().threads == record::Threads::many);
    call_sites_.table().add_process(segment.rank(), segment.header().pid, segment.executable());
    if (mpi_known_) return;
    mpi_known_ = true;
    pipeline_.set_mpi(segment.mpi());
    broadcast_.set_mpi(segment.mpi());
  }

  // Reads every ring to beyond where its head stood at the end of the last round, in slices (measured: handing over
  // whole rings at once takes three times as long).
  std::uint64_t drain() {
    const auto sink = [this](std::int32_t rank, std::uint32_t thread, std::span<const record::Event> batch) {
      pipeline_.add(rank, thread, batch);
      blocked_.add(rank, thread, batch);
    };
    std::uint64_t events = 0;
    for (std::uint64_t read = 0; read < collector_.largest_ring(); read += slice) {
      const std::uint64_t count = collector_.drain(slice, sink);
      if (count == 0) break;
      events += count;
      pipeline_.end_round(clock_.now_ns(), false);
    }
    tell_drops();
    return events;
  }

  void tell_drops() {
    // Threads of a rank drop separately; the pipeline wants the rank's total.
    for (const auto& segment : collector_.segments()) {
      dropped_scratch(segment->rank()) += segment->header().dropped.load(std::memory_order_relaxed);
      const bool muted = segment->header().muted.load(std::memory_order_acquire) != 0;
      if (muted) muted_[static_cast<std::size_t>(std::max(segment->rank(), 0))] = true;
    }
    for (std::size_t rank = 0; rank < dropped_.size(); ++rank) {
      if (dropped_[rank] > 0) pipeline_.set_dropped(static_cast<std::int32_t>(rank), dropped_[rank]);
      pipeline_.set_muted(static_cast<std::int32_t>(rank), muted_[rank]);
      dropped_[rank] = 0;
      muted_[rank] = false;
    }
  }

  std::uint64_t& dropped_scratch(std::int32_t rank) {
    const auto index = static_cast<std::size_t>(std::max(rank, 0));
    if (index >= dropped_.size()) {
      dropped_.resize(index + 1, 0);
      muted_.resize(index + 1, false);
    }
    return dropped_[index];
  }

  void report(Clock::time_point now) {
    const milliseconds publish_every{std::clamp<std::int64_t>(options_.window_ms, 20, 500)};
    if (broadcast_.on() && (window_closed_ || now >= next_publish_)) {
      broadcast_.publish(live_snapshot(false));
      next_publish_ = now + publish_every;
      window_closed_ = false;
    }
    broadcast_.serve(answer_dag_);
    if (store_ && now >= next_flush_) {
      flush_store(live_snapshot(false));
      next_flush_ = Clock::now() + flush_every;
    }
  }

  // What messages refer to is in the file before them.
  void flush_store(const Snapshot& snapshot) {
    store([&] { return store_->append(call_sites_.news()); });
    store([&] { return store_->summarize(snapshot); });
    store([&] { return store_->flush(); });
    if (!store_) return;
    pipeline_.set_file_bytes(store_->file_bytes());
    if (const auto line = pipeline_.budget_bites()) complain(*line);
  }

  Snapshot live_snapshot(bool finished) {
    Snapshot snapshot = pipeline_.snapshot();
    snapshot.job = options_.job;
    snapshot.time_origin_realtime_ns = clock_.origin_realtime_ns();
    snapshot.finished = finished;
    snapshot.finalized_ranks = static_cast<std::uint32_t>(collector_.finalized());
    snapshot.live.window_s = static_cast<double>(options_.window_ms) / 1e3;
    snapshot.live.sequence = ++sequence_;
    const std::int64_t now = clock_.now_ns();
    // Before the first window there is nothing that could be missing.
    snapshot.live.window_end_realtime_ns = clock_.realtime_of(window_end_ns_ > 0 ? window_end_ns_ : now);
    blocked_.fill(snapshot);
    call_sites_.describe(snapshot);
    return snapshot;
  }

  // Sleeps on the anchor's channel: a word from it ends the nap.
  void listen(std::uint64_t events) {
    nap_ = events > 0 ? shortest_nap : std::min(nap_ * 2, longest_nap);
    const timespec timeout{0, std::chrono::nanoseconds(nap_).count()};
    pollfd channel{options_.control, POLLIN, 0};
    if (::ppoll(&channel, options_.control >= 0 ? 1 : 0, &timeout, nullptr) > 0) {
      char word = 0;
      const ssize_t length = ::recv(options_.control, &word, 1, MSG_DONTWAIT);
      if (length == 1) in_order_ = word == say_finished;
      if (length == 1 || length == 0 || (errno != EAGAIN && errno != EINTR)) stopping_ = true;
    }
    if (terminated) stopping_ = true;
  }

  void finish() {
    const auto end = Clock::now() + last_words;
    do {
      search(Clock::now());
      if (drain() == 0 && (in_order_ || collector_.segments().empty())) break;
      end_round();
      if (in_order_ && collector_.empty()) break;
      if (!in_order_) ::usleep(2'000);
    } while (in_order_ || Clock::now() < end);
    pipeline_.finish();
    blocked_.finish(in_order_);
    flush_store(live_snapshot(in_order_));  // a launcher may have no patience with us now
    call_sites_.resolve_all(store_ ? lines_at_end : milliseconds(500));
    const Snapshot last = live_snapshot(in_order_);
    flush_store(last);
    store([&] { return store_->close(); });
    broadcast_.publish(last);
    broadcast_.serve(answer_dag_);
    broadcast_.close();
  }

  // The first failure of the store is told once; the job and the live view go on without it.
  template <class Action>
  void store(Action action) {
    if (!store_) return;
    const Status status = action();
    if (status) return;
    complain(status.error().message + ": storing stopped, what was flushed before stays readable; the job runs on");
    store_.reset();
  }

  const Options& options_;
  collect::TickClock clock_;
  collect::Collector collector_;
  std::unique_ptr<collect::BoardFile> board_;
  std::unique_ptr<store::Writer> store_;
  callsite::CallSites call_sites_;
  Broadcast broadcast_;
  std::vector<std::uint64_t> dropped_;
  std::vector<bool> muted_;
  std::int64_t window_end_ns_ = 0;
  std::uint64_t sequence_ = 0;
  bool window_closed_ = false;
  bool mpi_known_ = false;
  bool everybody_ = false;  // every rank's ring was found
  bool stopping_ = false;
  bool in_order_ = false;
  microseconds nap_ = shortest_nap;
  Clock::time_point first_seen_{}, next_search_{}, next_publish_{}, next_flush_ = Clock::now() + flush_every;
  Pipeline pipeline_;  // its callbacks use the members above
  const wire::Publisher::DagHandler answer_dag_ = [this](const DagQuestion& question) { return pipeline_.dag(question); };
  BlockedWatch blocked_{options_.ranks, options_.window_ms * 1'000'000, pipeline_.matcher(), collector_, clock_, call_sites_};
};

// A launcher may have bound the tool's rank to the core of an application rank: run where there is room.
void leave_binding() {
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  ::sched_setaffinity(0, sizeof all, &all);  // clipped to what the job was given; a failure costs only speed
}

}  // namespace

int run_worker(const Options& options) {
  ::prctl(PR_SET_NAME, "pclscope-aggreg");  // not "exe": people look for it with ps and pgrep
  leave_binding();
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is an error of the store, not the end of us
  struct sigaction action {};
  action.sa_handler = on_termination;
  ::sigaction(SIGTERM, &action, nullptr);
  try {
    return Worker(options).run();
  } catch (const std::exception& error) {
    complain(std::string("the aggregator cannot go on: ") + error.what());
    return 1;
  }
}

}  // namespace pclscope::aggregator
