// Announces a job for as long as it lives: on this node at once, and in the user's shared directory by a thread of its
// own, because a home that does not answer must not make the analysis wait.
#pragma once

#include <memory>
#include <string>

#include "analysis/discovery/jobs.hpp"

namespace pclscope::discovery {

// One thread owns an Announcer.
class Announcer {
 public:
  Announcer();
  ~Announcer();  // as withdraw()
  Announcer(const Announcer&) = delete;
  Announcer& operator=(const Announcer&) = delete;

  // Again with what has changed. The result is that of the announcement on this node.
  Status announce(const Job& job);
  // What kept the job out of the shared directory, in one line, once; empty: nothing, or not known yet.
  std::string problem();
  // Takes both back; waits at most a second for a home that does not answer.
  void withdraw();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  std::string name_;
};

// Takes the shared announcement of a job on this node back that nobody looks after any more; waits as withdraw().
void withdraw_for_the_dead(const std::string& job);

}  // namespace pclscope::discovery
