#include "analysis/collect/board_file.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "interpose/record/segment.hpp"

namespace pclscope::collect {
namespace {

long futex(std::atomic<std::uint32_t>* word, int operation, std::uint32_t value, const timespec* timeout) {
  return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(word), operation, value, timeout, nullptr, 0);
}

// 'Z' and 'X' are processes that ended and wait for their parent.
bool running(std::uint32_t pid) {
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

}  // namespace

Result<std::unique_ptr<BoardFile>> BoardFile::open(const std::string& token, const std::string& directory) {
  const std::string path = directory + "/" + record::shm_prefix + token + "-board";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0)
    return Error{errno == EACCES ? ErrorCode::not_permitted : ErrorCode::io, path + ": " + std::strerror(errno)};
  if (const int failure = ::posix_fallocate(file, 0, sizeof(record::Board)); failure != 0) {
    ::close(file);
    return Error{failure == ENOSPC ? ErrorCode::no_space : ErrorCode::io, path + ": " + std::strerror(failure)};
  }
  void* memory = ::mmap(nullptr, sizeof(record::Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) return Error{ErrorCode::io, path + ": " + std::strerror(errno)};
  return std::unique_ptr<BoardFile>(new BoardFile(static_cast<record::Board*>(memory)));
}

BoardFile::~BoardFile() { ::munmap(board_, sizeof(record::Board)); }

void BoardFile::wait(std::uint32_t seen, std::chrono::milliseconds timeout) {
  const timespec limit{static_cast<time_t>(timeout.count() / 1000), static_cast<long>(timeout.count() % 1000) * 1'000'000};
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
    if (pid == 0 || running(pid)) ++count;  // 0: about to be written
  }
  return count;
}

}  // namespace pclscope::collect
