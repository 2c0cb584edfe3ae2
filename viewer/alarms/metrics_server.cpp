#include "viewer/alarms/metrics_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "analysis/discovery/directories.hpp"
#include "analysis/discovery/private_file.hpp"

namespace pclscope::alarms {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_clients = 16, longest_request = 8192;
constexpr auto patience = std::chrono::seconds(2);
constexpr std::size_t token_bytes = 16, least_token = 16;  // characters of one that the user wrote
constexpr std::string_view end_of_request = "\r\n\r\n";

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string lower(std::string_view text) {
  std::string low(text);
  std::transform(low.begin(), low.end(), low.begin(), [](unsigned char c) { return std::tolower(c); });
  return low;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

// Takes as long wherever they differ.
bool same(std::string_view a, std::string_view b) {
  unsigned char differ = a.size() != b.size();
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) differ |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differ == 0;
}

// What a request shows as its token; empty: nothing.
std::string_view shown_token(std::string_view request) {
  constexpr std::string_view scheme = "bearer ";
  for (std::size_t line = request.find("\r\n"); line != std::string_view::npos && line + 2 < request.size();) {
    const std::size_t begin = line + 2, end = std::min(request.find("\r\n", begin), request.size());
    const std::string_view header = request.substr(begin, end - begin);
    const std::size_t colon = header.find(':');
    if (colon != std::string_view::npos && lower(header.substr(0, colon)) == "authorization") {
      const std::string_view value = trimmed(header.substr(colon + 1));
      return lower(value.substr(0, scheme.size())) == scheme ? trimmed(value.substr(scheme.size())) : "";
    }
    line = end;
  }
  return {};
}

std::string answer(const char* status, const std::string& headers, std::string_view body, bool with_body = true) {
  std::string text = std::string("HTTP/1.1 ") + status + "\r\nConnection: close\r\nCache-Control: no-store\r\n" +
                     headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  if (with_body) text += body;
  return text;
}

std::string plain_answer(const char* status, const std::string& headers = "") {
  return answer(status, headers + "Content-Type: text/plain\r\n", std::string(status) + "\n");
}

std::string answer_to(std::string_view request, const std::string& token, const std::string& text) {
  if (!same(shown_token(request), token)) return plain_answer("401 Unauthorized", "WWW-Authenticate: Bearer\r\n");
  const std::string_view line = request.substr(0, request.find("\r\n"));
  const std::size_t first = line.find(' '), second = line.find(' ', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return plain_answer("400 Bad Request");
  const std::string_view method = line.substr(0, first), target = line.substr(first + 1, second - first - 1);
  if (method != "GET" && method != "HEAD") return plain_answer("405 Method Not Allowed", "Allow: GET, HEAD\r\n");
  if (target.substr(0, target.find('?')) != "/metrics") return plain_answer("404 Not Found");
  if (text.empty()) return plain_answer("503 Service Unavailable");
  return answer("200 OK", "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n", text,
                method == "GET");
}

struct Client {
  Descriptor socket;
  Clock::time_point until;
  std::string request, answer;
  std::size_t sent = 0;
};

class LoopbackServer final : public MetricsServer {
 public:
  LoopbackServer(Descriptor listener, Descriptor stop, std::uint16_t port, std::string token)
      : listener_(std::move(listener)), stop_(std::move(stop)), port_(port), token_(std::move(token)), thread_([this] {
          serve();
        }) {}
  ~LoopbackServer() override {
    const std::uint64_t one = 1;
    while (::write(stop_.get(), &one, sizeof one) < 0 && errno == EINTR) {}
    thread_.join();
  }
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  std::uint16_t port() const override { return port_; }
  void set(std::string text) override {
    const std::lock_guard lock(mutex_);
    text_ = std::move(text);
  }

 private:
  void serve() {
    while (true) {
      std::vector<pollfd> polled{{stop_.get(), POLLIN, 0},
                                 {clients_.size() < most_clients ? listener_.get() : -1, POLLIN, 0}};
      for (const Client& c : clients_)
        polled.push_back({c.socket.get(), static_cast<short>(c.answer.empty() ? POLLIN : POLLOUT), 0});
      ::poll(polled.data(), polled.size(), clients_.empty() ? -1 : 200);
      if (polled[0].revents != 0) return;
      const auto now = Clock::now();
      for (std::size_t i = clients_.size(); i-- > 0;) {
        const bool goes_on = (polled[i + 2].revents == 0 || go_on(clients_[i])) && now < clients_[i].until;
        if (!goes_on) clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if (polled[1].revents != 0) {
        Descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (socket.get() >= 0) clients_.push_back({std::move(socket), now + patience, {}, {}});
      }
    }
  }

  // False: done with it.
  bool go_on(Client& c) {
    if (c.answer.empty()) {
      char bytes[4096];
      const ssize_t got = ::recv(c.socket.get(), bytes, sizeof bytes, 0);
      if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
      c.request.append(bytes, static_cast<std::size_t>(got));
      if (c.request.find(end_of_request) == std::string::npos) return c.request.size() < longest_request;
      const std::lock_guard lock(mutex_);
      c.answer = answer_to(c.request, token_, text_);
    }
    const ssize_t sent =
        ::send(c.socket.get(), c.answer.data() + c.sent, c.answer.size() - c.sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    c.sent += static_cast<std::size_t>(sent);
    if (c.sent < c.answer.size()) return true;
    ::shutdown(c.socket.get(), SHUT_WR);
    return false;
  }

  Descriptor listener_, stop_;
  const std::uint16_t port_;
  const std::string token_;
  std::vector<Client> clients_;  // the thread's
  std::mutex mutex_;
  std::string text_;  // under mutex_
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(std::uint16_t port, std::string token) {
  const auto failed = [&] {
    return Error{ErrorCode::io, "cannot listen on 127.0.0.1:" + std::to_string(port) + ": " + std::strerror(errno)};
  };
  Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (listener.get() < 0) return failed();
  const int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);  // the one before has just ended
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener.get(), any, size) != 0 || ::listen(listener.get(), most_clients) != 0 ||
      ::getsockname(listener.get(), any, &size) != 0)
    return failed();
  Descriptor stop(::eventfd(0, EFD_CLOEXEC));
  if (stop.get() < 0) return failed();
  return std::unique_ptr<MetricsServer>(std::make_unique<LoopbackServer>(std::move(listener), std::move(stop),
                                                                         ntohs(address.sin_port), std::move(token)));
}

Result<Token> metrics_token() {
  auto directory = discovery::shared_directory();
  if (!directory) directory = discovery::runtime_directory();
  if (!directory) return directory.error();
  Token token{{}, *directory + "/metrics.token"};
  const auto read = [&] { token.text = trimmed(discovery::read_small(token.path, 4096)); };
  read();
  if (token.text.empty()) {
    unsigned char random[token_bytes];
    if (::getrandom(random, sizeof random, 0) != static_cast<ssize_t>(sizeof random))
      return Error{ErrorCode::io, "the system has no random numbers"};
    std::string fresh;
    for (const unsigned char byte : random) fresh += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    if (const Status made = discovery::write_private(token.path, fresh + "\n", discovery::Existing::keep); !made)
      return made.error();
    read();  // another may have been first
  }
  struct stat file {};
  if (::stat(token.path.c_str(), &file) != 0 || file.st_uid != ::geteuid() || (file.st_mode & 077) != 0)
    return Error{ErrorCode::not_permitted, "others can read " + token.path + ": chmod 600 it, or remove it"};
  if (token.text.size() < least_token)
    return Error{ErrorCode::bad_argument,
                 token.path + " holds no token of at least " + std::to_string(least_token) + " characters: remove it"};
  return token;
}

}  // namespace pclscope::alarms
