// Whether those at the other end of a unix socket are ourselves. In a directory where others may make files, a stranger
// can listen under the name of a job that is over. Private to analysis/wire.
#pragma once

#include <string>

#include "analysis/wire/monitor.hpp"

namespace pclscope::wire {

class PeerCheck {
 public:
  // Before `socket` connects. False when that fails.
  bool open(const ZmqContext& context, ZmqSocket& socket, const std::string& name);
  // False once somebody else was at the other end, or somebody who left before we could look. Ask before sending, and
  // after a message has come, before it is looked at: ZeroMQ tells of a connection before it receives from it.
  bool only_ourselves();

 private:
  ConnectionMonitor monitor_;
  bool only_ourselves_ = true;
};

}  // namespace pclscope::wire
