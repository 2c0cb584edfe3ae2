// Guards a publisher's TCP ports: answers who may in (gatekeeper), and bounds the connections of those who have not
// shown yet that they may. A stranger can open connections without end and say nothing, or little, or nonsense; all of
// them are descriptors of the aggregator. Of more than limit::strangers, or a quarter of the descriptors, one by chance
// is cut off; so somebody with the key gets in soon, however many knock. Runs in a thread of its own: it must not wait
// for the analysis. Private to analysis/wire.
#pragma once

#include <memory>
#include <string>

#include "analysis/wire/zmq_handle.hpp"

namespace pclscope::wire {

class Acceptor {
 public:
  Acceptor();
  ~Acceptor();  // before the guarded sockets and the context
  Acceptor(const Acceptor&) = delete;

  // Before the sockets are guarded and bound. `client_public`: the key that is let in, in Z85. False when that fails.
  bool open(const ZmqContext& context, const std::string& client_public, ZmqSocket& publish, ZmqSocket& ask);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pclscope::wire
