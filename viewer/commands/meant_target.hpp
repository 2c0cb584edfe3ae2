// Which run the words of `watch` and `view` mean, and how it is reached.
#pragma once

#include <chrono>
#include <string>

#include "analysis/values/result.hpp"
#include "viewer/session/target.hpp"

namespace pclscope::commands {

struct MeantRun {
  std::string word;  // job, endpoint, file, or nothing
  std::string via;   // a host that finds it, or nothing
  bool wait = false;
  std::chrono::milliseconds interval{1000};
};

// Waits, if that is meant, until there is one; says so once.
Result<session::Target> meant_target(const MeantRun& run);
// What to call it.
std::string name_of(const session::Target& target);
// Of a job on another node: where the user's key is open to others TCP is not used, only ssh. One line, if it is so.
void say_open_key();
bool is_elsewhere(const session::Target& target);
// How a job on another node was reached: one line.
void say_way(const session::Session& session, const session::Target& target);

}  // namespace pclscope::commands
