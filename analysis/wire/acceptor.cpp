#include "analysis/wire/acceptor.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "analysis/values/signals_blocked.hpp"
#include "analysis/wire/frame.hpp"
#include "analysis/wire/gatekeeper.hpp"
#include "analysis/wire/monitor.hpp"

namespace pclscope::wire {
namespace {

// What ZeroMQ sends to somebody who has not proved to have the key, at most: its greeting; to those who know our public
// key its WELCOME as well, and an ERROR. The READY of those who are let in has more. The kernel counts one for the
// start.
constexpr std::uint64_t greeting_bytes = 64 + 1;
constexpr std::uint64_t unproven_bytes = greeting_bytes + 170 + 12;

// What the peer has got from us so far; 0: not known (an old kernel).
std::uint64_t bytes_heard(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return size < offsetof(tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked ? 0 : info.tcpi_bytes_acked;
}

// A quarter of what the process may open.
std::size_t most_strangers() {
  rlimit may{};
  if (::getrlimit(RLIMIT_NOFILE, &may) != 0) return limit::strangers / 8;
  return std::clamp<std::size_t>(may.rlim_cur / 4, 16, limit::strangers);
}

// The descriptor may have been closed and given to something else of this process a moment ago.
bool is_tcp(int fd) {
  int domain = 0, kind = 0;
  socklen_t size = sizeof domain;
  if (::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || (domain != AF_INET && domain != AF_INET6))
    return false;
  size = sizeof kind;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size) == 0 && kind == SOCK_STREAM;
}

// Connections of whom we do not know yet. Each of the two sockets has its own stream of events: a descriptor that one
// of them gave up may have come again at the other before we hear of the first. So they are told apart by socket, too.
class Strangers {
 public:
  void came(std::size_t socket, int fd) {
    const Connection connection = connection_of(socket, fd);
    if (fd < 0 || place_.count(connection) != 0) return;
    place_[connection] = all_.size();
    all_.push_back(connection);
    while (all_.size() > most_) send_one_away();
  }
  void left(std::size_t socket, int fd) { forget(connection_of(socket, fd)); }

 private:
  using Connection = std::uint64_t;  // socket, descriptor
  static Connection connection_of(std::size_t socket, int fd) {
    return std::uint64_t{socket} << 32 | static_cast<std::uint32_t>(fd);
  }
  static int fd_of(Connection connection) { return static_cast<int>(connection & 0xffffffff); }

  void forget(Connection connection) {
    const auto found = place_.find(connection);
    if (found == place_.end()) return;
    const std::size_t at = found->second;
    place_.erase(found);
    if (at + 1 != all_.size()) {
      all_[at] = all_.back();
      place_[all_[at]] = at;
    }
    all_.pop_back();
  }

  // By chance, but rather one who does not know our public key, as far as a few looks tell.
  void send_one_away() {
    Connection connection = 0;
    for (int looks = 0; looks < 8; looks++) {
      connection = all_[random_() % all_.size()];
      const std::uint64_t heard = bytes_heard(fd_of(connection));
      if (heard > unproven_bytes) return forget(connection);  // no stranger
      if (heard <= greeting_bytes) break;
    }
    forget(connection);
    const int fd = fd_of(connection);
    if (is_tcp(fd)) ::shutdown(fd, SHUT_RDWR);  // ZeroMQ sees the end of it and closes
  }

  const std::size_t most_ = most_strangers();

  std::vector<Connection> all_;
  std::unordered_map<Connection, std::size_t> place_;  // in all_
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace

// All but `stop` belongs to the thread once it runs.
struct Acceptor::State {
  Gatekeeper gatekeeper;
  ConnectionMonitor monitors[2];
  Strangers strangers;
  int stop = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::thread thread;

  ~State() {
    for (ConnectionMonitor& monitor : monitors) monitor.stop();
    if (thread.joinable()) {
      const std::uint64_t one = 1;
      [[maybe_unused]] const ssize_t told = ::write(stop, &one, sizeof one);
      thread.join();
    }
    if (stop >= 0) ::close(stop);
  }

  void guard() {
    for (;;) {
      zmq_pollitem_t items[] = {{nullptr, stop, ZMQ_POLLIN, 0},
                                {gatekeeper.handle(), 0, ZMQ_POLLIN, 0},
                                {monitors[0].handle(), 0, ZMQ_POLLIN, 0},
                                {monitors[1].handle(), 0, ZMQ_POLLIN, 0}};
      if (zmq_poll(items, 4, -1) < 0 && zmq_errno() != EINTR) return;
      if (items[0].revents != 0) return;
      gatekeeper.serve();
      for (std::size_t socket = 0; socket < std::size(monitors); socket++) {
        ConnectionEvent event;
        while (monitors[socket].next(event)) {
          if (event.kind == ZMQ_EVENT_ACCEPTED) strangers.came(socket, event.fd);
          if (event.kind == ZMQ_EVENT_DISCONNECTED) strangers.left(socket, event.fd);
        }
      }
    }
  }
};

Acceptor::Acceptor() = default;
Acceptor::~Acceptor() = default;

bool Acceptor::open(const ZmqContext& context, const std::string& client_public, ZmqSocket& publish, ZmqSocket& ask) {
  state_ = std::make_unique<State>();
  constexpr int kinds = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED;
  if (state_->stop < 0 || !state_->gatekeeper.open(context, client_public) ||
      !state_->monitors[0].open(context, publish, kinds, "publish") ||
      !state_->monitors[1].open(context, ask, kinds, "ask")) {
    return false;
  }
  const AllSignalsBlocked blocked;
  state_->thread = std::thread([state = state_.get()] { state->guard(); });
  return true;
}

}  // namespace pclscope::wire
