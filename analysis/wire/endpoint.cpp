#include "analysis/wire/endpoint.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

namespace pclscope::wire {
namespace {

constexpr std::size_t longest_path = sizeof(sockaddr_un{}.sun_path) - 1;

Error bad(const std::string& endpoint, const std::string& why) {
  return {ErrorCode::bad_argument, "endpoint " + endpoint + ": " + why};
}

Result<Endpoint> parse_ipc(const std::string& text, const std::string& path) {
  if (path.empty() || path[0] != '/' || path.back() == '/') {
    return bad(text, "wants an absolute path: ipc:///directory/name");
  }
  if (path.size() + 4 > longest_path) {
    return bad(text, "path too long for a unix socket: at most " + std::to_string(longest_path - 4) +
                         " characters, this has " + std::to_string(path.size()));
  }
  Endpoint endpoint;
  endpoint.text = text;
  endpoint.publish_path = path + ".pub";
  endpoint.ask_path = path + ".ask";
  endpoint.publish = "ipc://" + endpoint.publish_path;
  endpoint.ask = "ipc://" + endpoint.ask_path;
  return endpoint;
}

Result<Endpoint> parse_tcp(const std::string& text, const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return bad(text, "wants a host and a port: tcp://127.0.0.1:5570");
  std::string host = address.substr(0, colon);
  if (host == "localhost") host = "127.0.0.1";
  int port = 0;
  const char* first = address.data() + colon + 1;
  const char* last = address.data() + address.size();
  const auto [end, error] = std::from_chars(first, last, port);
  if (error != std::errc() || end != last || port < 0 || port > 65534) {
    return bad(text,
               "wants a port from 1 to 65534 (the next one is taken as well), or 0 for one of the system's choice");
  }
  Endpoint endpoint;
  endpoint.kind = Endpoint::Kind::tcp;
  endpoint.text = text;
  endpoint.port = port;
  endpoint.ipv6 = host[0] == '[';
  endpoint.publish = "tcp://" + host + ":" + std::to_string(port);
  endpoint.ask = "tcp://" + host + ":" + std::to_string(port + 1);
  return endpoint;
}

Error cannot_bind(const std::string& path, int error) {
  const std::string what = "cannot publish at " + path + ": ";
  if (error == EACCES || error == EPERM || error == EROFS) {
    return {ErrorCode::not_permitted, what + std::strerror(error) + "; choose another --publish endpoint"};
  }
  if (error == ENOENT || error == ENOTDIR) {
    return {ErrorCode::bad_argument, what + "no such directory; create it or choose another --publish endpoint"};
  }
  return {ErrorCode::io, what + std::strerror(error)};
}

Error taken(const std::string& path) {
  return {ErrorCode::in_use,
          "endpoint in use: another job publishes at " + path + "; end it or choose another --publish endpoint"};
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// One publisher at a time looks at a directory's sockets and replaces dead ones. Best effort: a holder that hangs
// delays others by half a second at most.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::string& path)
      : directory_(::open(path.substr(0, path.rfind('/') + 1).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    for (int tries = 0; tries < 50 && directory_.get() >= 0; tries++) {
      if (::flock(directory_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
      ::usleep(10'000);
    }
  }

 private:
  Descriptor directory_;
};

// Makes the way free for a socket at `path`.
Status clear_way(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) { return errno == ENOENT ? Status() : Status(cannot_bind(path, errno)); }
  if (!S_ISSOCK(found.st_mode)) {
    return Error{ErrorCode::in_use, "cannot publish at " + path + ": a file of that name exists and is not a socket"};
  }
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = address_of(path);
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return taken(path);
  if (errno == EAGAIN || errno == EINPROGRESS) return taken(path);  // listens, with a full queue
  if (errno != ECONNREFUSED) return cannot_bind(path, errno);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return cannot_bind(path, errno);
  return {};
}

}  // namespace

Result<Endpoint> parse_endpoint(const std::string& text) {
  if (text.starts_with("ipc://")) return parse_ipc(text, text.substr(6));
  if (text.starts_with("tcp://")) return parse_tcp(text, text.substr(6));
  return bad(text, "wants ipc:///directory/name or tcp://host:port");
}

Result<int> listen_private(const std::string& path) {
  const DirectoryLock lock(path);
  if (const Status clear = clear_way(path); !clear) return clear.error();
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) return cannot_bind(path, errno);
  // Linux gives the file the mode of the unbound socket: there is no moment in which others could connect.
  ::fchmod(socket.get(), 0600);
  const sockaddr_un address = address_of(path);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return errno == EADDRINUSE ? taken(path) : cannot_bind(path, errno);
  }
  if (::chmod(path.c_str(), 0600) != 0 || ::listen(socket.get(), 100) != 0) {
    const Error error = cannot_bind(path, errno);
    ::unlink(path.c_str());
    return error;
  }
  return socket.release();
}

}  // namespace pclscope::wire
