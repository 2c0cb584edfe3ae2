#include "analysis/aggregator/worker.hpp"

#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>

#include "analysis/aggregator/load_watch.hpp"
#include "analysis/aggregator/many_nodes.hpp"
#include "analysis/aggregator/node_files.hpp"
#include "analysis/aggregator/one_node.hpp"
#include "analysis/aggregator/output.hpp"
#include "analysis/aggregator/pace.hpp"
#include "analysis/aggregator/rest.hpp"
#include "analysis/aggregator/rings.hpp"
#include "analysis/aggregator/worker_link.hpp"
#include "analysis/collect/board_file.hpp"
#include "analysis/collect/dormant.hpp"
#include "interpose/record/clock_choice.hpp"

namespace pclscope::aggregator {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds longest_rest{4};       // a ring of 65,536 events outlasts it at 16 M events/s
constexpr milliseconds unwatched_rest{20};    // where ranks wake us when their rings fill
constexpr milliseconds silent_rest{50};       // and nothing has come
constexpr milliseconds silence{500};          // for so long
constexpr double full = 0.98;                 // of a ring: its rank waits, or loses events
constexpr int rounds_to_pair = 3;             // messages are all paired (Measurement::end_round)
constexpr milliseconds last_words{300};       // how long dying ranks may still be writing
constexpr milliseconds for_news{14'000};      // of the others, in the last epochs; an anchor gives up its own before
constexpr milliseconds until_dormant{2'000};  // at the end of a session
constexpr int kept_block_bytes = 16 << 20, kept_bytes = 64 << 20;  // of freed memory

std::atomic<bool> terminated{false};
void on_termination(int) { terminated = true; }

Application application_of(const Options& options) {
  Application application;
  application.command = options.command;
  application.ranks = options.ranks;
  application.aggregators = options.aggregators;
  application.node_of_rank.assign(static_cast<std::size_t>(options.ranks), -1);
  return application;
}

// What one window frees the next one takes: given back to the kernel it would come again page fault by page fault.
// Larger blocks than a window's buffers go back as before.
void keep_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, kept_block_bytes);
  ::mallopt(M_TRIM_THRESHOLD, kept_bytes);
}

// A viewer's connection, and a stranger's who knocks at the port, takes a descriptor; so do rings and dumps.
void allow_many_descriptors() {
  rlimit may{};
  if (::getrlimit(RLIMIT_NOFILE, &may) != 0) return;
  may.rlim_cur = may.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &may);
}

class Worker {
 public:
  explicit Worker(const Options& options)
      : options_(options), rings_(options, [this] { return expected(); }), output_(options_, clock_) {
    rings_.collector().tell_paths([this](std::int32_t rank, std::uint32_t, std::span<const record::Event> paths) {
      analysis_->take_paths(rank, paths);
    });
    // `pclscope run` waits for the worker by this board; without one it does not wait.
    auto board =
        options_.attach ? collect::BoardFile::open_existing(options.token) : collect::BoardFile::open(options.token);
    if (board) board_ = std::move(*board);
    if (board_ && options.part == 0) board_->board().flushed.store(0);
    rest_ = std::make_unique<Rest>(board_ ? &record::bell_of(board_->board(), part()) : nullptr);
    output_.on_first_flush = [this] {
      if (board_) board_->board().flushed.store(1);
    };
  }

  int run() {
    if (!begin()) return 1;
    start_analysis();
    while (!stopping_) round();
    finish();
    if (board_ && options_.attach) {
      remove_empty_log();
      collect::leave_session(*board_, static_cast<std::uint32_t>(::getpid()));
    } else if (board_) {
      board_->board().parts[part()].ended.store(1);
      if (options_.part == 0) board_->board().aggregator_done.store(nothing_to_record_ ? 3 : 1);
      board_->notify();
      last_of_node_removes(options_, board_->board());
    } else if (!options_.attach) {
      collect::remove_leftovers(options_.token);
    }
    return 0;
  }

