// Files of jobs that nobody tidied up: removed when all of the job's processes are dead, and only then.
#include "analysis/collect/leftovers.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analysis/collect/board_file.hpp"

using namespace pclscope;
using collect::BoardFile;

namespace {

namespace fs = std::filesystem;
const std::string of_this = "0123456789abcdef0123456789abcdef", of_other = "fedcba9876543210fedcba9876543210";

// On the file system of the real ones: what is written to a mapped file does not change its times there.
struct SharedMemory {
  SharedMemory() {
    char name[] = "/dev/shm/pclscope-test-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~SharedMemory() { fs::remove_all(path); }
  std::size_t files() const { return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), {})); }
  std::string path;
};

struct Child {
  explicit Child(bool becomes_another_program) {
    pid = ::fork();
    if (pid == 0 && becomes_another_program) ::execlp("sleep", "sleep", "1000", nullptr);
    while (pid == 0) ::pause();
    const std::string exe = "/proc/" + std::to_string(pid) + "/exe";
    const fs::path own = fs::read_symlink("/proc/self/exe");
    while (becomes_another_program && fs::read_symlink(exe) == own) ::usleep(1000);
  }
  ~Child() { end(); }
  void end() {
    if (pid <= 0) return;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    pid = 0;
  }
  operator std::uint32_t() const { return static_cast<std::uint32_t>(pid); }
  pid_t pid = 0;
};

std::uint32_t dead_process() {
  Child child(false);
  const std::uint32_t pid = child;
  child.end();
  return pid;
}

// A job with one program, and a ring of it.
std::unique_ptr<BoardFile> job(const SharedMemory& memory, const std::string& token, std::uint32_t pid) {
  auto board = BoardFile::open(token, memory.path);
  REQUIRE(board);
  record::Board& b = (*board)->board();
  record::note_surroundings(b);
  b.creator = dead_process();
  b.pid[0] = pid;
  b.started = 1;
  std::ofstream(memory.path + "/" + collect::shm_names(token) + "0") << "a ring";
  return std::move(*board);
}

}  // namespace

TEST_CASE("files of a job whose processes are all dead are removed, others stay") {
  const SharedMemory memory;
  const auto dead = job(memory, of_this, dead_process());
  Child lives(false);
  const auto alive = job(memory, of_other, lives);
  std::ofstream(memory.path + "/somebody-elses") << "not ours";
  std::ofstream(memory.path + "/pclscope-strange") << "not a name of ours";
  CHECK(collect::sweep_leftovers(memory.path) == 2);
  CHECK(memory.files() == 4);
  CHECK(collect::sweep_leftovers(memory.path) == 0);
  lives.end();
  CHECK(collect::sweep_leftovers(memory.path) == 2);
  CHECK(memory.files() == 2);
}

TEST_CASE("who made the board, and its aggregator, count as well") {
  const SharedMemory memory;
  const auto board = job(memory, of_this, dead_process());
  Child lives(false);
  board->board().creator = lives;
  CHECK(collect::sweep_leftovers(memory.path) == 0);
  board->board().creator = 0;
  board->board().aggregator = lives;
  CHECK(collect::sweep_leftovers(memory.path) == 0);
  board->board().aggregator = 0;
  CHECK(collect::sweep_leftovers(memory.path) == 2);
}

TEST_CASE("a job of other process numbers is left alone, and one with more processes than a board has places") {
  const SharedMemory memory;
  const auto board = job(memory, of_this, dead_process());
  board->board().process_ids = record::own_process_ids() + 1;
  CHECK(collect::sweep_leftovers(memory.path) == 0);
  board->board().process_ids = record::own_process_ids();
  board->board().started = record::board_pids + 1;
  CHECK(collect::sweep_leftovers(memory.path) == 0);
}

TEST_CASE("a young process with a dead one's number keeps no files, unless it has the board mapped") {
  const SharedMemory memory;
  const auto board = job(memory, of_this, 0);
  ::usleep(2'200'000);  // what comes now was started after the board was last opened
  Child same_program(false), other_program(true);
  board->board().pid[0] = same_program;
  CHECK(collect::sweep_leftovers(memory.path) == 0);
  board->board().pid[0] = other_program;
  CHECK(collect::sweep_leftovers(memory.path) == 2);
}
