#include "analysis/collect/board_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "analysis/collect/shown_path.hpp"
#include "interpose/record/segment.hpp"

namespace pclscope::collect {

std::vector<std::string> files_with_prefix(const std::string& directory, const std::string& prefix) {
  std::vector<std::string> names;
  DIR* listing = ::opendir(directory.c_str());
  if (listing == nullptr) return names;
  while (const dirent* entry = ::readdir(listing)) {
    const std::string name = entry->d_name;
    if (name.starts_with(prefix)) names.push_back(name);
  }
  ::closedir(listing);
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

long futex(std::atomic<std::uint32_t>* word, int operation, std::uint32_t value, const timespec* timeout) {
  return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(word), operation, value, timeout, nullptr, 0);
}

Error failure(const std::string& path, int error) {
  if (error == EPERM) return {ErrorCode::not_ours, shown_path(path) + " belongs to another user"};
  const ErrorCode code = error == EACCES   ? ErrorCode::not_permitted
                         : error == ENOENT ? ErrorCode::not_found
                         : error == ENOSPC ? ErrorCode::no_space
                                           : ErrorCode::io;
  return {code, shown_path(path) + ": " + std::strerror(error)};
}

}  // namespace

// 'Z' and 'X' are processes that ended and wait for their parent.
bool is_running(std::uint32_t pid) {
  if (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return false;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%u/stat", pid);
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno != ENOENT;
  char text[512];
  const ssize_t length = ::read(file, text, sizeof text - 1);
  ::close(file);
  if (length <= 0) return false;
  text[length] = 0;
  const char* end_of_name = std::strrchr(text, ')');
  return end_of_name == nullptr || (end_of_name[1] == ' ' && end_of_name[2] != 'Z' && end_of_name[2] != 'X');
}

void note_process(record::Board& board, std::uint32_t pid) {
  const std::uint32_t index = board.found.fetch_add(1);
  if (index < record::board_pids) board.found_pid[index].store(pid);
}

std::vector<std::uint32_t> processes_found(const record::Board& board) {
  std::vector<std::uint32_t> pids;
  const std::uint32_t count = std::min(board.found.load(), record::board_pids);
  for (std::uint32_t i = 0; i < count; ++i)
    if (const std::uint32_t pid = board.found_pid[i].load(); pid != 0) pids.push_back(pid);
  return pids;
}

std::string shm_names(const std::string& token, std::uint32_t node) {
  char key[9];
  record::write_node_key(node, key);
  return record::shm_prefix + token + "-" + key + "-";
}

std::size_t remove_files_of(const std::string& token, const std::string& directory, std::uint32_t node) {
  std::size_t count = 0;
  if (token.empty()) return count;
  for (const std::string& name : files_with_prefix(directory, shm_names(token, node)))
    if (::unlink((directory + "/" + name).c_str()) == 0) ++count;
  return count;
}

Result<std::unique_ptr<BoardFile>> BoardFile::open(const std::string& token, const std::string& directory,
                                                   std::uint32_t node) {
  const std::string path = directory + "/" + shm_names(token, node) + "board";
  record::Board* board = record::map_board(path.c_str());
  if (board == nullptr) return failure(path, errno);
  record::note_surroundings(*board);
  return std::unique_ptr<BoardFile>(new BoardFile(board));
}

Result<std::unique_ptr<BoardFile>> BoardFile::open_existing(const std::string& token, const std::string& directory,
                                                            std::uint32_t node) {
  const std::string path = directory + "/" + shm_names(token, node) + "board";
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return failure(path, errno);
  struct stat status {};
  const bool ours = ::fstat(file, &status) == 0 && status.st_uid == ::geteuid();
  if (!ours || static_cast<std::uint64_t>(status.st_size) < sizeof(record::Board)) {
    ::close(file);
    if (!ours) return failure(path, EPERM);
    return Error{ErrorCode::damaged, shown_path(path) + " is not complete"};
  }
  void* memory = ::mmap(nullptr, sizeof(record::Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int error = errno;
  ::close(file);
  if (memory == MAP_FAILED) return failure(path, error);
  return std::unique_ptr<BoardFile>(new BoardFile(static_cast<record::Board*>(memory)));
}

BoardFile::~BoardFile() { ::munmap(board_, sizeof(record::Board)); }

void BoardFile::wait(std::uint32_t seen, std::chrono::milliseconds timeout) {
  const timespec limit{static_cast<time_t>(timeout.count() / 1000),
                       static_cast<long>(timeout.count() % 1000) * 1'000'000};
  futex(&board_->change, FUTEX_WAIT, seen, &limit);
}

void BoardFile::notify() {
  board_->change.fetch_add(1, std::memory_order_release);
  futex(&board_->change, FUTEX_WAKE, INT_MAX, nullptr);
}

std::uint32_t BoardFile::alive() const {
  const std::uint32_t started = std::min(board_->started.load(std::memory_order_acquire), record::board_pids);
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < started; ++i) {
    const std::uint32_t pid = board_->pid[i].load(std::memory_order_relaxed);
    if (pid == 0 || is_running(pid)) ++count;  // 0: about to be written
  }
  return count;
}

}  // namespace pclscope::collect
