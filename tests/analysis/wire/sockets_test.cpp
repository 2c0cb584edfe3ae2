// Publisher and subscriber over real unix sockets.
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "analysis/wire/publisher.hpp"
#include "analysis/wire/subscriber.hpp"
#include "tests/analysis/discovery/private_directory.hpp"
#include "tests/analysis/wire/random_snapshot.hpp"
#include "tests/analysis/wire/raw_socket.hpp"
#include "tests/analysis/wire/serving.hpp"
#include "tests/patience.hpp"

using namespace pclscope;
using namespace pclscope::wire;
using namespace std::chrono_literals;
using pclscope::testing::PrivateDirectory;
using pclscope::testing::RandomSnapshot;
using pclscope::testing::RawSocket;
using pclscope::testing::Serving;
namespace fs = std::filesystem;

namespace {

Snapshot numbered(std::uint64_t sequence) {
  Snapshot snapshot = RandomSnapshot(sequence).make();
  snapshot.live.sequence = sequence;
  return snapshot;
}

std::unique_ptr<Publisher> bind_or_fail(const std::string& endpoint) {
  auto bound = Publisher::bind(endpoint);
  if (!bound) FAIL(bound.error().message);
  return std::move(*bound);
}

}  // namespace

TEST_CASE("a snapshot arrives equal, published and asked for") {
  const PrivateDirectory directory;
  const std::string endpoint = "ipc://" + directory.path() + "/job";
  Serving job(bind_or_fail(endpoint));
  auto viewer = Subscriber::connect(endpoint);
  REQUIRE(viewer);
  const Snapshot sent = numbered(5);
  job.publish(sent);
  const auto came = (*viewer)->next(test::patience);
  REQUIRE(came);
  REQUIRE(*came);
  CHECK(**came == sent);
  const auto asked = (*viewer)->ask(test::patience);
  REQUIRE(asked);
  CHECK(*asked == sent);
}

TEST_CASE("while nobody watches nothing need be published: who joins or asks gets a snapshot made for it") {
  const PrivateDirectory directory;
  const std::string endpoint = "ipc://" + directory.path() + "/job";
  const auto publisher = bind_or_fail(endpoint);
  std::uint64_t made = 0;
  const auto serve_until = [&](const auto& done) {
    while (!done()) {
      publisher->serve({}, {}, [&] { publisher->publish(numbered(++made)); });
      std::this_thread::sleep_for(1ms);
    }
  };
  int turns = 0;
  serve_until([&] { return ++turns > 20; });
  CHECK(made == 0);
  CHECK_FALSE(publisher->watched());
  std::atomic<bool> leave{false};
  std::uint64_t came = 0, asked = 0;
  std::thread viewer([&] {
    auto connected = Subscriber::connect(endpoint);
    if (const auto first = (*connected)->next(test::patience); first && *first) came = (*first)->live.sequence;
    if (const auto answer = (*connected)->ask(test::patience)) asked = answer->live.sequence;
    while (!leave) std::this_thread::sleep_for(1ms);
  });
  serve_until([&] { return publisher->watched() && made >= 2; });
  leave = true;
  serve_until([&] { return !publisher->watched(); });  // its connection is gone
  viewer.join();
  CHECK(came >= 1);
  CHECK(asked >= 2);
}

TEST_CASE("a viewer that joins late gets the last snapshot at once, and only once") {
  const PrivateDirectory directory;
  const std::string endpoint = "ipc://" + directory.path() + "/job";
  Serving job(bind_or_fail(endpoint));
  for (std::uint64_t i = 1; i <= 10; i++) job.publish(numbered(i));
  for (int viewers = 0; viewers < 3; viewers++) {
    auto viewer = Subscriber::connect(endpoint);
    const auto came = (*viewer)->next(test::patience);
    REQUIRE(came);
    REQUIRE(*came);
    CHECK((*came)->live.sequence == 10);
    CHECK_FALSE(*(*viewer)->next(100ms));
  }
}

