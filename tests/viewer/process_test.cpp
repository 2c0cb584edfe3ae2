#include "viewer/launch/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>
#include <tuple>

#include "analysis/collect/board_file.hpp"
#include "interpose/record/segment.hpp"
#include "tests/patience.hpp"
#include "viewer/launch/batch.hpp"
#include "viewer/launch/child.hpp"
#include "viewer/launch/job_files.hpp"
#include "viewer/session/preloaded.hpp"
#include "viewer/session/target.hpp"

using namespace pclscope;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

int run(const std::vector<std::string>& arguments) {
  auto child = launch::Child::start(arguments.front(), arguments, {{"PCLSCOPE_TEST_VALUE", "seven"}});
  REQUIRE(child);
  return child->wait(20ms, [] {});
}

// A file that is not there yet, by which a child says, or is told, that it is time.
class Sign {
 public:
  Sign() : path_((fs::temp_directory_path() / ("pclscope-sign-" + *launch::make_token())).string()) {}
  Sign(const Sign&) = delete;
  ~Sign() { fs::remove(path_); }
  const std::string& path() const { return path_; }
  void give() const { std::ofstream{path_}; }
  void wait() const {
    while (!fs::exists(path_)) std::this_thread::sleep_for(5ms);
  }

 private:
  std::string path_;
};

// Dead, and not yet waited for.
void wait_until_zombie(pid_t pid) {
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) == 0);
}

std::string shm(const std::string& name) { return "/dev/shm/" + name; }
std::string board_of(const std::string& token) { return collect::shm_names(token) + "board"; }

