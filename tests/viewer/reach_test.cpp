// Frames through byte streams: whole, packed, and never believed before they are checked; and programs at the other end
// that are no relay, ask for passwords, or hang.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <random>
#include <thread>

#include "analysis/wire/encode.hpp"
#include "analysis/wire/publisher.hpp"
#include "analysis/wire/socket_link.hpp"
#include "analysis/wire/subscriber.hpp"
#include "tests/analysis/discovery/private_directory.hpp"
#include "tests/analysis/wire/serving.hpp"
#include "tests/patience.hpp"
#include "tests/seed.hpp"
#include "tests/thinned.hpp"
#include "tests/viewer/fake_nodes.hpp"
#include "viewer/reach/ask.hpp"
#include "viewer/reach/relay_link.hpp"
#include "viewer/reach/relay_server.hpp"
#include "viewer/reach/relay_stream.hpp"
#include "viewer/reach/remote_command.hpp"

using namespace pclscope;
using namespace pclscope::reach;
using pclscope::test::FakeNodes;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0); }
  ~Pipe() { close(0), close(1); }
  Pipe(const Pipe&) = delete;
  void close(int i) {
    if (ends[i] >= 0) ::close(std::exchange(ends[i], -1));
  }
};

std::vector<std::uint8_t> random_bytes(std::minstd_rand& random, std::size_t size, unsigned values) {
  std::vector<std::uint8_t> bytes(size);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() / 7 % values);
  return bytes;
}

RelayCommand shell(const std::string& script, const std::string& host = "node7") {
  return {{"sh", "-c", script}, "ssh to node7", host};
}

std::string refusal(const std::string& script, std::chrono::milliseconds patience = 5000ms) {
  const std::atomic<bool> stop{false};
  const auto relayed = open_relay(shell(script), patience, 1s, stop);
  REQUIRE_FALSE(relayed);
  return relayed.error().message;
}

}  // namespace

TEST_CASE("all that is written into a stream comes out of it, in whatever pieces") {
  std::minstd_rand random(static_cast<unsigned>(pclscope::test::random_seed()));
  Pipe pipe;
  std::vector<RelayMessage> sent;
  const Part parts[] = {Part::question, Part::snapshot, Part::answer, Part::sign, Part::job};
  for (int i = 0; i < 60; ++i) {
    const std::size_t size = i % 7 == 0 ? 0 : i == 30 ? 3'000'000 : random() % 20'000;
    sent.push_back({parts[random() % 5], random_bytes(random, size, i % 2 == 0 ? 256 : 3)});
  }
  std::thread writer([&] {
    RelayWriter to(pipe.ends[0]);
    to.write_line("Last login: Mon Nov 23 from somewhere");
    to.write_line("");
    to.write_line(relay_greeting_line() + "\r");
    for (const RelayMessage& message : sent) to.write(message.part, message.bytes);
    pipe.close(0);
  });
  RelayReader from(pipe.ends[1]);
  REQUIRE(from.greet(Clock::now() + test::patience));
  for (const RelayMessage& message : sent) {
    const auto came = from.read(Clock::now() + test::patience);
    REQUIRE(came);
    REQUIRE(*came);
    CHECK((*came)->part == message.part);
    CHECK(((*came)->bytes == message.bytes));
  }
  const auto end = from.read(Clock::now() + test::patience);
  REQUIRE_FALSE(end);
  CHECK(end.error().code == ErrorCode::unreachable);
  writer.join();
}

