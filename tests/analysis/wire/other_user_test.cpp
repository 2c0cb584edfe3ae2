// Unix sockets of another user, and runtime directories that others could touch.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>

#include "analysis/discovery/directories.hpp"
#include "analysis/discovery/jobs.hpp"
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
using namespace pclscope::discovery;
using namespace std::chrono_literals;
using pclscope::testing::PrivateDirectory;
using pclscope::testing::RandomSnapshot;
using pclscope::testing::Serving;
namespace fs = std::filesystem;

namespace {

constexpr uid_t stranger = 60'001;

// A process of another user's that publishes under `path` what looks like a job.
class Impostor {
 public:
  explicit Impostor(const std::string& path) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    pid_ = ::fork();
    if (pid_ == 0) publish(path, ready[1]);
    char word = 0;
    REQUIRE(::read(ready[0], &word, 1) == 1);
    ::close(ready[0]);
    ::close(ready[1]);
    REQUIRE(word == 'y');
  }
  ~Impostor() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Impostor(const Impostor&) = delete;

 private:
  [[noreturn]] static void publish(const std::string& path, int ready) {
    if (::setgid(stranger) != 0 || ::setuid(stranger) != 0) ::_exit(1);
    ::umask(0);
    void* context = zmq_ctx_new();
    void* out = zmq_socket(context, ZMQ_PUB);
    void* answers = zmq_socket(context, ZMQ_ROUTER);
    const bool bound = zmq_bind(out, ("ipc://" + path + ".pub").c_str()) == 0 &&
                       zmq_bind(answers, ("ipc://" + path + ".ask").c_str()) == 0;
    ::chmod((path + ".pub").c_str(), 0777);
    ::chmod((path + ".ask").c_str(), 0777);
    if (::write(ready, bound ? "y" : "n", 1) != 1) ::_exit(1);
    Encoder encoder, heads;
    const auto frame = encoder.snapshot(RandomSnapshot(4).make());
    for (;;) {
      zmq_send(out, frame.data(), frame.size(), ZMQ_DONTWAIT);
      char identity[256], question[1024];
      const int size = zmq_recv(answers, identity, sizeof identity, ZMQ_DONTWAIT);
      if (size > 0 && zmq_recv(answers, question, sizeof question, 0) >= 0) {
        [[maybe_unused]] const ssize_t told = ::write(ready, "q", 1);  // somebody asked us
      }
      ::usleep(1'000);
    }
  }
  pid_t pid_ = -1;
};

bool root_or_skipped() {
  if (::geteuid() == 0) return true;
  WARN("skipped: only root can act as another user");
  return false;
}

}  // namespace

TEST_CASE("what another user publishes under a job's name is not believed") {
  if (!root_or_skipped()) return;
  const PrivateDirectory directory;
  const std::string shared = directory.path() + "/shared";
  fs::create_directory(shared);
  ::chmod(shared.c_str(), 01777);
  ::chmod(directory.path().c_str(), 0755);
  const Impostor impostor(shared + "/job");
  auto viewer = Subscriber::connect("ipc://" + shared + "/job");
  REQUIRE(viewer);
  const auto came = (*viewer)->next(test::patience);
  REQUIRE_FALSE(came);
  CHECK(came.error().code == ErrorCode::not_permitted);
  const auto asked = (*viewer)->ask(test::patience);
  REQUIRE_FALSE(asked);
  CHECK(asked.error().code == ErrorCode::not_permitted);
  CHECK(asked.error().message.find("another user") != std::string::npos);
  // And a job does not take the name from him, nor is it taken from the job.
  const auto bound = Publisher::bind("ipc://" + shared + "/job");
  REQUIRE_FALSE(bound);
  CHECK(bound.error().code == ErrorCode::in_use);
}

