// The anchor's child: this same program with --worker, in a session of its own, at the other end of a socket.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "analysis/aggregator/frame_socket.hpp"

namespace pclscope::aggregator {

class AnchorWorker {
 public:
  bool start(char** argv);  // false: that failed, see errno
  // Sends one word now, as far as the socket takes it.
  void say(FrameKind word);
  FrameSocket& socket() { return socket_; }  // closed when start() failed
  // True once, when the worker has ended; `status` as from waitpid.
  bool ended(int& status);
  bool running() const { return pid_ > 0; }
  pid_t pid() const { return known_as_; }  // also when it has ended
  std::int64_t ran_ns() const;             // its processor time; -1: not known

 private:
  pid_t pid_ = -1, known_as_ = -1;
  FrameSocket socket_{-1};
};

// "was killed by signal 9", "ended with status 1"; `status` from waitpid.
std::string death_of(int status);

}  // namespace pclscope::aggregator