 private:
  bool begin() {
    if (!options_.attach) return true;  // the anchor has entered us on the board
    if (!board_) {
      complain("the job " + options_.job + " is not on this node any more");
      return false;
    }
    const auto session = collect::begin_session(*board_, static_cast<std::uint32_t>(::getpid()));
    if (!session) {
      complain(session.error().message);
      return false;
    }
    session_ = *session;
    rings_.collector().set_session(session_);
    return true;
  }

  std::uint32_t part() const { return static_cast<std::uint32_t>(options_.part); }

  // Ranks that will show up for us: all of a job on one node, else as many as were started here; none: not known yet.
  std::optional<std::size_t> expected() {
    if (options_.attach && board_) {
      const collect::SessionProgress now = collect::progress(*board_);
      return now.living > 0 ? std::optional<std::size_t>(now.living) : std::nullopt;
    }
    if (options_.aggregators == 1 || !board_) return static_cast<std::size_t>(options_.ranks);
    if (options_.per_node > 1) return board_->board().parts[part()].started.load();  // all ranks entered MPI_Init
    const std::uint32_t started = board_->board().started.load();
    return started > 0 ? std::optional<std::size_t>(started) : std::nullopt;
  }

  // The workers of a node read one clock, so they have one axis: that of the first of them. After hello.
  void share_clock() {
    if (options_.per_node == 1 || !board_) return;
    record::Board& board = board_->board();
    if (link_.self() % options_.per_node == 0) {
      board.clock_source = static_cast<std::uint32_t>(clock_.source());
      board.clock_origin_ticks = clock_.scale().origin_ticks;
      board.clock_ns_per_tick = clock_.scale().ns_per_tick;
      board.clock_origin_realtime_ns = clock_.origin_realtime_ns();
      board.clock_shared.store(2, std::memory_order_release);
      return;
    }
    for (int ms = 0; board.clock_shared.load(std::memory_order_acquire) != 2; ++ms) {
      if (ms == 10'000) throw std::runtime_error("the other aggregator of its node does not tell its clock");
      ::usleep(1'000);
    }
    clock_.adopt(record::ClockSource{board.clock_source}, {board.clock_origin_ticks, board.clock_ns_per_tick},
                 board.clock_origin_realtime_ns);
  }

  void start_analysis() {
    PipelineOptions pipeline;
    output_.hook(pipeline);
    pipeline.open_messages /= static_cast<std::size_t>(options_.per_node);  // memory of one node
    if (options_.aggregators == 1) {
      output_.open();
      analysis_ = std::make_unique<OneNode>(application_of(options_), std::move(pipeline), rings_.collector(), clock_);
      return;
    }
    while (!link_.await_hello(milliseconds(200)) && !stopping_) listen_to_anchor();
    if (stopping_) return;
    clock_.settle(record::choose_clock(record::clock_choice(std::getenv(record::clock_variable))),
                  link_.origin_ticks());
    share_clock();
    link_.tell_clock(clock_.source(), clock_.scale());
    if (link_.self() == 0) output_.open();
    auto many = std::make_unique<ManyNodes>(link_, application_of(options_), std::move(pipeline),
                                            options_.keep == "all", rings_.collector(), clock_);
    many_ = many.get();
    if (options_.per_node > 1 && board_)
      many_->set_other_processes([this] { return collect::processes_found(board_->board()); });
    analysis_ = std::move(many);
  }

  // One turn: look for new rings, read them all once, close what is due, tell the world, rest a little.
  void round() {
    const auto start = Clock::now();
    read(start);
    if (analysis_->results() != nullptr) {
      output_.finalized_ranks = many_ ? 0 : static_cast<std::uint32_t>(rings_.collector().finalized());
      output_.report(start, *analysis_);
    }
    rest();
    if (many_ && many_->over()) stopping_ = true;  // the root is gone
    if (options_.attach && board_ && link_.descriptor() < 0) watch_job();
  }

  std::uint64_t read(Clock::time_point now) {
    rings_.search(now, [this](collect::SegmentFile& segment) {
      // Attached, nothing is recorded before us.
      clock_.settle(segment.header().clock, board_ && !options_.attach ? board_->board().first_init.load() : 0);
      output_.set_mpi(segment.mpi());
      analysis_->found(segment);
      if (options_.per_node > 1 && board_ && segment.thread() == 0)
        collect::note_process(board_->board(), segment.header().pid);
    });
    if (stopping_ || (rings_.all_found() && clock_.settled())) link_.tell_found();  // at the end: all that there are
    if (!clock_.settled() || !analysis_->ready()) return 0;
    const std::int64_t began_ns = clock_.now_ns();
    const double fullest = rings_.collector().fullest();
    pace_.reading(now, fullest);
    if (Evaluation* results = analysis_->results()) {
      const Load load = load_.look(now, rings_.collector().unread(), fullest >= full);
      results->set_load(stopping_ ? Load::ordinary : load);  // at the end there is time
    }
    const std::uint64_t events =
        rings_.read([this](std::int32_t rank, std::uint32_t thread,
                           std::span<const record::Event> batch) { analysis_->take(rank, thread, batch); },
                    [this] { analysis_->slice_read(); });
    rings_.tell_headers([this](std::int32_t rank, const Rings::Told& told) {
      analysis_->set_dropped(rank, told.dropped);
      analysis_->set_muted(rank, told.muted);
      analysis_->set_buffer(rank, told.buffer);
    });
    analysis_->rings_read(began_ns, rings_.all_found());
    tell_contradiction();
    const Clock::time_point end = Clock::now();
    pace_.has_read(end);
    if (events > 0) last_news_ = end;
    return events;
  }

  // Once: it is a defect, and the results say themselves how many messages it makes ambiguous.
  void tell_contradiction() {
    const auto& found = analysis_->matcher().contradiction();
    if (!found || told_contradiction_) return;
    told_contradiction_ = true;
    complain("the record contradicts itself: " + std::string(found->what) + ", from rank " +
             std::to_string(found->source) + " to rank " + std::to_string(found->destination) + " with tag " +
             std::to_string(found->tag) + "; such messages are ambiguous from here on; please report it");
  }

  // Attached without an anchor: the job may end by itself.
  void watch_job() {
    const Clock::time_point now = Clock::now();
    if (now < next_look_) return;
    next_look_ = now + milliseconds(20);
    const collect::SessionProgress job = collect::progress(*board_);
    const std::size_t here = rings_.collector().processes();
    const bool all_final = here > 0 && rings_.collector().finalized() >= here && here >= job.living;
    if (job.living > 0 && !all_final) return;
    in_order_ = all_final;
    stopping_ = true;
  }

  // Sleeps on the anchor's channel: a word from it, or from another node, ends the nap, and so does a ring that fills.
  void rest() {
    const std::chrono::nanoseconds most = most_rest();
    if (analysis_ && !many_) analysis_->set_patience(most > longest_rest ? rounds_to_pair * most.count() : 0);
    rest_->sleep(pace_.rest(most), link_.descriptor(),
                 [this] { return rings_.collector().fullest() >= 2 * Pace::wanted; });
    listen_to_anchor();
  }

  // While somebody watches, or who is here may change at any moment, news do not wait. With several aggregators they
  // wait for the next epoch in any case.
  std::chrono::nanoseconds most_rest() {
    const bool may_be_long =
        !output_.watched() && board_ && rings_.all_found() && clock_.settled() && rings_.collector().rings_bell();
    if (!may_be_long) return longest_rest;
    if (many_) return std::min<std::chrono::nanoseconds>(many_->until_due(), unwatched_rest);
    const milliseconds window(options_.window_ms);
    if (Clock::now() - last_news_ > silence) return std::clamp(window / 2, longest_rest, silent_rest);
    return std::clamp(window / 5, longest_rest, unwatched_rest);
  }

  void listen_to_anchor() {
    if (const Word word = link_.word(); word != Word::none) {
      in_order_ = word == Word::finished;
      nothing_to_record_ = word == Word::nothing_to_record;
      stopping_ = true;
    }
    if (!terminated) return;
    if (options_.attach) in_order_ = true;  // asked to leave
    if (options_.attach && many_ && !asked_) {
      asked_ = true;  // all together: our anchor's word follows
      link_.ask_finish();
    } else if (!many_ || !options_.attach) {
      stopping_ = true;
    }
  }

  void finish() {
    if (session_ != 0) collect::end_session(*board_, session_);
    if (!analysis_) return link_.done();
    read_the_rest();
    if (many_) end_with_the_others();
    analysis_->finish();
    tell_contradiction();
    if (analysis_->results() != nullptr) output_.finish(*analysis_, in_order_ && whole_);
  }

  // Of the node where attach was called; that of the root.
  void remove_empty_log() {
    struct stat file {};
    if (options_.log.empty() || (many_ && link_.self() != 0)) return;
    if (::stat(options_.log.c_str(), &file) == 0 && file.st_size == 0) ::unlink(options_.log.c_str());
  }

  void read_the_rest() {
    const auto begin = Clock::now();
    const auto& collector = rings_.collector();
    for (;;) {
      const auto now = Clock::now();
      rings_.search_at_once();
      const std::uint64_t events = read(now);
      if (options_.attach) {
        const bool dormant = collect::progress(*board_).recording == 0;
        if ((events == 0 && dormant && collector.empty()) || now - begin > until_dormant) break;
      } else if (in_order_) {
        if (events == 0 || collector.empty()) break;
        continue;
      } else if ((events == 0 && collector.segments().empty()) || now - begin > last_words) {
        break;
      }
      ::usleep(2'000);
    }
  }

  // Epochs until everybody's ranks are at their end and all sums have reached the root. They take long on a busy
  // machine, so patience begins anew with whatever comes.
  void end_with_the_others() {
    analysis_->end(in_order_);
    const milliseconds patience = in_order_ ? for_news : last_words;
    auto end = Clock::now() + patience;
    while (!analysis_->over() && !link_.closed() && Clock::now() < end) {
      const std::uint64_t heard = many_->heard();
      const std::uint64_t events = read(Clock::now());
      if (in_order_ && (events > 0 || many_->heard() != heard)) end = Clock::now() + patience;
      pollfd channel{link_.descriptor(), POLLIN, 0};
      ::poll(&channel, channel.fd >= 0 ? 1 : 0, 1);
    }
    whole_ = analysis_->over() || link_.lost();
    if (in_order_ && !whole_ && link_.self() == 0)
      complain("the aggregators of all nodes did not finish together in time: the end of the record is missing");
    link_.done();
  }

  const Options& options_;
  WorkerLink link_{options_.control, options_.aggregators, options_.per_node};
  collect::TickClock clock_;
  Rings rings_;
  std::unique_ptr<collect::BoardFile> board_;
  Output output_;
  std::uint32_t session_ = 0;  // attached: its number
  bool stopping_ = false;
  bool in_order_ = false;
  bool whole_ = true;               // what the other nodes' aggregators have is in the results
  bool nothing_to_record_ = false;  // the anchor, or the library, has said why
  bool asked_ = false;
  bool told_contradiction_ = false;
  Pace pace_;
  LoadWatch load_;
  std::unique_ptr<Rest> rest_;  // after the board, whose bell it hears
  Clock::time_point next_look_{}, last_news_{};
  ManyNodes* many_ = nullptr;  // analysis_, of a job on several nodes
  std::unique_ptr<Analysis> analysis_;
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
  keep_freed_memory();
  allow_many_descriptors();
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is an error of the store, not the end of us
  // Of a job's rank it is meant for the application: the anchor says when all is over, or its end does.
  struct sigaction action {};
  if (options.attach) action.sa_handler = on_termination;
  else action.sa_handler = SIG_IGN;
  ::sigaction(SIGTERM, &action, nullptr);
  try {
    return Worker(options).run();
  } catch (const std::exception& error) {
    complain(std::string("the aggregator cannot go on: ") + error.what());
    return 1;
  }
}

}  // namespace pclscope::aggregator
