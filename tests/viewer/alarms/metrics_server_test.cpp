// Metrics over HTTP: only who shows the token learns anything; who is slow, or sends rubbish, holds up nobody.
#include "viewer/alarms/metrics_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace pclscope;

namespace {

const std::string token = "0123456789abcdef0123456789abcdef";

int connected(std::uint16_t port, std::uint32_t host = INADDR_LOOPBACK) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(host);
  address.sin_port = htons(port);
  REQUIRE(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return fd;
}

std::string ask(std::uint16_t port, const std::string& request) {
  const int fd = connected(port);
  REQUIRE(::send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size()));
  std::string all;
  char bytes[4096];
  for (ssize_t got; (got = ::recv(fd, bytes, sizeof bytes, 0)) > 0;) all.append(bytes, static_cast<std::size_t>(got));
  ::close(fd);
  return all;
}

std::string with(const std::string& line, const std::string& authorization) {
  return line + " HTTP/1.1\r\nHost: localhost\r\n" +
         (authorization.empty() ? "" : "Authorization: " + authorization + "\r\n") + "\r\n";
}

bool has_status(const std::string& answer, const std::string& status) {
  return answer.rfind("HTTP/1.1 " + status + " ", 0) == 0;
}

}  // namespace

TEST_CASE("metrics are told to who shows the token, and to nobody else") {
  const auto server = alarms::MetricsServer::start(0, token);
  REQUIRE(server);
  const std::uint16_t port = (*server)->port();
  const std::string good = "Bearer " + token;
  CHECK(has_status(ask(port, with("GET /metrics", good)), "503"));
  const std::string text(300'000, 'x');
  (*server)->set(text);
  const std::string told = ask(port, with("GET /metrics", good));
  CHECK(has_status(told, "200"));
  CHECK(told.find("application/openmetrics-text; version=1.0.0") != std::string::npos);
  CHECK(told.ends_with("\r\n\r\n" + text));
  CHECK(has_status(ask(port, with("GET /metrics?a=b", "bearer   " + token)), "200"));
  CHECK(ask(port, with("HEAD /metrics", good)).ends_with("\r\n\r\n"));
  for (const std::string& wrong : {std::string(), std::string("Bearer"), std::string("Bearer "), token,
                                   "Basic " + token, good + "0", good.substr(0, good.size() - 1), "Bearer " + text}) {
    const std::string answer = ask(port, with("GET /metrics", wrong.substr(0, 4000)));
    INFO(wrong.substr(0, 60));
    CHECK(has_status(answer, "401"));
    CHECK(answer.find("xxx") == std::string::npos);
  }
  // The token comes first: strangers do not even learn what there is.
  CHECK(has_status(ask(port, with("GET /other", "")), "401"));
  CHECK(has_status(ask(port, with("GET /other", good)), "404"));
  CHECK(has_status(ask(port, with("POST /metrics", good)), "405"));
  CHECK(has_status(ask(port, with("rubbish", good)), "400"));
  CHECK(has_status(ask(port, "\r\n\r\n"), "401"));
}

TEST_CASE("clients that say nothing do not hold up others for long, nor the end") {
  auto server = alarms::MetricsServer::start(0, token);
  REQUIRE(server);
  (*server)->set("all\n");
  std::vector<int> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(connected((*server)->port()));
  CHECK(ask((*server)->port(), std::string(8192, 'y')).empty());  // no end of the request: dropped
  CHECK(ask((*server)->port(), with("GET /metrics", "Bearer " + token)).ends_with("\r\n\r\nall\n"));
  server->reset();
  for (const int fd : silent) ::close(fd);
}

TEST_CASE("a port that is taken is said") {
  const auto first = alarms::MetricsServer::start(0, token);
  REQUIRE(first);
  const auto second = alarms::MetricsServer::start((*first)->port(), token);
  REQUIRE_FALSE(second);
  CHECK(second.error().message.find("cannot listen on 127.0.0.1:") == 0);
}

TEST_CASE("the token is made once, in a file that its owner alone can read") {
  const std::filesystem::path directory =
      std::filesystem::current_path() / ("metrics_token_test." + std::to_string(::getpid()));
  std::filesystem::create_directory(directory);
  std::filesystem::permissions(directory, std::filesystem::perms::owner_all);
  ::setenv("PCLSCOPE_SHARED", directory.c_str(), 1);
  const auto first = alarms::metrics_token(), again = alarms::metrics_token();
  REQUIRE(first);
  REQUIRE(again);
  CHECK(first->text.size() == 32);
  CHECK(again->text == first->text);
  struct stat file {};
  REQUIRE(::stat(first->path.c_str(), &file) == 0);
  CHECK((file.st_mode & 0777) == 0600);
  REQUIRE(::chmod(first->path.c_str(), 0640) == 0);
  CHECK(alarms::metrics_token().error().code == ErrorCode::not_permitted);
  REQUIRE(::chmod(first->path.c_str(), 0600) == 0);
  std::ofstream(first->path) << "short\n";
  CHECK_FALSE(alarms::metrics_token());
  ::unsetenv("PCLSCOPE_SHARED");
  std::filesystem::remove_all(directory);
}