// The board of a job as another process sees it.
record::Board* map_board(const std::string& token) {
  const int fd = ::open(shm(board_of(token)).c_str(), O_RDWR);
  REQUIRE(fd >= 0);
  void* memory = ::mmap(nullptr, sizeof(record::Board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  REQUIRE(memory != MAP_FAILED);
  return static_cast<record::Board*>(memory);
}

}  // namespace

TEST_CASE("a child's status is its own, or 128 and the signal") {
  CHECK(run({"/bin/sh", "-c", "exit 0"}) == 0);
  CHECK(run({"/bin/sh", "-c", "exit 42"}) == 42);
  CHECK(run({"/bin/sh", "-c", "kill -KILL $$"}) == 128 + SIGKILL);
  CHECK(run({"/bin/sh", "-c", "kill -SEGV $$"}) == 128 + SIGSEGV);
  CHECK(run({"/bin/sh", "-c", "test \"$PCLSCOPE_TEST_VALUE\" = seven"}) == 0);
}

TEST_CASE("what cannot be started is an error, not a status") {
  CHECK_FALSE(launch::Child::start("/nowhere/mpirun", {"mpirun"}, {}));
}

TEST_CASE("signals go on to the child once") {
  const Sign ready;
  auto child = launch::Child::start("/bin/sh",
                                    {"sh", "-c",
                                     "n=0; trap 'n=$((n+1))' TERM; : > " + ready.path() +
                                         "; while [ $n = 0 ]; do sleep 0.05; done; sleep 0.3; exit $n"},
                                    {});
  REQUIRE(child);
  std::thread sender([&] {
    ready.wait();
    ::kill(::getpid(), SIGTERM);
  });
  CHECK(child->wait(20ms, [] {}) == 1);
  sender.join();
}

TEST_CASE("while waiting, idle work is done") {
  const Sign enough;
  auto child =
      launch::Child::start("/bin/sh", {"sh", "-c", "while [ ! -e " + enough.path() + " ]; do sleep 0.05; done"}, {});
  REQUIRE(child);
  int calls = 0;
  CHECK(child->wait(20ms, [&] {
    if (++calls == 3) enough.give();
  }) == 0);
}

TEST_CASE("the child starts with the signals unblocked") {
  auto child =
      launch::Child::start("/bin/sh", {"sh", "-c", "grep -q '^SigBlk:.*0000000000000000' /proc/self/status"}, {});
  REQUIRE(child);
  CHECK(child->wait(20ms, [] {}) == 0);
}

TEST_CASE("tokens are 32 hexadecimal digits and differ") {
  const auto one = launch::make_token();
  const auto two = launch::make_token();
  REQUIRE((one && two));
  CHECK(one->size() == 32);
  CHECK(one->find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(*one != *two);
}

TEST_CASE("a job's files exist privately and vanish with it") {
  const std::string token = *launch::make_token();
  {
    auto files = launch::JobFiles::create(token);
    REQUIRE(files);
    CHECK(fs::file_size(shm(board_of(token))) == sizeof(record::Board));
    CHECK((fs::status(shm(board_of(token))).permissions() & fs::perms::all) ==
          (fs::perms::owner_read | fs::perms::owner_write));
    CHECK_FALSE(launch::JobFiles::create(token));
    std::ofstream(shm(collect::shm_names(token) + "0-0")) << "a segment that nobody took";
    std::ofstream(shm(collect::shm_names(token.substr(0, 31) + "x") + "0-0")) << "of another job";
  }
  CHECK_FALSE(fs::exists(shm(board_of(token))));
  CHECK_FALSE(fs::exists(shm(collect::shm_names(token) + "0-0")));
  CHECK(fs::remove(shm(collect::shm_names(token.substr(0, 31) + "x") + "0-0")));
}

TEST_CASE("the end of the aggregator is read from the board") {
  const std::string token = *launch::make_token();
  auto files = launch::JobFiles::create(token);
  REQUIRE(files);
  record::Board* board = map_board(token);
  CHECK(files->wait_for_aggregator(0ms) == launch::AggregatorEnd::never_ran);

  board->aggregator = static_cast<std::uint32_t>(::getpid());
  CHECK(files->wait_for_aggregator(30ms) == launch::AggregatorEnd::still_running);
  std::thread closing([&] {
    std::this_thread::sleep_for(50ms);
    board->aggregator_done = 1;
  });
  CHECK(files->wait_for_aggregator(test::patience) == launch::AggregatorEnd::closed);
  closing.join();
  board->aggregator = 0;
  CHECK(files->wait_for_aggregator(0ms) == launch::AggregatorEnd::closed);
  CHECK_FALSE(files->nothing_to_record());
  board->aggregator_done = 3;
  CHECK(files->wait_for_aggregator(0ms) == launch::AggregatorEnd::closed);
  CHECK(files->nothing_to_record());
  board->aggregator_done = 2;
  CHECK(files->wait_for_aggregator(0ms) == launch::AggregatorEnd::died);

  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  board->aggregator_done = 0;
  board->aggregator = static_cast<std::uint32_t>(dead);
  wait_until_zombie(dead);
  CHECK_FALSE(launch::process_alive(static_cast<std::uint32_t>(dead)));  // a zombie
  CHECK(files->wait_for_aggregator(test::patience) == launch::AggregatorEnd::died);
  ::waitpid(dead, nullptr, 0);
  CHECK(files->wait_for_aggregator(test::patience) == launch::AggregatorEnd::died);
  ::munmap(board, sizeof(record::Board));
}

TEST_CASE("only an aggregator is ended, not whoever has its old pid") {
  const std::string token = *launch::make_token();
  auto files = launch::JobFiles::create(token);
  REQUIRE(files);
  record::Board* board = map_board(token);
  const pid_t other = ::fork();
  if (other == 0) {
    ::execl("/bin/sleep", "sleep", "30", nullptr);
    ::_exit(127);
  }
  board->aggregator = static_cast<std::uint32_t>(other);
  std::this_thread::sleep_for(50ms);
  files->end_aggregator();
  CHECK(launch::process_alive(static_cast<std::uint32_t>(other)));
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  ::munmap(board, sizeof(record::Board));
}

TEST_CASE("what to watch is chosen by name, endpoint, file, or because it is the only one") {
  const std::vector<discovery::Job> none;
  std::vector<discovery::Job> jobs(2);
  jobs[0].name = "old-1";
  jobs[0].endpoint = "ipc:///run/old-1";
  jobs[0].started_realtime_ns = 5;
  jobs[1].name = "new-2";
  jobs[1].endpoint = "tcp://127.0.0.1:5000";
  jobs[1].started_realtime_ns = 9;
  jobs[1].aggregator_pid = 77;

  const auto nothing = session::choose_target("", none);
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().message.starts_with("no running job of yours"));
  CHECK(session::choose_target("", {jobs[0]})->live.name == "old-1");
  CHECK(session::choose_target("", {jobs[0]})->note.empty());
  CHECK(session::choose_target("", jobs)->live.name == "new-2");
  CHECK_FALSE(session::choose_target("", jobs)->note.empty());
  CHECK(session::choose_target("tcp://127.0.0.1:5000", jobs)->live.job->aggregator_pid == 77);
  CHECK(session::choose_target("tcp://far:1", jobs)->live.endpoint == "tcp://far:1");
  CHECK_FALSE(session::choose_target("tcp://far:1", jobs)->live.job);
  CHECK(session::choose_target("/proc/self/exe", jobs)->file == "/proc/self/exe");
  CHECK_FALSE(session::choose_target("nothing-here", jobs));
}

TEST_CASE("a lost job is looked for as itself, then as what goes on in its place") {
  std::vector<discovery::Job> jobs(3);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].name = "sim-" + std::to_string(i);
    jobs[i].node = "n" + std::to_string(i);
    jobs[i].here = false;
    jobs[i].started_realtime_ns = static_cast<std::int64_t>(i);
    jobs[i].batch_job = i < 2 ? "4711" : "12";
  }
  auto target = session::choose_target("sim-0", jobs);
  REQUIRE(target);
  target->live.interval = std::chrono::milliseconds(77);
  CHECK(session::choose_again(*target, jobs)->live.name == "sim-0");  // beside another of the same allocation
  jobs[0].silent_s = 1000;
  CHECK(session::choose_again(*target, jobs)->live.name == "sim-1");
  CHECK(session::choose_again(*target, jobs)->live.interval == target->live.interval);
  jobs[1].cluster = "another";
  CHECK(session::choose_again(*target, jobs).error().code == ErrorCode::not_found);
  jobs[2].name = "sim-0";
  CHECK(session::choose_again(*target, jobs)->live.job->node == "n2");
  const auto last = session::choose_target("sim-0@n2", jobs);
  CHECK(session::choose_again(*last, {jobs[0]}).error().code == ErrorCode::not_found);  // an earlier one is none
}

