#include "analysis/wire/peer_check.hpp"

#include <sys/socket.h>
#include <unistd.h>

namespace pclscope::wire {

bool PeerCheck::open(const ZmqContext& context, ZmqSocket& socket, const std::string& name) {
  return monitor_.open(context, socket, ZMQ_EVENT_CONNECTED, name);
}

bool PeerCheck::only_ourselves() {
  ConnectionEvent event;
  while (monitor_.next(event)) {
    ucred peer{};  // of the process that listens
    socklen_t size = sizeof peer;
    const bool told = ::getsockopt(event.fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    only_ourselves_ = only_ourselves_ && told && peer.uid == ::geteuid();
  }
  return only_ourselves_;
}

}  // namespace pclscope::wire
