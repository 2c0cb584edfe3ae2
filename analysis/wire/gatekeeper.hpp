// Answers ZeroMQ's question "may this TCP peer in?" (ZAP, RFC 27): only the key in the user's key file may.
// Private to analysis/wire.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "analysis/wire/zmq_handle.hpp"

namespace pclscope::wire {

class Gatekeeper {
 public:
  // Binds in `context`, before any guarded socket binds. `client_public` in Z85. False when that fails.
  bool open(const ZmqContext& context, const std::string& client_public);
  // Answers what has been asked; never waits.
  void serve();
  // For zmq_poll().
  void* handle() const { return socket_.get(); }

 private:
  void answer(ZmqMessage& request_id, bool admitted);

  ZmqSocket socket_;
  std::array<std::uint8_t, 32> admitted_key_{};
};

}  // namespace pclscope::wire
