// TCP endpoints: encrypted and closed to everybody without the user's key file.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "analysis/wire/curve_keys.hpp"
#include "analysis/wire/encode.hpp"
#include "analysis/wire/publisher.hpp"
#include "analysis/wire/subscriber.hpp"
#include "tests/analysis/discovery/private_directory.hpp"
#include "tests/analysis/wire/random_snapshot.hpp"
#include "tests/analysis/wire/serving.hpp"
#include "tests/patience.hpp"

using namespace pclscope;
using namespace pclscope::wire;
using namespace std::chrono_literals;
using pclscope::testing::PrivateDirectory;
using pclscope::testing::RandomSnapshot;
using pclscope::testing::Serving;
namespace fs = std::filesystem;

namespace {

// A publisher at a port that was free.
std::unique_ptr<Publisher> bind_anywhere(std::string& endpoint, int& port) {
  std::random_device random;
  for (int tries = 0; tries < 50; tries++) {
    port = 20000 + static_cast<int>(random() % 30000);
    endpoint = "tcp://127.0.0.1:" + std::to_string(port);
    auto bound = Publisher::bind(endpoint);
    if (bound) return std::move(*bound);
    if (bound.error().code != ErrorCode::in_use) FAIL(bound.error().message);
  }
  FAIL("no free port");
  return nullptr;
}

// What a ZeroMQ client of somebody else's hears at both ports. Empty `server_public`: does not encrypt at all.
std::size_t heard_by_stranger(int port, const std::string& server_public) {
  void* context = zmq_ctx_new();
  void* listen = zmq_socket(context, ZMQ_SUB);
  void* ask = zmq_socket(context, ZMQ_DEALER);
  const int linger = 0;
  for (void* socket : {listen, ask}) {
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    if (!server_public.empty()) {
      char own_public[41], own_secret[41];
      REQUIRE(zmq_curve_keypair(own_public, own_secret) == 0);
      zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, server_public.c_str(), 41);
      zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, own_public, 41);
      zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, own_secret, 41);
    }
  }
  zmq_setsockopt(listen, ZMQ_SUBSCRIBE, "", 0);
  const std::string address = "tcp://127.0.0.1:";
  REQUIRE(zmq_connect(listen, (address + std::to_string(port)).c_str()) == 0);
  REQUIRE(zmq_connect(ask, (address + std::to_string(port + 1)).c_str()) == 0);
  Encoder encoder;
  const auto question = encoder.question_newest(1);
  zmq_send(ask, question.data(), question.size(), ZMQ_DONTWAIT);
  std::size_t heard = 0;
  zmq_pollitem_t items[] = {{listen, 0, ZMQ_POLLIN, 0}, {ask, 0, ZMQ_POLLIN, 0}};
  if (zmq_poll(items, 2, 700) > 0) heard++;
  zmq_close(listen);
  zmq_close(ask);
  zmq_ctx_term(context);
  return heard;
}

}  // namespace

TEST_CASE("over TCP a viewer with the key file gets snapshots and answers; strangers get nothing") {
  const PrivateDirectory directory;
  std::string endpoint;
  int port = 0;
  Serving job(bind_anywhere(endpoint, port));
  const Snapshot sent = RandomSnapshot(11).make();
  job.publish(sent);
  const auto serve_viewer = [&] {
    auto viewer = Subscriber::connect(endpoint);
    REQUIRE(viewer);
    const auto came = (*viewer)->next(test::patience);
    REQUIRE(*came);
    CHECK(**came == sent);
    const auto asked = (*viewer)->ask(test::patience);
    REQUIRE(asked);
    CHECK(*asked == sent);
  };
  serve_viewer();
  const auto keys = load_keys(directory.path() + "/pclscope/curve.key");
  REQUIRE(keys);
  CHECK(heard_by_stranger(port, "") == 0);
  CHECK(heard_by_stranger(port, keys->server_public) == 0);  // knows the server's public key, is not let in
  serve_viewer();                                            // and the strangers broke nothing
}

