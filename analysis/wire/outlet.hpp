// One endpoint at which a publisher is reached: a socket for snapshots and one for questions, guarded. Private to
// analysis/wire.
#pragma once

#include <sys/types.h>

#include <string>

#include "analysis/values/result.hpp"
#include "analysis/wire/acceptor.hpp"
#include "analysis/wire/curve_keys.hpp"
#include "analysis/wire/endpoint.hpp"
#include "analysis/wire/zmq_handle.hpp"

namespace pclscope::wire {

// A socket file that this process has made. Removed at the end, unless another process has replaced it.
class SocketFile {
 public:
  ~SocketFile();
  void own(const std::string& path);

 private:
  std::string path_;
  ino_t inode_ = 0;
};

class Outlet {
 public:
  // `keys`: for tcp; none: the user's, read here. Fails as Publisher::bind() does.
  Status open(const Endpoint& endpoint, const CurveKeys* keys = nullptr);

  // As a viewer on another node would write it after HOST has been put in the place of *: with the port that the
  // system chose, if it was 0.
  const std::string& endpoint() const { return text_; }
  // XPUB hands every subscription to us. True when there is a new viewer.
  bool take_subscriptions();
  // As of then: a viewer is there.
  bool watched() const { return watched_; }

  // Order matters: files go first, then the acceptor, then sockets, the context last (members are destroyed bottom up).
 private:
  ZmqContext context_;

 public:
  ZmqSocket publish, ask;

 private:
  Status open_ipc(ZmqSocket& socket, const std::string& address, const std::string& path, SocketFile& file);
  Status open_tcp(const Endpoint& endpoint, const CurveKeys* given);
  Status bind_tcp(const Endpoint& endpoint);
  Status guard(ZmqSocket& socket, const CurveKeys& keys);

  Acceptor acceptor_;  // tcp only
  SocketFile publish_file_, ask_file_;
  std::string text_;
  bool watched_ = false;
};

}  // namespace pclscope::wire
