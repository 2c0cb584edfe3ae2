#include "analysis/wire/monitor.hpp"

#include <cstring>

namespace pclscope::wire {

bool ConnectionMonitor::open(const ZmqContext& context, ZmqSocket& socket, int kinds, const std::string& name) {
  const std::string address = "inproc://pclscope-" + name;
  if (zmq_socket_monitor(socket.get(), address.c_str(), kinds) != 0) return false;
  watched_ = socket.get();
  events_ = ZmqSocket(context, ZMQ_PAIR);
  return events_ && events_.set(ZMQ_RCVHWM, 0) && events_.set(ZMQ_LINGER, 0) &&
         zmq_connect(events_.get(), address.c_str()) == 0;
}

void ConnectionMonitor::stop() {
  if (watched_) zmq_socket_monitor(std::exchange(watched_, nullptr), nullptr, 0);
}

// First frame: kind (16 bits) and value (32 bits), the machine's byte order; second frame: the endpoint.
bool ConnectionMonitor::next(ConnectionEvent& event) {
  ZmqMessage frame;
  if (!events_ || !events_.receive(frame)) return false;
  const auto bytes = frame.bytes();
  if (bytes.size() >= 6) {
    std::uint16_t kind = 0;
    std::int32_t value = -1;
    std::memcpy(&kind, bytes.data(), sizeof kind);
    std::memcpy(&value, bytes.data() + sizeof kind, sizeof value);
    event = {kind, value};
  }
  events_.skip_rest(frame);
  return true;
}

}  // namespace pclscope::wire