TEST_CASE("over TCP a viewer with another key file gets nothing, and is told where to look") {
  const PrivateDirectory directory;
  std::string endpoint;
  int port = 0;
  Serving job(bind_anywhere(endpoint, port));
  job.publish(RandomSnapshot(12).make());
  const PrivateDirectory elsewhere;
  CHECK(Subscriber::connect(endpoint).error().code == ErrorCode::not_found);
  REQUIRE(load_or_create_keys(*key_file_path()));
  auto viewer = Subscriber::connect(endpoint);
  REQUIRE(viewer);
  CHECK_FALSE(*(*viewer)->next(500ms));
  const auto asked = (*viewer)->ask(500ms);
  REQUIRE_FALSE(asked);
  CHECK(asked.error().code == ErrorCode::unreachable);
  CHECK(asked.error().message.find("curve.key") != std::string::npos);
  // A copy of the right file is let in.
  ::setenv("PCLSCOPE_KEY_FILE", (directory.path() + "/pclscope/curve.key").c_str(), 1);
  auto friendly = Subscriber::connect(endpoint);
  ::unsetenv("PCLSCOPE_KEY_FILE");
  REQUIRE(friendly);
  CHECK(*(*friendly)->next(test::patience));
}

TEST_CASE("a TCP port in use is reported with its address, either of the two") {
  const PrivateDirectory directory;
  std::string endpoint;
  int port = 0;
  const auto first = bind_anywhere(endpoint, port);
  const auto second = Publisher::bind(endpoint);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::in_use);
  CHECK(second.error().message.find(endpoint) != std::string::npos);
  const auto neighbour = Publisher::bind("tcp://127.0.0.1:" + std::to_string(port - 1));
  REQUIRE_FALSE(neighbour);
  CHECK(neighbour.error().code == ErrorCode::in_use);
}

TEST_CASE("an address of another machine cannot be published at") {
  const PrivateDirectory directory;
  const auto bound = Publisher::bind("tcp://192.0.2.1:5570");
  REQUIRE_FALSE(bound);
  CHECK(bound.error().code == ErrorCode::bad_argument);
}

TEST_CASE("the key file is closed to others, made once, and refused when it is not") {
  const PrivateDirectory directory;
  const std::string path = directory.path() + "/keys";
  const mode_t before = ::umask(0);
  const auto keys = load_or_create_keys(path);
  ::umask(before);
  REQUIRE(keys);
  struct stat found {};
  REQUIRE(::stat(path.c_str(), &found) == 0);
  CHECK((found.st_mode & 07777) == 0600);
  CHECK(load_or_create_keys(path)->server_secret == keys->server_secret);
  CHECK(std::set<std::string>{keys->server_public, keys->server_secret, keys->client_public, keys->client_secret}
            .size() == 4);
  CHECK(std::distance(fs::directory_iterator(directory.path()), {}) == 1);  // no drafts left

  ::chmod(path.c_str(), 0640);
  CHECK(load_keys(path).error().code == ErrorCode::not_permitted);
  ::chmod(path.c_str(), 0600);
  for (const char* content : {"", "pclscope-keys 2\n", "pclscope-keys 1\nserver-public short\n", "noise"}) {
    std::ofstream(path) << content;
    CHECK(load_keys(path).error().code == ErrorCode::damaged);
  }
  fs::remove(path);
  fs::create_symlink("/etc/hostname", path);
  CHECK_FALSE(load_keys(path));
}

TEST_CASE("processes that make the key file at the same time agree") {
  const PrivateDirectory directory;
  const std::string path = directory.path() + "/keys";
  int results[2];
  REQUIRE(::pipe(results) == 0);
  for (int p = 0; p < 8; p++) {
    if (::fork() == 0) {
      const auto keys = load_or_create_keys(path);
      const std::string secret = keys ? keys->server_secret : std::string(40, '?');
      ::_exit(::write(results[1], secret.data(), 40) == 40 ? 0 : 1);
    }
  }
  std::set<std::string> secrets;
  for (int p = 0; p < 8; p++) {
    ::wait(nullptr);
    char secret[40];
    REQUIRE(::read(results[0], secret, sizeof secret) == sizeof secret);
    secrets.insert(std::string(secret, sizeof secret));
  }
  CHECK(secrets == std::set<std::string>{load_keys(path)->server_secret});
  ::close(results[0]);
  ::close(results[1]);
}
