// Announcements of running jobs on their node, and the directory they are in.
#include "analysis/discovery/jobs.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analysis/discovery/directories.hpp"
#include "tests/analysis/discovery/private_directory.hpp"

using namespace pclscope;
using namespace pclscope::discovery;
using pclscope::testing::PrivateDirectory;
namespace fs = std::filesystem;

namespace {

Job job_named(const std::string& name, std::uint32_t pid, std::int64_t started = 1) {
  Job job;
  job.name = name;
  job.endpoint = "ipc://" + *runtime_directory() + "/" + name;
  job.command = "lmp -in \"melt.in\" \xff\n";  // not UTF-8, and a line break
  job.mpi = "Open MPI v4.1.4";
  job.node = "node-1";
  job.ranks = 8;
  job.aggregator_pid = pid;
  job.started_realtime_ns = started;
  return job;
}

mode_t mode_of(const std::string& path) {
  struct stat found {};
  REQUIRE(::lstat(path.c_str(), &found) == 0);
  return found.st_mode & 07777;
}

pid_t start_sleeper() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  return child;
}

void end(pid_t child) {
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace

TEST_CASE("announced jobs are listed, oldest first, until withdrawn") {
  const PrivateDirectory session;
  const auto self = static_cast<std::uint32_t>(::getpid());
  REQUIRE(announce(job_named("second", self, 20)));
  REQUIRE(announce(job_named("first", self, 10)));
  auto jobs = jobs_here();
  REQUIRE(jobs);
  REQUIRE(jobs->size() == 2);
  const Job& first = (*jobs)[0];
  CHECK(first.name == "first");
  CHECK(first.endpoint == "ipc://" + session.path() + "/pclscope/first");
  CHECK(first.command.starts_with("lmp -in \"melt.in\" "));
  CHECK(first.mpi == "Open MPI v4.1.4");
  CHECK(first.node == "node-1");
  CHECK(first.ranks == 8);
  CHECK(first.aggregator_pid == self);
  CHECK(first.started_realtime_ns == 10);
  CHECK((*jobs)[1].name == "second");
  CHECK(mode_of(session.path() + "/pclscope/first.job") == 0600);
  CHECK(mode_of(session.path() + "/pclscope") == 0700);
  withdraw("first");
  jobs = jobs_here();
  REQUIRE(jobs->size() == 1);
  CHECK((*jobs)[0].name == "second");
}

TEST_CASE("a job whose aggregator is gone disappears with its sockets") {
  const PrivateDirectory session;
  const pid_t child = start_sleeper();
  REQUIRE(announce(job_named("brief", static_cast<std::uint32_t>(child))));
  const std::string base = session.path() + "/pclscope/brief";
  std::ofstream(base + ".pub") << "x";
  std::ofstream(base + ".ask") << "x";
  CHECK(jobs_here()->size() == 1);
  ::kill(child, SIGKILL);
  siginfo_t info;
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  CHECK(jobs_here()->empty());  // a zombie is gone
  ::waitpid(child, nullptr, 0);
  CHECK_FALSE(fs::exists(base + ".job"));
  CHECK_FALSE(fs::exists(base + ".pub"));
  CHECK_FALSE(fs::exists(base + ".ask"));
}

TEST_CASE("a reused pid does not revive a job") {
  const PrivateDirectory session;
  const pid_t child = start_sleeper();
  REQUIRE(announce(job_named("old", static_cast<std::uint32_t>(child))));
  // The same pid as another process would have it: other start time.
  const std::string path = session.path() + "/pclscope/old.job";
  std::string content;
  std::getline(std::ifstream(path), content, '\0');
  const std::size_t at = content.find("\"aggregator_start_ticks\": ");
  REQUIRE(at != std::string::npos);
  content.replace(at + 25, 1, " 1");  // one digit more
  std::ofstream(path) << content;
  CHECK(jobs_here()->empty());
  CHECK_FALSE(fs::exists(path));
  end(child);
}

TEST_CASE("files that are no announcements are left alone") {
  const PrivateDirectory session;
  const std::string directory = *runtime_directory();
  std::ofstream(directory + "/noise.job") << "{ not json";
  std::ofstream(directory + "/array.job") << "[1, 2]";
  std::ofstream(directory + "/other.job")
      << R"({"name": "../../etc/x", "endpoint": "ipc:///x", "aggregator_pid": 999999})";
  std::ofstream(directory + "/types.job") << R"({"name": 5, "endpoint": [], "aggregator_pid": "x", "ranks": 1e300})";
  fs::create_directory(directory + "/folder.job");
  const auto jobs = jobs_here();
  REQUIRE(jobs);
  CHECK(jobs->empty());
  CHECK(fs::exists(directory + "/noise.job"));
  CHECK(fs::exists(directory + "/folder.job"));
}

TEST_CASE("a job of another node that shares the directory is neither listed nor removed") {
  const PrivateDirectory session;
  REQUIRE(announce(job_named("far", static_cast<std::uint32_t>(::getpid()))));
  const std::string path = session.path() + "/pclscope/far.job";
  std::string content;
  std::getline(std::ifstream(path), content, '\0');
  const auto prefix_value = [&content](const std::string& name) {
    content.replace(content.find("\"" + name + "\": \"") + name.size() + 4, 1, "\"other");
  };
  prefix_value("boot_id");
  prefix_value("host");
  std::ofstream(path) << content;
  CHECK(jobs_here()->empty());
  CHECK(fs::exists(path));
}

TEST_CASE("names that would leave the directory are refused") {
  const PrivateDirectory session;
  for (const char* name : {"", ".", "..", "a/b", "../x", ".hidden", "a b", "a\n"}) {
    INFO(name);
    const Status status = announce(job_named(name, 1));
    REQUIRE_FALSE(status);
    CHECK(status.error().code == ErrorCode::bad_argument);
  }
}

TEST_CASE("runtime directory: the session's, or /tmp when that is missing") {
  PrivateDirectory session;
  CHECK(*runtime_directory() == session.path() + "/pclscope");
  const std::string fallback = "/tmp/pclscope-" + std::to_string(::geteuid());
  ::setenv("XDG_RUNTIME_DIR", (session.path() + "/missing").c_str(), 1);
  CHECK(*runtime_directory() == fallback);
  ::setenv("XDG_RUNTIME_DIR", "relative", 1);
  CHECK(*runtime_directory() == fallback);
  ::unsetenv("XDG_RUNTIME_DIR");
  CHECK(*runtime_directory() == fallback);
  CHECK(mode_of(fallback) == 0700);
}

TEST_CASE("a runtime directory that others can enter, or a link, is refused") {
  const PrivateDirectory session;
  const std::string directory = session.path() + "/pclscope";
  fs::create_directory(directory);
  ::chmod(directory.c_str(), 0755);
  auto found = runtime_directory();
  REQUIRE_FALSE(found);
  CHECK(found.error().code == ErrorCode::not_permitted);
  fs::remove(directory);
  fs::create_directory_symlink("/tmp", directory);
  CHECK(runtime_directory().error().code == ErrorCode::not_permitted);
  fs::remove(directory);
  if (::geteuid() == 0) {
    fs::create_directory(directory);
    ::chmod(directory.c_str(), 0700);
    REQUIRE(::chown(directory.c_str(), 12345, 12345) == 0);
    CHECK(runtime_directory().error().code == ErrorCode::not_permitted);
  }
}