TEST_CASE("a viewer that connects before the job is there is served when it comes") {
  const PrivateDirectory directory;
  const std::string endpoint = "ipc://" + directory.path() + "/job";
  auto viewer = Subscriber::connect(endpoint);
  REQUIRE(viewer);
  CHECK((*viewer)->ask(100ms).error().code == ErrorCode::unreachable);
  CHECK_FALSE(*(*viewer)->next(50ms));
  Serving job(bind_or_fail(endpoint));
  job.publish(numbered(3));
  const auto came = (*viewer)->next(test::patience);
  REQUIRE(*came);
  CHECK((*came)->live.sequence == 3);
  CHECK((*viewer)->ask(test::patience)->live.sequence == 3);
}

TEST_CASE("asking waits for the first snapshot, and says so when none comes") {
  const PrivateDirectory directory;
  const std::string endpoint = "ipc://" + directory.path() + "/job";
  Serving job(bind_or_fail(endpoint));
  auto viewer = Subscriber::connect(endpoint);
  const auto early = (*viewer)->ask(200ms);
  REQUIRE_FALSE(early);
  CHECK(early.error().code == ErrorCode::unreachable);
  std::thread later([&job] {
    std::this_thread::sleep_for(100ms);
    job.publish(numbered(1));
  });
  const auto asked = (*viewer)->ask(test::patience);
  later.join();
  REQUIRE(asked);
  CHECK(asked->live.sequence == 1);
}

TEST_CASE("two viewers see the same; one that leaves does not disturb the other") {
  const PrivateDirectory directory;
  const std::string endpoint = "ipc://" + directory.path() + "/job";
  Serving job(bind_or_fail(endpoint));
  auto first = Subscriber::connect(endpoint);
  auto second = Subscriber::connect(endpoint);
  job.publish(numbered(1));
  CHECK((**(*first)->next(test::patience)).live.sequence == 1);
  CHECK((**(*second)->next(test::patience)).live.sequence == 1);
  (*first).reset();
  job.publish(numbered(2));
  CHECK((**(*second)->next(test::patience)).live.sequence == 2);
}

TEST_CASE("a viewer that did not look for a while gets the newest snapshot first") {
  const PrivateDirectory directory;
  const std::string endpoint = "ipc://" + directory.path() + "/job";
  Serving job(bind_or_fail(endpoint));
  auto viewer = Subscriber::connect(endpoint);
  job.publish(numbered(1));
  REQUIRE(*(*viewer)->next(test::patience));
  // Nothing tells when the last one has arrived: on a busy machine the viewer looks away for longer.
  std::uint64_t last = 1, first_seen = 0;
  for (auto away = 200ms; away < 30s && first_seen != last; away *= 2) {
    for (int i = 0; i < 49; i++) {
      job.publish(numbered(++last));
      std::this_thread::sleep_for(2ms);
    }
    std::this_thread::sleep_for(away);
    first_seen = (**(*viewer)->next(test::patience)).live.sequence;
  }
  CHECK(first_seen == last);
  CHECK_FALSE(*(*viewer)->next(50ms));
}

TEST_CASE("a viewer follows a job that starts again at the same endpoint") {
  const PrivateDirectory directory;
  const std::string endpoint = "ipc://" + directory.path() + "/job";
  auto viewer = Subscriber::connect(endpoint);
  for (std::uint64_t run = 1; run <= 2; run++) {
    Serving job(bind_or_fail(endpoint));
    job.publish(numbered(run));
    const auto came = (*viewer)->next(test::patience);
    REQUIRE(*came);
    CHECK((*came)->live.sequence == run);
  }
}

TEST_CASE("the last snapshot of a job that ends at once still arrives") {
  const PrivateDirectory directory;
  const std::string endpoint = "ipc://" + directory.path() + "/job";
  std::unique_ptr<Subscriber> viewer;
  {
    Serving job(bind_or_fail(endpoint));
    viewer = std::move(*Subscriber::connect(endpoint));
    job.publish(numbered(1));
    REQUIRE(*viewer->next(test::patience));
    Snapshot last = numbered(2);
    last.finished = true;
    job.publish(last);
  }
  const auto came = viewer->next(test::patience);
  REQUIRE(*came);
  CHECK((*came)->finished);
}

