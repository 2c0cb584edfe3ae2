// The launcher as a child process: started, signalled, waited for. One Child at a time; call everything from the
// thread that started it (signals are taken synchronously, the kernel ties the child to that thread).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/values/result.hpp"

namespace pclscope::launch {

class Child {
 public:
  // Starts a program, whose first argument is the word that it is called by, with additional environment variables. In
  // the foreground of a terminal the child shares our process group (it may read the terminal, and gets Ctrl-C from
  // it); elsewhere it gets its own, so that a signal sent to our whole group does not reach it twice. If we die, it is
  // asked to end (SIGTERM).
  static Result<Child> start(const std::string& program, const std::vector<std::string>& arguments,
                             const std::vector<std::pair<std::string, std::string>>& environment);

  // Until the child ends: passes on the signals that we get (and stops and goes on with it), and calls `idle` about
  // every `interval`. The exit status as a shell reports it: 128 + signal when a signal killed it.
  int wait(std::chrono::milliseconds interval, const std::function<void()>& idle);

 private:
  Child(pid_t pid, bool own_group) : pid_(pid), own_group_(own_group) {}
  pid_t pid_;
  bool own_group_;
};

}  // namespace pclscope::launch