TEST_CASE("the greeting is found behind whatever a shell printed before it, with a line end or without") {
  for (const char* noise : {"", "\n", "no newline", "Welcome\nto node7", "\x1b[0m",
                            "pclscope-relay is next: ", "pclscope-relay \n", "'pclscope-relay 9 9' ", "\r\n\r"}) {
    for (const char* line_end : {"\n", "\r\n"}) {
      Pipe pipe;
      const std::string text = noise + relay_greeting_line() + line_end;
      CAPTURE(text);
      REQUIRE(::write(pipe.ends[0], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
      const std::vector<std::uint8_t> name = {'j', '\n', 'n'};
      RelayWriter(pipe.ends[0]).write(Part::job, name);
      RelayReader from(pipe.ends[1]);
      REQUIRE(from.greet(Clock::now() + test::patience));
      const auto came = from.read(Clock::now() + test::patience);
      REQUIRE(came);
      REQUIRE(*came);
      CHECK(((*came)->bytes == name));
    }
  }
  CHECK(refusal("printf 'no newline'; echo 'pclscope-relay 999 2'; sleep 20").find("another version") !=
        std::string::npos);
}

TEST_CASE("what pclscope says on another node is told from what login shells print there") {
  const pclscope::testing::PrivateDirectory directory;
  const FakeNodes nodes(directory.path(), R"(echo "$*"; echo "pclscope: no" >&2; exit 1)");
  for (const char* noise : {"", "echo hello", "printf 'no newline'", "echo '{\"jobs\": 1}'; printf '{'",
                            "echo oops >&2; printf oops >&2", "set -v -x"}) {
    CAPTURE(noise);
    nodes.login("node1", noise);
    const auto done = run_there("node1", {"list", "--here"}, false, test::patience);
    if (!done) FAIL(done.error().message);
    CHECK(done->status == 1);
    CHECK(done->output == "list --here\n");
    CHECK(done->errors.find("oops") == std::string::npos);
    CHECK(done->errors.find("pclscope: no\n") != std::string::npos);
  }
  // Without a shell that starts anything, the last words say why.
  nodes.login("node1", "echo noise; echo 'This account is not available.' >&2; exit 1");
  const auto refused = run_there("node1", {"list"}, false, test::patience);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "ssh to node1: This account is not available.");
}

TEST_CASE("nodes are asked side by side, within a limit for all of them, or until there is enough") {
  const pclscope::testing::PrivateDirectory directory;
  const FakeNodes nodes(directory.path(), "echo yes");
  std::vector<std::string> hosts;
  for (int i = 0; i < 40; ++i) hosts.push_back("silent" + std::to_string(i));
  for (const std::string& host : hosts) nodes.login(host, "exec sleep 3000");
  hosts.insert(hosts.begin(), "node1");
  const auto began = Clock::now();
  const auto all = run_on_all(hosts, {"list"}, {1s, 1s});
  CHECK(Clock::now() - began < test::patience);  // not 3000 s: nobody waits for the silent
  REQUIRE(all.size() == hosts.size());
  for (std::size_t i = 1; i < all.size(); ++i) CHECK_FALSE(all[i]);
  const auto once_more = Clock::now();
  const auto some = run_on_all(hosts, {"list"}, {300s, 1s}, [](std::size_t at, const Answer& answer) {
    return at == 0 && answer && *answer && (*answer)->output == "yes\n";
  });
  CHECK(Clock::now() - once_more < 200s);
  REQUIRE(some[0]);
  REQUIRE(*some[0]);
  CHECK((*some[0])->output == "yes\n");
  CHECK(run_on_all({}, {"list"}, {}).empty());
}

TEST_CASE("snapshots that are much alike take little room") {
  std::minstd_rand random(static_cast<unsigned>(pclscope::test::random_seed()));
  Pipe pipe;
  std::vector<std::uint8_t> snapshot = random_bytes(random, 200'000, 256);
  std::uint64_t first = 0, all = 0;
  std::thread writer([&] {
    RelayWriter to(pipe.ends[0]);
    for (int i = 0; i < 20; ++i) {
      to.write(Part::snapshot, snapshot);
      if (i == 0) first = to.bytes_written();
      snapshot[random() % snapshot.size()] ^= 1;
      all = to.bytes_written();
    }
    pipe.close(0);
  });
  RelayReader from(pipe.ends[1]);
  int came = 0;
  for (;; ++came) {
    const auto message = from.read(Clock::now() + test::patience);
    if (!message) break;
  }
  writer.join();
  CHECK(came == 20);
  CHECK(all - first < first / 10);
}

TEST_CASE("damaged streams are refused or give other bytes, and cost nothing else") {
  std::minstd_rand random(static_cast<unsigned>(pclscope::test::random_seed()));
  std::vector<std::uint8_t> good;
  {
    Pipe pipe;
    RelayWriter to(pipe.ends[0]);
    for (int i = 0; i < 6; ++i) to.write(i % 2 == 0 ? Part::snapshot : Part::question, random_bytes(random, 2000, 9));
    pipe.close(0);
    std::uint8_t buffer[65536];
    for (ssize_t got = 0; (got = ::read(pipe.ends[1], buffer, sizeof buffer)) > 0;)
      good.insert(good.end(), buffer, buffer + got);
  }
  for (int round = 0; round < test::thinned(2000, 200); ++round) {
    std::vector<std::uint8_t> bad = good;
    for (unsigned i = 0; i <= random() % 3; ++i) bad[random() % bad.size()] = static_cast<std::uint8_t>(random() / 7);
    if (round % 3 == 0) bad.resize(random() % bad.size());
    Pipe pipe;
    REQUIRE(::write(pipe.ends[0], bad.data(), bad.size()) == static_cast<ssize_t>(bad.size()));
    pipe.close(0);
    RelayReader from(pipe.ends[1]);
    int messages = 0;
    for (; messages < 1000; ++messages) {
      const auto message = from.read(Clock::now() + test::patience);
      if (!message) break;
    }
    REQUIRE(messages < 1000);
  }
}

TEST_CASE("a job is followed and asked through a relay as over its sockets") {
  const pclscope::testing::PrivateDirectory directory;
  const std::string endpoint = "ipc://" + directory.path() + "/job";
  auto publisher = wire::Publisher::bind(endpoint);
  REQUIRE(publisher);
  Snapshot snapshot;
  snapshot.job = "job-1";
  snapshot.live.sequence = 1;
  (*publisher)->publish(snapshot);
  pclscope::testing::Serving serving(std::move(*publisher), [](const DagQuestion&) -> Result<Dag> {
    return Error{ErrorCode::not_found, "there is no region 7"};
  });
  Pipe pipe;
  auto sockets = wire::open_sockets(endpoint);
  REQUIRE(sockets);
  std::thread relay([&] {
    RelayWriter(pipe.ends[0]).write_line(relay_greeting_line());
    serve_relay(pipe.ends[0], pipe.ends[0], {std::move(*sockets), "job-1", "node7", {}});
  });
  {
    // The program at the other end is one that hands on what a socket says.
    const int there = ::fcntl(pipe.ends[1], F_DUPFD, 50);
    const std::atomic<bool> stop{false};
    const std::string copy = "cat <&" + std::to_string(there) + " & exec cat >&" + std::to_string(there);
    auto relayed = open_relay({{"bash", "-c", copy}, "relay", ""}, test::patience, 50ms, stop);
    ::close(there);
    REQUIRE(relayed);
    CHECK(relayed->job == "job-1");
    CHECK(relayed->node == "node7");
    wire::Subscriber subscriber(std::move(relayed->link));
    const auto reached = subscriber.reach(test::patience);
    REQUIRE(reached);
    REQUIRE(*reached);
    CHECK((*reached)->job == "job-1");
    for (std::uint64_t sequence = 2; sequence < 8; ++sequence) {
      snapshot.live.sequence = sequence;
      serving.publish(snapshot);
      for (std::uint64_t seen = 0; seen != sequence;) {  // the one before may come once more
        const auto next = subscriber.next(test::patience);
        REQUIRE(next);
        REQUIRE(*next);
        seen = (*next)->live.sequence;
        REQUIRE(seen <= sequence);
      }
    }
    const auto dag = subscriber.ask_dag({}, test::patience);
    REQUIRE_FALSE(dag);
    CHECK(dag.error().message == "there is no region 7");
  }
  pipe.close(1);
  relay.join();
}

TEST_CASE("programs that are no relay are told apart, in one line, and nobody waits for them") {
  CHECK(refusal("echo 'root@node7: Permission denied (publickey,password).' >&2; exit 255").find("ssh-copy-id node7") !=
        std::string::npos);
  CHECK(refusal("echo 'Host key verification failed.' >&2; exit 255").find("by hand: ssh node7") != std::string::npos);
  CHECK(refusal("echo noise; echo 'sh: 1: pclscope: not found' >&2; exit 127").find("pclscope: not found") !=
        std::string::npos);
  CHECK(refusal("echo 'pclscope-relay 999 2'; sleep 20").find("another version") != std::string::npos);
  CHECK(refusal("yes noise").find("no pclscope relay") != std::string::npos);
  const auto began = Clock::now();
  CHECK(refusal("exec sleep 100", 300ms).find("no answer in time") != std::string::npos);
  CHECK(refusal("echo 'pclscope-relay 1 2'; exec sleep 100", 300ms).find("no answer in time") != std::string::npos);
  CHECK(Clock::now() - began < 50s);
  CHECK(refusal("").find("ended") != std::string::npos);
  // The job, and with it the relay, dies while one connects: after the greeting, and in the middle of a frame.
  CHECK(refusal("echo '" + relay_greeting_line() + "'").find("ended") != std::string::npos);
  CHECK(refusal("echo '" + relay_greeting_line() + "'; printf 'half'").find("ended") != std::string::npos);
}

TEST_CASE("command lines for other nodes: no option, no shell, comes from a file") {
  for (const char* bad : {"", "-oProxyCommand=x", "a b", "a;b", "$(x)", "a'b", "a\nb"}) CHECK_FALSE(is_host(bad));
  for (const char* good : {"node7", "user@login.site.org", "10.0.0.7", "n-1.cluster"}) CHECK(is_host(good));
  discovery::Job job;
  job.name = "sim-1";
  job.endpoint = "ipc:///run/it's here/sim-1";
  job.node = "node7";
  job.program = "/opt/my tools/pclscope";
  job.batch_job = "4711";
  ::setenv("PCLSCOPE_SSH", "myssh -J login", 1);
  const auto ssh = by_ssh(job.node, job.program, relay_words(job));
  ::unsetenv("PCLSCOPE_SSH");
  REQUIRE(ssh.arguments.size() > 5);
  CHECK(ssh.arguments[0] == "myssh");
  CHECK(ssh.arguments[1] == "-J");
  CHECK(ssh.arguments[ssh.arguments.size() - 2] == "node7");
  // The line that a shell there would get is taken apart again by one here.
  const std::string line = ssh.arguments.back();
  CHECK(line.find("exec sh -c ") == 0);
  const auto srun = by_srun(job, relay_words(job));
  CHECK(srun.arguments.front() == "srun");
  CHECK(srun.arguments.back() == job.endpoint);
}