TEST_CASE("socket files are closed to others and gone at the end") {
  const PrivateDirectory directory;
  const std::string base = directory.path() + "/job";
  const mode_t before = ::umask(0);  // the user's umask must not matter
  {
    const auto publisher = bind_or_fail("ipc://" + base);
    for (const std::string& path : {base + ".pub", base + ".ask"}) {
      struct stat found {};
      REQUIRE(::lstat(path.c_str(), &found) == 0);
      CHECK(S_ISSOCK(found.st_mode));
      CHECK((found.st_mode & 07777) == 0600);
    }
  }
  ::umask(before);
  CHECK_FALSE(fs::exists(base + ".pub"));
  CHECK_FALSE(fs::exists(base + ".ask"));
}

TEST_CASE("a live job's endpoint is in use and stays with it") {
  const PrivateDirectory directory;
  const std::string endpoint = "ipc://" + directory.path() + "/job";
  Serving job(bind_or_fail(endpoint));
  const auto second = Publisher::bind(endpoint);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::in_use);
  CHECK(second.error().message.find(directory.path() + "/job.pub") != std::string::npos);
  CHECK(second.error().message.find('\n') == std::string::npos);
  job.publish(numbered(1));
  auto viewer = Subscriber::connect(endpoint);
  CHECK((*viewer)->ask(test::patience));
}

TEST_CASE("a stopped job's endpoint is in use as well") {
  const PrivateDirectory directory;
  const std::string endpoint = "ipc://" + directory.path() + "/job";
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto publisher = Publisher::bind(endpoint);
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
  }
  char byte;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  ::kill(child, SIGSTOP);
  CHECK(Publisher::bind(endpoint).error().code == ErrorCode::in_use);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(fs::exists(directory.path() + "/job.pub"));  // killed: left behind
  CHECK(Publisher::bind(endpoint));                  // stale: replaced
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("a user's file in the way is not removed") {
  const PrivateDirectory directory;
  std::ofstream(directory.path() + "/job.ask") << "precious";
  const auto bound = Publisher::bind("ipc://" + directory.path() + "/job");
  REQUIRE_FALSE(bound);
  CHECK(bound.error().code == ErrorCode::in_use);
  CHECK(fs::file_size(directory.path() + "/job.ask") == 8);
  CHECK_FALSE(fs::exists(directory.path() + "/job.pub"));  // the half that had been bound is gone again
}

TEST_CASE("endpoints that cannot be are refused with the reason") {
  const std::string long_path(107 - 4, 'x');
  for (const std::string& endpoint :
       {std::string("ipc://relative"), "ipc:///" + long_path, std::string("ipc:///"), std::string("ipc://"),
        std::string("tcp://127.0.0.1"), std::string("tcp://:5555"), std::string("tcp://127.0.0.1:-1"),
        std::string("tcp://127.0.0.1:65535"), std::string("tcp://127.0.0.1:12x"), std::string("udp://1.2.3.4:5"),
        std::string(""), std::string("ipc:///nowhere-at-all/job")}) {
    INFO(endpoint);
    const auto bound = Publisher::bind(endpoint);
    REQUIRE_FALSE(bound);
    CHECK(bound.error().code == ErrorCode::bad_argument);
    if (endpoint.find("nowhere") == std::string::npos) {
      CHECK(Subscriber::connect(endpoint).error().code == ErrorCode::bad_argument);
    }
  }
  CHECK(Publisher::bind("ipc:///" + long_path).error().message.find("too long") != std::string::npos);
  CHECK(Subscriber::connect("tcp://127.0.0.1:0").error().code == ErrorCode::bad_argument);
}

