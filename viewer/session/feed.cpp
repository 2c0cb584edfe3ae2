#include "viewer/session/feed.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

namespace pclscope::session {

const char* name_of(Phase phase) {
  constexpr const char* names[] = {"opening", "running", "finished", "lost", "stored", "failed"};
  return names[static_cast<int>(phase)];
}

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr auto look = milliseconds(100);  // for a snapshot, at most: the thread ends that soon
constexpr auto between_attempts = milliseconds(1000);
constexpr auto patience_at_begin = milliseconds(3000);
constexpr auto patience_at_end = milliseconds(200);

}  // namespace

// Shared by the owner and the threads: who outlives whom does not matter. A live question may take 10 s when a job
// hangs, so it has a session and a thread of its own; a dump is read by one thread only (HDF5 wants it so).
struct Feed::Inside : std::enable_shared_from_this<Feed::Inside> {  // for the threads that it starts
  Inside(Open opener, FeedOptions given)
      : open(std::move(opener)), options(std::move(given)), history(options.history_bytes) {}

  void collect();
  void follow(Session& session);
  void take(Session& session, Snapshot snapshot);
  void answer_stored(Session& session);
  void answer_live();
  void start(void (Inside::*work)());
  void answer_one(Session& session, const DagQuestion& question);
  void answer(const DagQuestion& question, Result<Dag> dag);
  bool nothing_came() {
    const std::lock_guard lock(mutex);
    return shown.snapshots == 0;
  }
  void set(Phase phase, const std::string& problem = {});
  bool pause(milliseconds time);
  struct Questions {
    std::optional<DagQuestion> graph;
    Work work;
    bool none() const { return !graph && !work; }
  };
  Questions next(milliseconds timeout);
  void answer_work(Session* session, const Work& asked);
  void tell();

  const Open open;
  const FeedOptions options;
  History history;  // of the collecting thread
  std::mutex mutex;
  std::condition_variable changed;
  FeedState shown;  // under mutex, all below too
  Clock::time_point came = Clock::now();
  std::optional<DagQuestion> question;
  std::deque<Work> works;
  bool stop = false;
  int threads = 0;
  bool live_answers = false;  // of the collecting thread: the answering one has been started
};

void Feed::Inside::start(void (Inside::*work)()) {
  {
    const std::lock_guard lock(mutex);
    ++threads;
  }
  std::thread([self = shared_from_this(), work] {
    ((*self).*work)();
    const std::lock_guard lock(self->mutex);
    --self->threads;
    self->changed.notify_all();
  }).detach();
}

void Feed::Inside::tell() {
  const std::lock_guard lock(mutex);  // the owner, ending, waits for us: `wake` is never called after that
  if (!stop && options.wake) options.wake();
}

void Feed::Inside::set(Phase phase, const std::string& problem) {
  {
    const std::lock_guard lock(mutex);
    if (shown.phase == phase && shown.problem == problem) return;
    shown.phase = phase;
    shown.problem = problem;
  }
  tell();
}

// False when the feed ends.
bool Feed::Inside::pause(milliseconds time) {
  std::unique_lock lock(mutex);
  return !changed.wait_for(lock, time, [this] { return stop; });
}

// A graph, or one of the works.
Feed::Inside::Questions Feed::Inside::next(milliseconds timeout) {
  std::unique_lock lock(mutex);
  changed.wait_for(lock, timeout, [this] { return stop || question || !works.empty(); });
  Questions asked;
  if (stop) return asked;
  if (question) {
    asked.graph = std::move(question);
    question.reset();
  } else if (!works.empty()) {
    asked.work = std::move(works.front());
    works.pop_front();
  }
  return asked;
}

void Feed::Inside::answer_work(Session* session, const Work& asked) {
  asked(session, [this] {
    const std::lock_guard lock(mutex);
    return stop;
  });
  tell();
}

void Feed::Inside::answer_one(Session& session, const DagQuestion& asked) { answer(asked, session.dag(asked)); }

void Feed::Inside::answer(const DagQuestion& asked, Result<Dag> dag) {
  {
    const std::lock_guard lock(mutex);
    shown.dag_question = asked;
    shown.dag = dag ? std::make_shared<const Dag>(std::move(*dag)) : nullptr;
    shown.dag_problem = dag ? std::string() : dag.error().message;
    shown.dag_waiting = question.has_value();
  }
  tell();
}