TEST_CASE("in a directory that all may write in, a job's sockets are the owner's alone") {
  if (!root_or_skipped()) return;
  const PrivateDirectory directory;
  const std::string shared = directory.path() + "/shared";
  fs::create_directory(shared);
  ::chmod(shared.c_str(), 01777);
  ::chmod(directory.path().c_str(), 0755);
  // The child first: a fork of a process that has threads is no place for a viewer.
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    char word = 0;
    if (::read(ready[0], &word, 1) != 1) ::_exit(89);
    if (::setgid(stranger) != 0 || ::setuid(stranger) != 0) ::_exit(90);
    for (const char* end : {".pub", ".ask"}) {
      const std::string path = shared + "/job" + end;
      if (::access(path.c_str(), R_OK) == 0 || ::access(path.c_str(), W_OK) == 0) ::_exit(91);
      if (::unlink(path.c_str()) == 0) ::_exit(92);
    }
    auto viewer = Subscriber::connect("ipc://" + shared + "/job");
    if (!viewer || *(*viewer)->next(500ms) || (*viewer)->ask(500ms)) ::_exit(93);
    ::_exit(0);
  }
  const mode_t before = ::umask(0);
  auto bound = Publisher::bind("ipc://" + shared + "/job");
  ::umask(before);
  REQUIRE(bound);
  Serving job(std::move(*bound));
  job.publish(RandomSnapshot(5).make());
  REQUIRE(::write(ready[1], "x", 1) == 1);
  int status = 0;
  ::waitpid(pid, &status, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  auto viewer = Subscriber::connect("ipc://" + shared + "/job");
  REQUIRE(viewer);
  CHECK((*viewer)->ask(test::patience));
}

TEST_CASE("a session's directory in which others can replace things is not used") {
  const PrivateDirectory directory;
  const std::string fallback = "/tmp/pclscope-" + std::to_string(::geteuid());
  for (const mode_t mode : {0777, 0770, 0702}) {
    ::chmod(directory.path().c_str(), mode);
    CHECK(*runtime_directory() == fallback);
  }
  ::chmod(directory.path().c_str(), 01777);  // as /tmp
  CHECK(*runtime_directory() == directory.path() + "/pclscope");
  ::chmod(directory.path().c_str(), 0755);
  CHECK(*runtime_directory() == directory.path() + "/pclscope");
  for (const char* odd : {"", "relative", "/nowhere/at/all", "/etc/hostname"}) {
    ::setenv("XDG_RUNTIME_DIR", odd, 1);
    CHECK(*runtime_directory() == fallback);
  }
  ::setenv("XDG_RUNTIME_DIR", directory.path().c_str(), 1);
}

TEST_CASE("a runtime directory that somebody else made first is refused, with a way out") {
  if (!root_or_skipped()) return;
  const PrivateDirectory directory;
  const std::string ours = directory.path() + "/pclscope";
  fs::create_directory(ours);
  REQUIRE(::chown(ours.c_str(), stranger, stranger) == 0);
  const auto strangers = runtime_directory();
  REQUIRE_FALSE(strangers);
  CHECK(strangers.error().code == ErrorCode::not_permitted);
  CHECK(strangers.error().message.find("XDG_RUNTIME_DIR") != std::string::npos);
  Job job;
  job.name = "job";
  job.endpoint = "ipc:///x";
  CHECK_FALSE(announce(job));
  CHECK_FALSE(jobs_here());
  CHECK(fs::is_empty(ours));
  fs::remove(ours);
  fs::create_directory_symlink("/tmp", ours);
  CHECK_FALSE(runtime_directory());
  fs::remove(ours);
  fs::create_directory(ours);
  ::chmod(ours.c_str(), 0711);
  const auto open = runtime_directory();
  REQUIRE_FALSE(open);
  CHECK(open.error().message.find("chmod 700") != std::string::npos);
  ::chmod(ours.c_str(), 0700);
  CHECK(runtime_directory());
}

TEST_CASE("a key file of another user is refused, however it is open") {
  if (!root_or_skipped()) return;
  const PrivateDirectory directory;
  const std::string path = directory.path() + "/keys";
  REQUIRE(load_or_create_keys(path));
  REQUIRE(::chown(path.c_str(), stranger, stranger) == 0);
  CHECK(load_keys(path).error().code == ErrorCode::not_permitted);
  CHECK(load_or_create_keys(path).error().code == ErrorCode::not_permitted);
  fs::remove(path);
  const auto first = load_or_create_keys(path);
  const auto second = replace_keys(path);
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->server_secret != second->server_secret);
  CHECK(load_keys(path)->client_secret == second->client_secret);
  struct stat found {};
  REQUIRE(::stat(path.c_str(), &found) == 0);
  CHECK((found.st_mode & 07777) == 0600);
}