TEST_CASE("one publisher at a socket and at a port of the system's choice: the same news at both") {
  const PrivateDirectory directory;
  auto publisher = Publisher::bind("ipc://" + directory.path() + "/job");
  REQUIRE(publisher);
  const auto port = (*publisher)->also_bind("tcp://127.0.0.1:0");
  REQUIRE(port);
  CHECK(*port != "tcp://127.0.0.1:0");
  CHECK((*publisher)->endpoint() == "ipc://" + directory.path() + "/job");
  Snapshot snapshot;
  snapshot.job = "job-1";
  snapshot.live.sequence = 5;
  (*publisher)->publish(snapshot);
  const std::string socket = (*publisher)->endpoint();
  const Serving serving(std::move(*publisher));
  for (const std::string& endpoint : {socket, *port}) {
    INFO(endpoint);
    auto subscriber = Subscriber::connect(endpoint);
    REQUIRE(subscriber);
    const auto reached = (*subscriber)->reach(test::patience);
    REQUIRE(reached);
    REQUIRE(*reached);
    CHECK((*reached)->job == "job-1");
    const auto next = (*subscriber)->next(test::patience);
    REQUIRE(next);
    REQUIRE(*next);
    CHECK((*next)->live.sequence == 5);
  }
}

TEST_CASE("who has published nothing yet is reached all the same") {
  const PrivateDirectory directory;
  auto publisher = Publisher::bind("ipc://" + directory.path() + "/job");
  REQUIRE(publisher);
  const Serving serving(std::move(*publisher));
  auto subscriber = Subscriber::connect("ipc://" + directory.path() + "/job");
  const auto reached = (*subscriber)->reach(test::patience);
  REQUIRE(reached);
  CHECK_FALSE(*reached);
}

TEST_CASE("malformed questions are counted, and good ones still answered") {
  const PrivateDirectory directory;
  const std::string endpoint = "ipc://" + directory.path() + "/job";
  Serving job(bind_or_fail(endpoint));
  job.publish(numbered(1));
  RawSocket socket(ZMQ_DEALER, endpoint + ".ask");
  for (int i = 0; i < 100; i++) {
    if (i % 3 == 0) socket.send("more", 4, ZMQ_SNDMORE);
    socket.send("PCLW\1\0\0\0 nonsense", 17);
    if (i % 10 == 9) std::this_thread::sleep_for(5ms);
  }
  for (int wait = 0; wait < 6000 && job.malformed() < 100; wait++) std::this_thread::sleep_for(10ms);
  CHECK(job.malformed() == 100);
  auto viewer = Subscriber::connect(endpoint);
  CHECK((*viewer)->ask(test::patience));
}

TEST_CASE("a job of another version is reported as such") {
  const PrivateDirectory directory;
  const std::string base = "ipc://" + directory.path() + "/job";
  void* context = zmq_ctx_new();
  void* publish = zmq_socket(context, ZMQ_PUB);
  void* ask = zmq_socket(context, ZMQ_ROUTER);
  REQUIRE(zmq_bind(publish, (base + ".pub").c_str()) == 0);
  REQUIRE(zmq_bind(ask, (base + ".ask").c_str()) == 0);
  auto viewer = Subscriber::connect(base);
  std::atomic<bool> stop{false};
  std::thread future_job([&] {
    while (!stop) {
      zmq_send(publish, "PCLW\7\0\0\0future", 14, ZMQ_DONTWAIT);
      char identity[64], rest[4096];
      const int size = zmq_recv(ask, identity, sizeof identity, ZMQ_DONTWAIT);
      if (size > 0 && zmq_recv(ask, rest, sizeof rest, 0) >= 0) {
        zmq_send(ask, identity, static_cast<std::size_t>(size), ZMQ_SNDMORE);
        zmq_send(ask, "PCLW\7\0\0\0future", 14, 0);
      }
      std::this_thread::sleep_for(5ms);
    }
  });
  const auto came = (*viewer)->next(test::patience);
  const auto asked = (*viewer)->ask(test::patience);
  stop = true;
  future_job.join();
  REQUIRE_FALSE(came);
  CHECK(came.error().code == ErrorCode::wrong_version);
  REQUIRE_FALSE(asked);
  CHECK(asked.error().code == ErrorCode::wrong_version);
  zmq_close(publish);
  zmq_close(ask);
  zmq_ctx_term(context);
}
