// A session in a thread of its own, so that whoever draws never waits for a network or a disk.
//
// The thread opens the session, collects snapshots and the history, answers questions, and connects again when a
// job's aggregator is lost and another of that name turns up. One other thread owns the Feed and asks it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "analysis/values/dag.hpp"
#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"
#include "viewer/session/history.hpp"
#include "viewer/session/session.hpp"

namespace pclscope::session {

struct FeedOptions {
  std::size_t history_bytes = std::size_t{64} << 20;
  std::uint32_t most_messages = 20'000;  // of a dependency graph
  std::function<void()> wake;            // called in the feed's thread when there is something new
};

// The state of things; plain values and shared, immutable data.
struct FeedState {
  Phase phase = Phase::opening;
  std::string problem;  // one line, of lost and failed
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const History> history;
  double silent_s = 0;          // live: since the last snapshot came
  std::uint64_t snapshots = 0;  // that came
  std::uint64_t reconnects = 0;
  std::shared_ptr<const Dag> dag;  // the answer to dag_question
  DagQuestion dag_question;
  std::string dag_problem;
  bool dag_waiting = false;  // a newer question has no answer yet
};

class Feed {
 public:
  using Open = std::function<Result<std::unique_ptr<Session>>()>;
  // `open` is called in the feed's thread, again after a loss.
  Feed(Open open, FeedOptions options);
  ~Feed();  // waits for the thread: 200 ms at most while a network is silent
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  FeedState state() const;
  // Replaces an earlier question that has no answer yet.
  void ask_dag(const DagQuestion& question);
  // Any other question. It is run in the thread that answers, after those asked before; graphs go first. It gets the
  // run, or null when a running job cannot be reached, and must have what it touches (shared, it may outlive the owner
  // of the feed); long ones look at `stopping`. Questions that nobody has begun are dropped at the end.
  using Work = std::function<void(Session* session, const std::function<bool()>& stopping)>;
  void ask(Work work);

 private:
  struct Inside;
  std::shared_ptr<Inside> inside_;  // with its threads
};

}  // namespace pclscope::session
