#include "viewer/layout/sfdp.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

namespace pclscope::layout {
namespace {

constexpr int look_ms = 20;
constexpr std::size_t most_output = std::size_t{1} << 30;

std::string graph_text(std::int32_t vertices, const GraphEdges& edges) {
  std::string text =
      "graph g{start=1;overlap=true;splines=none;node[label=\"\",width=0.01,height=0.01,fixedsize=true];\n";
  for (std::int32_t v = 0; v < vertices; ++v) text.append(std::to_string(v)).append(";\n");
  for (const auto& [a, b] : edges) text.append(std::to_string(a)).append("--").append(std::to_string(b)).append(";\n");
  return text + "}\n";
}

// The child's end of the socket is its standard input and output; what it complains of is thrown away.
pid_t start_sfdp(const std::string& program, int end) {
  char* const arguments[] = {const_cast<char*>(program.c_str()), const_cast<char*>("-Tplain"), nullptr};
  const pid_t us = ::getpid();
  const pid_t child = ::fork();
  if (child != 0) return child;
  // Only calls that are safe after a fork of a program with threads.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != us) ::_exit(127);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setpgid(0, 0);  // Ctrl-C is for the viewer
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (::dup2(end, 0) < 0 || ::dup2(end, 1) < 0 || (nowhere >= 0 && ::dup2(nowhere, 2) < 0)) ::_exit(127);
  ::execvp(arguments[0], arguments);
  ::_exit(127);
}

// Sends all of `text`, then reads until the other side is done.
bool exchange(int socket, std::string_view text, std::string& answer, const Stopping& stopping) {
  bool closed = false;
  for (;;) {
    if (stopping && stopping()) return false;
    if (text.empty() && !closed) {
      ::shutdown(socket, SHUT_WR);
      closed = true;
    }
    pollfd look{socket, static_cast<short>(text.empty() ? POLLIN : POLLIN | POLLOUT), 0};
    const int ready = ::poll(&look, 1, look_ms);
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    if ((look.revents & POLLOUT) != 0 && !text.empty()) {
      const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
      else if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
    }
    if ((look.revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    char buffer[1 << 16];
    const ssize_t got = ::recv(socket, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got == 0) return text.empty();
    if (got > 0) answer.append(buffer, static_cast<std::size_t>(got));
    else if (errno != EAGAIN && errno != EINTR) return false;
    if (answer.size() > most_output) return false;
  }
}

bool take_word(std::string_view& line, std::string_view& word) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == line.npos) return false;
  const std::size_t end = std::min(line.find(' ', begin), line.size());
  word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return true;
}

template <class Number>
bool take_number(std::string_view& line, Number& number) {
  std::string_view word;
  if (!take_word(line, word)) return false;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size();
}

// Lines "node NAME X Y ...", one of each vertex.
std::optional<std::vector<Point>> places_in(std::string_view answer, std::int32_t vertices) {
  std::vector<Point> places(static_cast<std::size_t>(vertices), {NAN, NAN});
  std::int32_t found = 0;
  while (!answer.empty()) {
    const std::size_t end = std::min(answer.find('\n'), answer.size());
    std::string_view line = answer.substr(0, end), word;
    answer.remove_prefix(std::min(end + 1, answer.size()));
    std::int32_t vertex = -1;
    Point at;
    if (!take_word(line, word) || word != "node") continue;
    if (!take_number(line, vertex) || !take_number(line, at.x) || !take_number(line, at.y)) return std::nullopt;
    if (vertex < 0 || vertex >= vertices || !std::isfinite(at.x) || !std::isfinite(at.y)) return std::nullopt;
    Point& place = places[static_cast<std::size_t>(vertex)];
    found += std::isnan(place.x) ? 1 : 0;
    place = at;
  }
  return found == vertices ? std::optional(std::move(places)) : std::nullopt;
}

}  // namespace

std::optional<std::vector<Point>> run_sfdp(std::int32_t vertices, const GraphEdges& edges, const Stopping& stopping,
                                           const std::string& program) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return std::nullopt;
  const pid_t child = start_sfdp(program, ends[1]);
  ::close(ends[1]);
  std::string answer;
  const bool done = child > 0 && exchange(ends[0], graph_text(vertices, edges), answer, stopping);
  ::close(ends[0]);
  if (child <= 0) return std::nullopt;
  if (!done) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (!done || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return places_in(answer, vertices);
}

}  // namespace pclscope::layout
