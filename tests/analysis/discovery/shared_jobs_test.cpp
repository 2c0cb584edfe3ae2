// Announcements in the directory that a user's nodes share: what is believed, what is swept, and who is refused.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "analysis/discovery/announcer.hpp"
#include "analysis/discovery/directories.hpp"
#include "analysis/discovery/jobs.hpp"
#include "analysis/discovery/private_file.hpp"
#include "tests/analysis/discovery/private_directory.hpp"

using namespace pclscope;
using namespace pclscope::discovery;
using pclscope::testing::PrivateDirectory;
namespace fs = std::filesystem;

namespace {

Job job_named(const std::string& name) {
  Job job;
  job.name = name;
  job.endpoint = "ipc:///run/" + name;
  job.tcp = {"tcp://node7:4000", "tcp://10.0.0.7:4000"};
  job.node = "node7";
  job.program = "/opt/pclscope/bin/pclscope";
  job.batch_job = "4711";
  job.cluster = "alpha";
  job.ranks = 8;
  job.aggregator_pid = static_cast<std::uint32_t>(::getpid());
  job.started_realtime_ns = 5;
  return job;
}

std::string jobs_folder() { return *shared_directory() + "/jobs"; }

// The only file there.
std::string file_there() {
  std::string found;
  for (const auto& entry : fs::directory_iterator(jobs_folder())) {
    REQUIRE(found.empty());
    found = entry.path().string();
  }
  return found;
}

// As the node `host`, booted otherwise, would have written it.
std::string as_of_host(const std::string& path, const std::string& host) {
  std::string text = read_small(path);
  const auto put = [&text](const std::string& name, const std::string& value) {
    const std::size_t begin = text.find("\"" + name + "\": \"") + name.size() + 5, end = text.find('"', begin);
    text.replace(begin, end - begin, value);
  };
  put("host", host);
  put("boot_id", "beefbeef-1");
  const std::string name = fs::path(path).filename().string();
  std::string there =
      fs::path(path).parent_path().string() + "/" + name.substr(0, name.find('@')) + "@" + host + ".beefbeef.job";
  std::ofstream(there) << text;
  ::unlink(path.c_str());
  return there;
}

void age(const std::string& path, double seconds) {
  const auto then = std::chrono::system_clock::now() - std::chrono::duration<double>(seconds);
  const double at = std::chrono::duration<double>(then.time_since_epoch()).count();
  const timespec times[2] = {{static_cast<time_t>(at), 0}, {static_cast<time_t>(at), 0}};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

template <class Condition>
bool within_10_s(Condition condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

TEST_CASE("a shared job is seen from another node, with all that leads to it") {
  const PrivateDirectory session;
  REQUIRE(share(job_named("sim-1")));
  const std::string there = as_of_host(file_there(), "node7");
  const auto jobs = all_jobs().jobs;
  REQUIRE(jobs.size() == 1);
  const Job& job = jobs.front();
  CHECK_FALSE(job.here);
  CHECK(job.name == "sim-1");
  CHECK(job.tcp == std::vector<std::string>{"tcp://node7:4000", "tcp://10.0.0.7:4000"});
  CHECK(job.program == "/opt/pclscope/bin/pclscope");
  CHECK(job.batch_job == "4711");
  CHECK(job.cluster == "alpha");
  CHECK(job.file == there);
  CHECK(job.silent_s < 5);
}

TEST_CASE("a job that is here and shared is listed once, and one whose process is gone not at all") {
  const PrivateDirectory session;
  const Job job = job_named("sim-1");
  REQUIRE(share(job));
  CHECK(all_jobs().jobs.size() == 1);
  CHECK(all_jobs().jobs.front().here);
  REQUIRE(announce(job));
  CHECK(all_jobs().jobs.size() == 1);
  withdraw(job.name);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info;
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  Job dead = job_named("sim-2");
  dead.aggregator_pid = static_cast<std::uint32_t>(child);
  REQUIRE(share(dead));
  CHECK(all_jobs().jobs.size() == 1);
  CHECK(file_there().find("sim-1@") != std::string::npos);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("silence is told, and what is silent for long is swept; whoever lives comes back") {
  const PrivateDirectory session;
  REQUIRE(share(job_named("sim-1")));
  const std::string there = as_of_host(file_there(), "node7");
  age(there, 300);
  REQUIRE(all_jobs().jobs.size() == 1);
  CHECK(all_jobs().jobs.front().silent_s > 290);
  CHECK(silence_of(there) > 290);
  age(there, forget_s + 100);
  CHECK(all_jobs().jobs.empty());
  CHECK_FALSE(fs::exists(there));
  CHECK(silence_of(there) < 0);

  REQUIRE(share(job_named("sim-2")));
  CHECK(beat("sim-2"));
  ::unlink(file_there().c_str());
  CHECK_FALSE(beat("sim-2"));
}

TEST_CASE("thousands of old announcements are swept, and cost little") {
  const PrivateDirectory session;
  REQUIRE(share(job_named("sim-1")));
  const std::string there = as_of_host(file_there(), "node7"), text = read_small(there);
  for (int i = 0; i < 3000; ++i) {
    const std::string old = jobs_folder() + "/old-" + std::to_string(i) + "@node7.beefbeef.job";
    std::ofstream(old) << text;
    age(old, 100'000);
  }
  CHECK(all_jobs().jobs.size() == 1);
  CHECK(file_there() == there);
}

TEST_CASE("copies, foreign files and noise are no jobs") {
  const PrivateDirectory session;
  REQUIRE(share(job_named("sim-1")));
  const std::string there = as_of_host(file_there(), "node7");
  fs::copy_file(there, jobs_folder() + "/copy@node7.beefbeef.job");
  fs::copy_file(there, jobs_folder() + "/sim-1@node8.beefbeef.job");
  fs::copy_file(there, jobs_folder() + "/sim-1@node7.deadbeef.job");
  fs::create_symlink(there, jobs_folder() + "/link@node7.beefbeef.job");
  std::ofstream(jobs_folder() + "/noise@node7.beefbeef.job") << "{ not json";
  std::ofstream(jobs_folder() + "/-rf@node7.beefbeef.job") << R"({"name": "-rf", "endpoint": "x", "host": "node7"})";
  fs::create_directory(jobs_folder() + "/folder@node7.beefbeef.job");
  if (::geteuid() == 0) {
    const std::string foreign = jobs_folder() + "/foreign";
    fs::copy_file(there, foreign);
    REQUIRE(::chown(foreign.c_str(), 12345, 12345) == 0);
    fs::rename(foreign, there);  // as another user with the same home server could, if the folder let them
    CHECK(all_jobs().jobs.empty());
  } else {
    CHECK(all_jobs().jobs.size() == 1);
  }
}

TEST_CASE("two nodes of one name, of two clusters, are two") {
  const PrivateDirectory session;
  REQUIRE(share(job_named("sim-1")));
  const std::string here = file_there();
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string text = read_small(here);
  as_of_host(here, host);
  std::ofstream(here) << text;
  const auto jobs = all_jobs().jobs;
  REQUIRE(jobs.size() == 2);
  CHECK(jobs[0].here != jobs[1].here);
}

TEST_CASE("an announcer gives signs of life by itself, and takes the job back") {
  const PrivateDirectory session;
  {
    Announcer announcer;
    REQUIRE(announcer.announce(job_named("sim-1")));
    CHECK(jobs_here()->size() == 1);
    CHECK(within_10_s([] { return fs::exists(jobs_folder()) && !fs::is_empty(jobs_folder()); }));
    CHECK(announcer.problem().empty());
  }
  CHECK(jobs_here()->empty());
  CHECK(within_10_s([] { return fs::is_empty(jobs_folder()); }));
}

TEST_CASE("a shared directory that cannot be used is said once, and the job is announced here all the same") {
  const PrivateDirectory session;
  const std::string shared = session.path() + "/open";
  fs::create_directory(shared);
  ::chmod(shared.c_str(), 0755);
  ::setenv("PCLSCOPE_SHARED", shared.c_str(), 1);
  Announcer announcer;
  REQUIRE(announcer.announce(job_named("sim-1")));
  std::string problem;
  CHECK(within_10_s([&] { return !(problem = announcer.problem()).empty(); }));
  CHECK(problem.find("others can enter " + shared) != std::string::npos);
  CHECK(announcer.problem().empty());
  CHECK(all_jobs().jobs.size() == 1);
  CHECK(all_jobs().problem_elsewhere == problem);
  ::setenv("PCLSCOPE_SHARED", "none", 1);  // that is no problem
  CHECK(all_jobs().jobs.size() == 1);
  CHECK(all_jobs().problem_elsewhere.empty());
}

TEST_CASE(
    "the shared directory: the one that is named, else .pclscope at home; refused where others could replace it") {
  const PrivateDirectory session;
  ::setenv("PCLSCOPE_SHARED", (session.path() + "/named/").c_str(), 1);
  CHECK(*shared_directory() == session.path() + "/named");
  for (const char* bad : {"relative", "/", "/nowhere/at/all"}) {
    ::setenv("PCLSCOPE_SHARED", bad, 1);
    CHECK_FALSE(shared_directory());
  }
  ::unsetenv("PCLSCOPE_SHARED");
  const std::string home = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "";
  ::setenv("HOME", session.path().c_str(), 1);
  CHECK(*shared_directory() == session.path() + "/.pclscope");
  ::chmod(session.path().c_str(), 0777);
  CHECK(shared_directory().error().code == ErrorCode::not_permitted);
  ::chmod(session.path().c_str(), 0700);
  fs::remove(session.path() + "/.pclscope");
  fs::create_directory_symlink("/tmp", session.path() + "/.pclscope");
  CHECK(shared_directory().error().code == ErrorCode::not_permitted);
  ::setenv("HOME", home.c_str(), 1);
}

TEST_CASE("what rank 0 of a dormant job left is read whatever its age, and kept for its month; nothing else is") {
  const PrivateDirectory session;
  REQUIRE(announced_dormant().empty());  // and makes the folder
  const std::string text =
      R"({"name": "app-12", "host": "node7", "boot_id": "beefbeef-1", "ranks": 8, "nodes": 2, "command": "/x/app", )"
      R"("mpi": "Open MPI v4", "batch_job": "4711", "cluster": "alpha", "started_realtime_ns": 5})";
  const auto put = [](const std::string& name, const std::string& content, double age_s) {
    const std::string path = jobs_folder() + "/" + name;
    std::ofstream(path) << content;
    timespec times[2] = {};
    ::clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= static_cast<time_t>(age_s);
    times[1] = times[0];
    REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
    return path;
  };
  const std::string mine = put("app-12@node7.beefbeef.dormant", text, 20 * 86400.0);
  const std::string old = put("app-13@node7.beefbeef.dormant", text, 40 * 86400.0);
  put("app-12@node8.beefbeef.dormant", text, 0);  // a copy
  put("noise@node7.beefbeef.dormant", "{\"name\": 1}", 0);
  put("app-12@node7.beefbeef.job", text, 0);
  CHECK(all_jobs().jobs.empty());  // sweeps
  CHECK_FALSE(fs::exists(old));
  const auto jobs = announced_dormant();
  REQUIRE(jobs.size() == 1);
  CHECK(jobs[0].name == "app-12");
  CHECK(jobs[0].node == "node7");
  CHECK(jobs[0].ranks == 8);
  CHECK(jobs[0].nodes == 2);
  CHECK(jobs[0].batch_job == "4711");
  CHECK_FALSE(jobs[0].here);
  forget(jobs[0]);
  CHECK_FALSE(fs::exists(mine));
}