void Feed::Inside::take(Session& session, Snapshot snapshot) {
  if (!session.live()) {
    auto windows = session.windows();
    if (windows && !windows->empty()) history.add(*windows);
  }
  history.add(snapshot);
  auto made = std::make_shared<const Snapshot>(std::move(snapshot));
  auto copied = std::make_shared<const History>(history);
  {
    const std::lock_guard lock(mutex);
    shown.snapshot = std::move(made);
    shown.history = std::move(copied);
    ++shown.snapshots;
    came = Clock::now();
  }
  tell();
}

void Feed::Inside::answer_stored(Session& session) {
  for (;;) {
    const Questions asked = next(milliseconds(1000));
    if (asked.graph) answer_one(session, *asked.graph);
    if (asked.work) answer_work(&session, asked.work);
    const std::lock_guard lock(mutex);
    if (stop) return;
  }
}

void Feed::Inside::answer_live() {
  std::unique_ptr<Session> session;
  for (;;) {
    {
      const std::lock_guard lock(mutex);
      if (stop) break;
    }
    const Questions asked = next(milliseconds(1000));
    if (asked.none()) continue;
    if (session && session->phase() != Phase::running) session.reset();
    if (!session) {
      auto opened = open();
      if (!opened || !(*opened)->live()) {
        if (asked.graph)
          answer(*asked.graph, opened ? Error{ErrorCode::unreachable, "the job is gone"} : opened.error());
        if (asked.work) answer_work(nullptr, asked.work);
        continue;
      }
      session = std::move(*opened);
    }
    if (asked.graph) answer_one(*session, *asked.graph);
    if (asked.work) answer_work(session.get(), asked.work);
  }
}

// Until the source has ended, or died, or the feed ends.
void Feed::Inside::follow(Session& session) {
  bool any = false;
  const auto began = Clock::now();
  if (session.live() && !live_answers) {
    live_answers = true;
    start(&Inside::answer_live);
  }
  for (;;) {
    const Phase phase = session.phase();  // before looking for news: what came before the end is taken
    auto got = session.newer(look);
    if (!got) {
      set(nothing_came() ? Phase::failed : Phase::lost, got.error().message);
      return;
    }
    if (*got) {
      if (!any) {
        const std::lock_guard lock(mutex);
        if (shown.snapshots > 0) ++shown.reconnects;
      }
      any = true;
      const bool over = (*got)->finished;
      take(session, std::move(**got));
      set(!session.live() ? Phase::stored : over ? Phase::finished : Phase::running);
    }
    if (!session.live()) return answer_stored(session);
    if (!any && Clock::now() - began > patience_at_begin && nothing_came()) {
      set(Phase::opening, "nobody answers yet: is the job running there, and is the key file (pclscope key) the same?");
    }
    if (phase == Phase::finished) return set(Phase::finished);
    if (phase == Phase::lost) return set(Phase::lost, "its aggregator is gone: no more news will come from it");
    const std::lock_guard lock(mutex);
    if (stop) return;
  }
}

void Feed::Inside::collect() {
  for (;;) {
    auto session = open();
    if (session) {
      follow(**session);
    } else {
      const std::lock_guard lock(mutex);
      // Before the first success it is the user's word that is wrong, or nobody is there (yet); later it is a loss.
      if (shown.snapshots == 0) {
        shown.phase = Phase::failed;
        shown.problem = session.error().message;
      }
    }
    if (!session) tell();
    if (!pause(between_attempts)) return;
  }
}

Feed::Feed(Open open, FeedOptions options) : inside_(std::make_shared<Inside>(std::move(open), std::move(options))) {
  inside_->start(&Inside::collect);
}

Feed::~Feed() {
  std::unique_lock lock(inside_->mutex);
  inside_->stop = true;
  inside_->changed.notify_all();
  inside_->changed.wait_for(lock, patience_at_end, [this] { return inside_->threads == 0; });
}

FeedState Feed::state() const {
  const std::lock_guard lock(inside_->mutex);
  FeedState state = inside_->shown;
  state.silent_s = std::chrono::duration<double>(Clock::now() - inside_->came).count();
  return state;
}

void Feed::ask_dag(const DagQuestion& question) {
  {
    const std::lock_guard lock(inside_->mutex);
    inside_->question = question;
    inside_->shown.dag_waiting = true;
  }
  inside_->changed.notify_all();
}

void Feed::ask(Work work) {
  {
    const std::lock_guard lock(inside_->mutex);
    inside_->works.push_back(std::move(work));
  }
  inside_->changed.notify_all();
}

}  // namespace pclscope::session
