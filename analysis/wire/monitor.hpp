// The life of a ZeroMQ socket's connections, as told by its monitor. Private to analysis/wire.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/wire/zmq_handle.hpp"

namespace pclscope::wire {

struct ConnectionEvent {
  int kind = 0;  // ZMQ_EVENT_...
  int fd = -1;   // of the connection, of kinds accepted, connected, disconnected; may be closed by now
};

// One thread reads it at a time; the socket's owner makes and destroys it, before the socket. Events wait without
// limit: a limit would make ZeroMQ's own thread wait.
class ConnectionMonitor {
 public:
  ConnectionMonitor() = default;
  ~ConnectionMonitor() { stop(); }
  ConnectionMonitor(const ConnectionMonitor&) = delete;
  // No more events: to be done while somebody still reads, or ZeroMQ waits for a reader. The socket's owner calls it.
  void stop();
  // Before `socket` binds or connects; `name` is unique in the context. False when that fails.
  bool open(const ZmqContext& context, ZmqSocket& socket, int kinds, const std::string& name);
  // Never waits. False: nothing more for now.
  bool next(ConnectionEvent& event);
  // For zmq_poll().
  void* handle() const { return events_.get(); }
  explicit operator bool() const { return static_cast<bool>(events_); }

 private:
  void* watched_ = nullptr;
  ZmqSocket events_;
};

}  // namespace pclscope::wire