TEST_CASE("jobs elsewhere are chosen by Slurm's id and node; silent ones only when named and nobody else is meant") {
  std::vector<discovery::Job> jobs(3);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].name = "sim-" + std::to_string(i);
    jobs[i].endpoint = "ipc:///run/sim";
    jobs[i].node = "n" + std::to_string(i);
    jobs[i].here = false;
    jobs[i].started_realtime_ns = static_cast<std::int64_t>(i);
  }
  jobs[0].batch_job = jobs[1].batch_job = "4711";  // requeued: the first run was killed
  jobs[2].silent_s = 1000;
  CHECK(session::choose_target("", jobs)->live.name == "sim-1");
  CHECK(session::choose_target("4711", jobs)->live.name == "sim-1");
  CHECK(session::choose_target("sim-0@n0", jobs)->live.name == "sim-0");
  const auto silent = session::choose_target("sim-2", jobs);
  REQUIRE(silent);
  CHECK(silent->live.name == "sim-2");
  CHECK(silent->note.find("1000 s") != std::string::npos);
  jobs[1].silent_s = 1000;  // the newer of two with one id is silent
  CHECK(session::choose_target("4711", jobs)->live.name == "sim-0");
  jobs[0].silent_s = 2000;
  CHECK_FALSE(session::choose_target("", jobs));
  CHECK(session::choose_target("4711", jobs)->live.name == "sim-1");
}

TEST_CASE("whoever looks for a job that is only preloaded is told how to record it") {
  using session::about_preloaded;
  std::vector<session::Preloaded> jobs = {{"app-1", "node1", "4711", 5, false, false},
                                          {"app-2", "node2", "4712", 9, false, false}};
  CHECK(about_preloaded("app-3", jobs).empty());
  CHECK(about_preloaded("", {}).empty());
  for (const char* word : {"app-1", "app-1@node1", "4711"}) {
    CHECK(about_preloaded(word, jobs) ==
          "app-1 on node1 is dormant, if it is still there: pclscope attach app-1 begins to record it");
  }
  CHECK(about_preloaded("", jobs).starts_with("app-2 on node2 is dormant"));  // the newest
  CHECK(about_preloaded("", jobs).ends_with("(pclscope list shows 1 more)"));
  jobs.push_back({"app-3", "here", "", 1, true, false});
  CHECK(about_preloaded("", jobs).starts_with("app-3 is dormant: pclscope attach app-3 begins to record it"));
  jobs.back().attached = true;
  CHECK(about_preloaded("app-3", jobs).starts_with("app-3 is attached, but publishes nothing"));
}

TEST_CASE("a job that runs already is of the allocation that it named, else of ours") {
  const char* names[] = {"SLURM_JOB_ID", "SLURM_CLUSTER_NAME", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID",
                         "OAR_JOB_ID",   "PJM_JOBID",          "JOB_ID",    "SGE_ROOT"};
  for (const char* name : names) ::unsetenv(name);
  const auto of_job = [](const char* id, const char* cluster) {
    const launch::Allocation found = launch::allocation_of_job(id, cluster);
    return std::tuple(found.inside, found.slurm_job, found.cluster);
  };
  using Found = std::tuple<bool, std::string, std::string>;
  CHECK(of_job("5001", "alpha") == Found(true, "5001", "alpha"));  // a login by ssh
  CHECK(of_job("", "alpha") == Found(false, "", ""));
  CHECK(of_job("5001; rm", "") == Found(false, "", ""));
  ::setenv("SLURM_JOB_ID", "9", 1);
  ::setenv("SLURM_CLUSTER_NAME", "beta", 1);
  CHECK(of_job("5001", "alpha") == Found(true, "5001", "alpha"));
  CHECK(of_job("5001", "") == Found(true, "5001", ""));
  CHECK(of_job("9", "") == Found(true, "9", "beta"));
  CHECK(of_job("", "") == Found(true, "9", "beta"));
  ::unsetenv("SLURM_JOB_ID");
  ::unsetenv("SLURM_CLUSTER_NAME");
}
