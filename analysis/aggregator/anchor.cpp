#include "analysis/aggregator/anchor.hpp"

#include <mpi.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>

#include "analysis/aggregator/anchor_worker.hpp"
#include "analysis/aggregator/broadcast.hpp"
#include "analysis/aggregator/departure.hpp"
#include "analysis/aggregator/end_patience.hpp"
#include "analysis/aggregator/init_watch.hpp"
#include "analysis/aggregator/node_files.hpp"
#include "analysis/aggregator/relay.hpp"
#include "analysis/aggregator/relay_opening.hpp"
#include "analysis/aggregator/resting.hpp"
#include "analysis/aggregator/unreached.hpp"
#include "analysis/collect/board_file.hpp"
#include "analysis/collect/clock_news.hpp"
#include "analysis/collect/collector.hpp"
#include "analysis/collect/dormant.hpp"
#include "analysis/collect/tick_clock.hpp"
#include "interpose/library/finalize_progress.hpp"
#include "interpose/record/clock_choice.hpp"

namespace pclscope::aggregator {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds look_every{100};      // at what nobody tells: who still lives
constexpr milliseconds for_worker{120'000};  // to finish; the application is through
// While it waits in MPI_Finalize.
constexpr milliseconds for_an_epoch{10'000}, to_be_found{10'000}, to_wake_up{5'000};

// Beside a job the same signal is a request to finish, for all nodes.
std::atomic<bool> asked{false};
void on_request(int) { asked = true; }

void enter_mpi() {
  const Resting resting;
  ::MPI_Init(nullptr, nullptr);
}
void leave_mpi() {
  const Resting resting;
  ::MPI_Finalize();
}

// Without a board nobody can say when the application enters MPI. Join at once, so that it does not wait for us; the
// other nodes' aggregators go on without this one's.
void join_without_board(const Options& options) {
  enter_mpi();
  FrameSocket nobody(-1);
  const collect::TickClock clock;
  auto relay = options.aggregators > 1 ? open_relay(options, nobody, clock, 0) : nullptr;
  if (relay) {
    relay->give_up_worker();
    relay->finish();
    while (!relay->over() || !relay->all_finished())
      if (!relay->turn()) relay->rest();
  }
  relay.reset();
  leave_mpi();
}

class Anchor {
 public:
  Anchor(const Options& options, collect::BoardFile& board) : options_(options), file_(board), board_(board.board()) {}

  int run(char** argv) {
    if (!worker_.start(argv)) {
      std::fprintf(stderr, "pclscope: cannot start the aggregator (%s): nothing is recorded\n", std::strerror(errno));
      mark_dead();
    } else if (!options_.attach && first_here()) {
      board_.aggregator.store(static_cast<std::uint32_t>(worker_.pid()));  // before any rank is out of MPI_Init
    }
    std::optional<Departure> departure;
    if (!options_.attach) departure.emplace(file_);
    if (!options_.attach && !wait_for_init()) {
      departure->call_off();
      return leave_without_mpi();
    }
    {
      std::optional<InitWatch> watch;
      if (!options_.attach) watch.emplace(file_, [this] { leave_mpi_init(); });
      enter_mpi();
    }
    if (!options_.attach && !world_is_ours()) return leave_wrong_world();
    if (options_.aggregators > 1) relay_ = meet_the_others();
    if (relay_) node_ = relay_->node();
    if (relay_ && options_.per_node > 1)
      relay_->on_clock = [this](nodes::ClockUpdate& news) { collect::write_clock_news(board_, news); };
    wait_for_end();
    if (!in_finalize_ && !options_.attach) leave();
    if (relay_) end_relay();
    else end_alone();
    {
      const FinalizeProgress progress;
      leave_mpi();
    }
    if (departure) departure->call_off();
    wait_for_worker(for_worker);
    return 0;
  }

 private:
  // Beside a job recording begins after us; else no rank's before the first one's MPI_Init.
  std::unique_ptr<Relay> meet_the_others() {
    clock_.settle(record::choose_clock(record::clock_choice(std::getenv(record::clock_variable))));
    const std::uint64_t first = options_.attach ? clock_.scale().origin_ticks : board_.first_init.load();
    return open_relay(options_, worker_.socket(), clock_, first);
  }

  // The application leaves without MPI_Finalize, and so do we; the worker goes on. Launchers kill everybody when the
  // first process closes its connection, and report its status: ours, which is the application's, is settled before,
  // and a child keeps our connection open as long as the application's processes have theirs, so that the end looks as
  // without us.
  [[noreturn]] void leave() {
    const pid_t self = ::getpid();
    const pid_t child = ::fork();
    if (child > 0) ::_exit(static_cast<int>(board_.exit_status.load()));
    for (int i = 0; child == 0 && i < 100 && ::getppid() == self; ++i) ::usleep(200);
    if (board_.leaving_tools.fetch_add(1) + 1 == static_cast<std::uint32_t>(options_.per_node)) board_.parted.store(1);
    file_.notify();
    for (int i = 0; child == 0 && i < 1'000 && file_.alive() > 0; ++i) ::usleep(1'000);
    if (relay_) worker_.socket().queue(FrameKind::lost);
    worker_.say(FrameKind::finished);  // not before: its last work would be in the way
    ::_exit(0);
  }

  // True when an application rank has entered MPI_Init; false when none ever will.
  bool wait_for_init() {
    constexpr std::chrono::seconds patience{30};
    const auto begin = Clock::now();
    bool told = false;
    while (true) {
      const std::uint32_t seen = board_.change.load(std::memory_order_acquire);
      if (board_.initializing.load() > 0) return true;
      if (board_.refused.load() > 0) return false;
      watch_worker();
      if (const auto what = unreached()) {
        // It waits in MPI_Init for us; if we joined, it would see one rank more than it was started with.
        std::fprintf(stderr, "pclscope: %s: the job is ended; start it without pclscope\n", what->c_str());
        worker_.say(FrameKind::nothing_to_record);
#ifndef OPEN_MPI
        unreached_.end_programs(file_);
#endif
        ::_exit(1);
      }
      if (Clock::now() - begin > patience && !told && first_here()) {
        told = true;
        std::fprintf(stderr,
                     "pclscope: no rank has been seen to enter MPI_Init for 30 s; if the program did (its MPI may be "
                     "linked statically), end it and start it without pclscope\n");
      }
      const std::uint32_t started = board_.started.load();
      if (started > 0 && file_.alive() == 0 && board_.initializing.load() == 0) {
        // Ranks of one node start together; give a slow one time to appear.
        if (++empty_rounds_ > 10) return false;
      } else {
        empty_rounds_ = 0;
      }
      file_.wait(seen, milliseconds(50));
    }
  }

  std::optional<std::string> unreached() {
    const auto now = Clock::now();
    if (now < next_look_ || !first_here()) return std::nullopt;
    next_look_ = now + milliseconds(500);
    return unreached_.look(file_, now);
  }

  int leave_without_mpi() {
    if (board_.refused.load() == 0 && first_here())
      std::fprintf(stderr, "pclscope: the program ended without calling MPI_Init: nothing was recorded\n");
    worker_.say(FrameKind::nothing_to_record);
    wait_for_worker(milliseconds(5'000));
    return 0;
  }

  // In a thread of its own; the main one is in MPI_Init, for ever.
  [[noreturn]] void leave_mpi_init() {
    if (first_here())
      std::fprintf(stderr,
                   "pclscope: the program ended without meeting pclscope's rank in MPI_Init (it failed there, or each "
                   "process was a job of its own): nothing was recorded\n");
    worker_.say(FrameKind::nothing_to_record);
    wait_for_worker(milliseconds(5'000));
    exit_from_mpi_init(static_cast<int>(board_.exit_status.load()));
  }

  bool world_is_ours() {
    MPI_Comm_size(MPI_COMM_WORLD, &world_);
    return world_ == options_.aggregators + options_.ranks;
  }

  // The application sees a wrong world, too: nothing that it computes is what was asked for, and our rank would be
  // waited for. Ends as a rank that failed, by which the launcher ends the job.
  int leave_wrong_world() {
    if (first_here()) {
      const int asked = options_.aggregators + options_.ranks;
      if (world_ == 1)
        std::fprintf(
            stderr,
            "pclscope: each of the %d processes is an MPI job of its own, not a rank of one (%d ranks and %d of "
            "pclscope): the launcher is none of this MPI's, or is not told how to start it (srun: --mpi=pmix "
            "for Open MPI, --mpi=pmi2 for MPICH): the job is ended\n",
            asked, options_.ranks, options_.aggregators);
      else
        std::fprintf(
            stderr,
            "pclscope: MPI started %d processes instead of %d (%d ranks and %d of pclscope): the job is ended\n",
            world_, asked, options_.ranks, options_.aggregators);
    }
    worker_.say(FrameKind::nothing_to_record);
    wait_for_worker(milliseconds(5'000));
    unreached_.end_programs(file_);
    ::_exit(1);
  }

  // Returns when every living application process of this node is in MPI_Finalize, or none lives any more, or all that
  // are left are exiting; beside a job also when somebody asked us to end.
  void wait_for_end() {
    while (true) {
      const std::uint32_t seen = board_.change.load(std::memory_order_acquire);
      const std::uint32_t finalizing = board_.finalizing.load(std::memory_order_acquire);
      const std::uint32_t initializing = board_.initializing.load(std::memory_order_acquire);
      if (finalizing >= initializing && (initializing > 0 || !options_.attach)) break;
      const std::uint32_t leaving = board_.leaving.load(std::memory_order_acquire);
      const bool all_leave = leaving > 0 && board_.aborting.load() == 0 && leaving + finalizing >= initializing;
      const std::uint32_t alive = all_leave ? 0 : options_.attach ? collect::progress(file_).living : file_.alive();
      if (alive == 0) {
        in_finalize_ = false;
        return;
      }
      if (finalizing > 0 && finalizing >= alive) break;
      watch_worker();
      if (options_.attach && asked_to_end()) break;
      pause(seen);
    }
    in_finalize_ = true;
  }

  // Until the board changes after `seen`, or it is time to look around.
  void pause(std::uint32_t seen) {
    if (!relay_ || relay_->over()) return file_.wait(seen, look_every);
    const auto end = Clock::now() + look_every;
    do {
      take_clock_news();
      if (!relay_->turn()) relay_->rest();
    } while (board_.change.load(std::memory_order_acquire) == seen && !relay_->over() && Clock::now() < end);
  }

  // What another anchor of this node measured.
  void take_clock_news() {
    nodes::ClockUpdate news;
    while (!first_here() && collect::read_clock_news(board_, clock_news_, news)) relay_->tell_clock(news);
  }

  // Attached: true when the others know as well, or there is nobody left to ask.
  bool asked_to_end() {
    if (asked && relay_) relay_->ask_finish();
    return relay_ ? relay_->asked_to_finish() || relay_->over() : asked.load() || !worker_.running();
  }

  // The application waits for us in MPI_Finalize: the last epochs, then the end in order on all nodes. A worker that
  // others wait for, and that does not end its epoch, is given up: its node's part is missing then, not everybody's.
  void end_relay() {
    relay_->finish();
    EndPatience patience(for_an_epoch, for_an_epoch);
    Clock::time_point look = Clock::now();
    while (!relay_->over() || !relay_->all_finished()) {
      take_clock_news();
      if (!relay_->turn()) relay_->rest();
      const auto now = Clock::now();
      if (now < look) continue;
      look = now + milliseconds(20);
      int status = 0;
      if (worker_.ended(status)) tell_late_death(status);
      if (!relay_->all_finished() || !relay_->awaits_worker()) {
        patience = {for_an_epoch, for_an_epoch};
        continue;
      }
      if (patience.go_on(now, relay_->epochs(), worker_.ran_ns())) continue;
      relay_->give_up_worker();
      if (is_root()) continue;  // it says itself that the end is missing
      std::fprintf(stderr,
                   "pclscope: the aggregator%s did not finish in time: the end of the record of its ranks is missing\n",
                   of_node().c_str());
    }
    relay_.reset();
  }

  // What a rank's addresses mean is known as long as it is there. It waits a second to be found (recorder.cpp); on a
  // busy machine the worker may not have looked yet, in a job that is over at once.
  void end_alone() {
    worker_.say(FrameKind::finished);
    EndPatience patience(to_be_found, to_wake_up);
    while (options_.aggregators == 1 && worker_.running() && !worker_.socket().closed()) {
      Frame frame;
      while (worker_.socket().next(frame))
        if (frame.kind == FrameKind::found) return;
      int status = 0;
      if (worker_.ended(status)) return tell_late_death(status);
      if (!patience.go_on(Clock::now(), 0, worker_.ran_ns())) return;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  void watch_worker() {
    int status = 0;
    if (!worker_.ended(status)) return;
    const bool in_order = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (relay_) relay_->give_up_worker();
    if (in_order && (options_.attach || (relay_ && relay_->root_died()))) return;  // that one was told of
    std::fprintf(stderr, "pclscope: the aggregator%s %s: recording %sstopped, the application goes on%s%s\n",
                 of_node().c_str(), in_order ? "was asked to stop" : death_of(status).c_str(),
                 options_.aggregators > 1 && !is_root() ? "of its ranks " : "", kept_in(), kept_file());
    if (!in_order) mark_dead();
  }

  // Of several aggregators of a node: the one that speaks for it.
  bool first_here() const { return options_.part == 0; }
  // With several aggregators: which; only the root stores.
  bool is_root() const { return node_ == 0 && first_here(); }
  bool has_stored() const { return is_root() && !options_.dump.empty() && board_.flushed.load() != 0; }
  const char* kept_in() const { return has_stored() ? "; what it had stored is in " : ""; }
  const char* kept_file() const { return has_stored() ? options_.dump.c_str() : ""; }
  std::string of_node() const {
    char name[65] = "";
    if (options_.aggregators > 1) ::gethostname(name, sizeof name - 1);
    return name[0] ? std::string(" of ") + name : std::string();
  }

  void wait_for_worker(milliseconds limit) {
    const auto end = Clock::now() + limit;
    while (worker_.running() && Clock::now() < end) {
      int status = 0;
      if (worker_.ended(status)) return tell_late_death(status);
      worker_.socket().flush();
      std::this_thread::sleep_for(milliseconds(2));
    }
  }

  void tell_late_death(int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;  // its last frames are still to be read
    if (relay_) relay_->give_up_worker();
    std::fprintf(stderr, "pclscope: the aggregator%s %s while it finished%s%s\n", of_node().c_str(),
                 death_of(status).c_str(), kept_in(), kept_file());
    mark_dead();
  }

  void mark_dead() {
    if (options_.attach) {  // its processes need not go on recording for nobody
      collect::end_session_of_dead(file_, static_cast<std::uint32_t>(worker_.pid()));
      return;
    }
    board_.parts[options_.part].ended.store(2);
    if (first_here()) {
      board_.aggregator_done.store(2);
      board_.aggregator.store(0);
    }
    file_.notify();
    if (options_.aggregators == 1) return;  // `pclscope run` tidies up on its own node
    collect::remove_rings(options_.token, static_cast<std::uint32_t>(options_.part));
    last_of_node_removes(options_, board_);
    if (is_root()) Broadcast::tidy_after_death(options_);
  }

  const Options& options_;
  collect::BoardFile& file_;
  record::Board& board_;
  collect::TickClock clock_;  // begins before the worker, which makes an attached job record
  AnchorWorker worker_;
  std::unique_ptr<Relay> relay_;
  int world_ = 0;  // size of MPI_COMM_WORLD
  int node_ = 0;
  int empty_rounds_ = 0;
  std::uint64_t clock_news_ = 0;  // taken from the board
  Unreached unreached_;
  Clock::time_point next_look_{};
  bool in_finalize_ = false;
};

}  // namespace

int run_anchor(const Options& options, char** argv) {
  ::prctl(PR_SET_NAME, "pclscope-anchor");
  ::signal(SIGPIPE, SIG_IGN);
  if (options.attach) {
    struct sigaction action {};
    action.sa_handler = on_request;
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaction(signal, &action, nullptr);
  }
  auto board =
      options.attach ? collect::BoardFile::open_existing(options.token) : collect::BoardFile::open(options.token);
  if (!board) {
    std::fprintf(stderr, "pclscope: %s: nothing is recorded\n", board.error().message.c_str());
    join_without_board(options);
    return 0;
  }
  return Anchor(options, **board).run(argv);
}

}  // namespace pclscope::aggregator
