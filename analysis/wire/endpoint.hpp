// What an endpoint's text means, and unix sockets that only their owner can reach. Private to analysis/wire.
#pragma once

#include <string>

#include "analysis/values/result.hpp"

namespace pclscope::wire {

struct Endpoint {
  enum class Kind { ipc, tcp };
  Kind kind = Kind::ipc;
  std::string text;     // as given
  std::string publish;  // ZeroMQ address of the snapshots
  std::string ask;      // ZeroMQ address for questions
  int port = 0;         // tcp only; 0: the system chooses, for binding
  bool ipv6 = false;
  // ipc only: the socket files.
  std::string publish_path;
  std::string ask_path;
};

// "ipc:///path/job" or "tcp://host:port"; port 0 where one binds. Fails with bad_argument.
Result<Endpoint> parse_endpoint(const std::string& text);

// A listening unix socket at `path`, mode 0600 from its first moment. The file of a dead process is replaced, that of
// a live one is not (in_use). The caller owns the descriptor.
Result<int> listen_private(const std::string& path);

}  // namespace pclscope::wire
