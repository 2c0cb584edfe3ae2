// Boards of jobs that were only preloaded: found, described, tidied; sessions begun and ended.
#include "analysis/collect/dormant.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace pclscope;
using collect::BoardFile;

namespace {

const std::string token = "0123456789abcdef0123456789abcdef";

struct Directory {
  Directory() {
    char name[] = "/tmp/pclscope-test-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Directory() { std::filesystem::remove_all(path); }
  std::string path;
};

// As the library does in MPI_Init.
std::unique_ptr<BoardFile> board_of(const Directory& directory, const std::string& job, const std::string& secret,
                                    std::uint32_t pid) {
  auto board = BoardFile::open(secret, directory.path);
  REQUIRE(board);
  record::Board& b = (*board)->board();
  b.pid[0] = pid;
  b.started = 1;
  b.version = record::board_version;
  b.ranks = 8;
  b.node_ranks = 1;
  b.nodes = 2;
  b.started_ns = 1'700'000'000'000'000'000;
  std::snprintf(b.job, sizeof b.job, "%s", job.c_str());
  std::snprintf(b.mpi, sizeof b.mpi, "MPICH 4.0.2");
  b.described = 2;
  return std::move(*board);
}

std::uint32_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return static_cast<std::uint32_t>(child);
}

}  // namespace

TEST_CASE("a preloaded job is found by its board, with its nodes") {
  const Directory directory;
  const auto board = board_of(directory, "halo-17", token, static_cast<std::uint32_t>(::getpid()));
  std::ofstream(directory.path + "/" + collect::shm_names(token) + "nodes") << "node1\nnode2\n";
  const auto jobs = collect::dormant_jobs(directory.path);
  REQUIRE(jobs.size() == 1);
  CHECK(jobs[0].name == "halo-17");
  CHECK(jobs[0].token == token);
  CHECK(jobs[0].ranks == 8);
  CHECK(jobs[0].node_count == 2);
  CHECK(jobs[0].nodes == std::vector<std::string>{"node1", "node2"});
  CHECK(jobs[0].living == 1);
  CHECK(jobs[0].aggregator == 0);
  CHECK(collect::find_dormant("halo-17", directory.path));
  const auto missing = collect::find_dormant("halo-1", directory.path);
  REQUIRE(!missing);
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK(missing.error().message.find(token) == std::string::npos);
}

TEST_CASE("boards of others are left alone: started by run, of another node, not finished, cut off") {
  const Directory directory;
  const std::string other = "ffffffffffffffffffffffffffffffff";
  { const auto run = BoardFile::open(token, directory.path); }
  { const auto away = BoardFile::open(other, directory.path, record::node_key("elsewhere")); }
  std::ofstream(directory.path + "/" + collect::shm_names(other) + "board") << "short";
  CHECK(collect::dormant_jobs(directory.path).empty());
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory.path)) ++files;
  CHECK(files == 3);
}

TEST_CASE("what a job left whose processes are dead is removed, other jobs' files are not") {
  const Directory directory;
  const std::string other = "ffffffffffffffffffffffffffffffff";
  board_of(directory, "gone-1", token, dead_process());
  std::ofstream(directory.path + "/" + collect::shm_names(token) + "nodes") << "node1\n";
  std::ofstream(directory.path + "/" + collect::shm_names(token) + "0-0") << "a segment";
  const auto alive = board_of(directory, "here-2", other, static_cast<std::uint32_t>(::getpid()));
  const auto jobs = collect::dormant_jobs(directory.path);
  REQUIRE(jobs.size() == 1);
  CHECK(jobs[0].name == "here-2");
  CHECK(collect::files_with_prefix(directory.path, collect::shm_names(token)).empty());
  CHECK(collect::files_with_prefix(directory.path, collect::shm_names(other)).size() == 1);
}

TEST_CASE("a session is one aggregator's, until it ends it or dies") {
  const Directory directory;
  const auto board = board_of(directory, "halo-17", token, static_cast<std::uint32_t>(::getpid()));
  const auto mine = static_cast<std::uint32_t>(::getpid());
  const auto first = collect::begin_session(*board, mine);
  REQUIRE(first);
  CHECK(*first == 1);
  CHECK(collect::progress(*board).aggregator == mine);
  const auto second = collect::begin_session(*board, 1);
  REQUIRE(!second);
  CHECK(second.error().code == ErrorCode::in_use);
  CHECK(second.error().message.find(token) == std::string::npos);
  collect::end_session(*board, *first);
  CHECK(board->board().session == 2);
  collect::end_session(*board, *first);  // long over
  CHECK(board->board().session == 2);

  board->board().aggregator = dead_process();
  board->board().session = 3;  // it left it so
  CHECK(collect::progress(*board).aggregator == 0);
  const auto next = collect::begin_session(*board, mine);
  REQUIRE(next);
  CHECK(*next == 5);  // another number: processes that are still in 3 must notice
}

TEST_CASE("who watched a dead aggregator ends its session, and no other's") {
  const Directory directory;
  const auto board = board_of(directory, "halo-18", token, static_cast<std::uint32_t>(::getpid()));
  const std::uint32_t dead = dead_process();
  board->board().aggregator = dead;
  board->board().session = 3;  // it left it so
  collect::end_session_of_dead(*board, dead + 1);
  CHECK(board->board().session == 3);
  collect::end_session_of_dead(*board, dead);
  CHECK(board->board().session == 4);
  collect::end_session_of_dead(*board, dead);
  CHECK(board->board().session == 4);
  const auto next = collect::begin_session(*board, static_cast<std::uint32_t>(::getpid()));
  REQUIRE(next);
  collect::end_session_of_dead(*board, dead);  // late: somebody else is there
  CHECK(board->board().session == *next);
}
