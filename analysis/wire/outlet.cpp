#include "analysis/wire/outlet.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "analysis/wire/frame.hpp"

namespace pclscope::wire {
namespace {

constexpr int queued_per_viewer = 2;  // snapshots; a viewer that is slower loses the rest
constexpr int handshake_ms = 10'000;  // for a TCP peer to say who it is
constexpr int backlog = 1024;         // TCP connections that the system keeps until they are accepted
constexpr int linger_ms = 200;        // the last snapshot's chance to leave
constexpr int port_attempts = 64;     // to find two ports side by side

Error not_bound(const std::string& address, int error) {
  if (error == EADDRINUSE) {
    return {ErrorCode::in_use, "endpoint in use: " + address + " is taken; choose another port with --publish"};
  }
  if (error == EACCES || error == EPERM) {
    return {ErrorCode::not_permitted, "cannot publish at " + address + ": " + zmq_strerror(error)};
  }
  if (error == ENODEV || error == EINVAL || error == EADDRNOTAVAIL) {
    return {ErrorCode::bad_argument,
            "cannot publish at " + address + ": not an address of this machine; use 127.0.0.1, * or one of its own"};
  }
  return {ErrorCode::io, "cannot publish at " + address + ": " + zmq_strerror(error)};
}

Error not_opened() { return {ErrorCode::io, std::string("cannot open a socket: ") + zmq_strerror(errno)}; }

// What the socket was bound to last, e.g. tcp://0.0.0.0:40123.
std::string last_endpoint(ZmqSocket& socket) {
  char text[256] = "";
  std::size_t size = sizeof text;
  return zmq_getsockopt(socket.get(), ZMQ_LAST_ENDPOINT, text, &size) == 0 ? text : "";
}

int port_of(const std::string& endpoint) {
  int port = 0;
  std::from_chars(endpoint.data() + endpoint.rfind(':') + 1, endpoint.data() + endpoint.size(), port);
  return port;
}

}  // namespace

SocketFile::~SocketFile() {
  struct stat found {};
  if (!path_.empty() && ::lstat(path_.c_str(), &found) == 0 && found.st_ino == inode_) ::unlink(path_.c_str());
}

void SocketFile::own(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return;
  path_ = path;
  inode_ = found.st_ino;
}

Status Outlet::open(const Endpoint& endpoint, const CurveKeys* keys) {
  publish = ZmqSocket(context_, ZMQ_XPUB);
  ask = ZmqSocket(context_, ZMQ_ROUTER);
  if (!publish || !ask) return not_opened();
  for (ZmqSocket* socket : {&publish, &ask}) {
    socket->set(ZMQ_SNDHWM, queued_per_viewer);
    socket->set(ZMQ_RCVHWM, 64);
    socket->set(ZMQ_LINGER, linger_ms);
    socket->set(ZMQ_MAXMSGSIZE, static_cast<std::int64_t>(limit::question_bytes));
  }
  publish.set(ZMQ_XPUB_VERBOSE, 1);  // tell of every viewer, not only of the first
  text_ = endpoint.text;
  if (endpoint.kind == Endpoint::Kind::tcp) return open_tcp(endpoint, keys);
  const Status first = open_ipc(publish, endpoint.publish, endpoint.publish_path, publish_file_);
  return first ? open_ipc(ask, endpoint.ask, endpoint.ask_path, ask_file_) : first;
}

Status Outlet::open_ipc(ZmqSocket& socket, const std::string& address, const std::string& path, SocketFile& file) {
  const auto listening = listen_private(path);
  if (!listening) return listening.error();
  file.own(path);
  if (!socket.set(ZMQ_USE_FD, *listening) || zmq_bind(socket.get(), address.c_str()) != 0) {
    const int error = errno;
    ::close(*listening);
    return not_bound(address, error);
  }
  return {};
}

Status Outlet::guard(ZmqSocket& socket, const CurveKeys& keys) {
  const bool guarded = socket.set(ZMQ_CURVE_SERVER, 1) &&
                       socket.set(ZMQ_CURVE_SECRETKEY, keys.server_secret.c_str(), keys.server_secret.size() + 1) &&
                       socket.set(ZMQ_ZAP_DOMAIN, "pclscope", 8);
  if (!guarded) return Error{ErrorCode::io, "cannot encrypt the endpoint: publish over ipc:// only"};
  return {};
}

Status Outlet::open_tcp(const Endpoint& endpoint, const CurveKeys* given) {
  if (!zmq_has("curve")) {
    return Error{ErrorCode::not_permitted,
                 "endpoint " + endpoint.text + ": this libzmq has no CURVE encryption, publish over ipc:// only"};
  }
  const Result<CurveKeys> keys = given != nullptr ? Result<CurveKeys>(*given) : own_keys();
  if (!keys) return keys.error();
  if (!acceptor_.open(context_, keys->client_public, publish, ask)) {
    return Error{ErrorCode::io, std::string("cannot guard the endpoint: ") + zmq_strerror(errno)};
  }
  for (ZmqSocket* socket : {&publish, &ask}) {
    if (const Status guarded = guard(*socket, *keys); !guarded) return guarded;
    socket->set(ZMQ_TCP_KEEPALIVE, 1);
    socket->set(ZMQ_HANDSHAKE_IVL, handshake_ms);
    socket->set(ZMQ_BACKLOG, backlog);
    if (endpoint.ipv6) socket->set(ZMQ_IPV6, 1);
  }
  return bind_tcp(endpoint);
}

// Questions come to the port after that of the snapshots. Where the system chooses, the next one may be taken.
Status Outlet::bind_tcp(const Endpoint& endpoint) {
  if (endpoint.port != 0) {
    if (zmq_bind(publish.get(), endpoint.publish.c_str()) != 0) return not_bound(endpoint.publish, errno);
    if (zmq_bind(ask.get(), endpoint.ask.c_str()) != 0) return not_bound(endpoint.ask, errno);
    return {};
  }
  for (int attempt = 0;; attempt++) {
    if (zmq_bind(publish.get(), endpoint.publish.c_str()) != 0) return not_bound(endpoint.publish, errno);
    const std::string bound = last_endpoint(publish);
    const int port = port_of(bound);
    const std::string host = endpoint.publish.substr(0, endpoint.publish.rfind(':') + 1);
    if (port > 0 && port < 65535 && zmq_bind(ask.get(), (host + std::to_string(port + 1)).c_str()) == 0) {
      text_ = host + std::to_string(port);
      return {};
    }
    if (attempt == port_attempts) return not_bound(endpoint.publish, EADDRINUSE);
    if (zmq_unbind(publish.get(), bound.c_str()) != 0) return not_bound(endpoint.publish, errno);
  }
}

bool Outlet::take_subscriptions() {
  bool joined = false;
  ZmqMessage message;
  while (publish.receive(message)) {
    const auto bytes = message.bytes();
    joined = joined || (!bytes.empty() && bytes[0] == 1);
    // Every viewer subscribes to all; that one leaves is told of the last one only.
    if (bytes.size() == 1) watched_ = bytes[0] == 1;
  }
  return joined;
}

}  // namespace pclscope::wire
