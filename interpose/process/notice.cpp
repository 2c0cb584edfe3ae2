#include "interpose/process/notice.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "interpose/process/options.hpp"
#include "interpose/record/segment.hpp"

namespace pclscope {

namespace {

record::Board* board() {
  static record::Board* opened = nullptr;  // opened in the first MPI call or MPI_Init, before other threads ask
  static bool tried = false;
  if (tried || options().token[0] == 0) return opened;
  tried = true;
  char path[160];
  snprintf(path, sizeof path, "/dev/shm/%s%s-%08x-board", record::shm_prefix, options().token, record::this_node_key());
  opened = record::map_board(path);
  if (opened != nullptr) record::note_surroundings(*opened);
  return opened;
}

}  // namespace

void say(const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (length <= 0) return;
  const auto size = static_cast<std::size_t>(length) < sizeof line ? static_cast<std::size_t>(length) : sizeof line - 1;
  const int saved = errno;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, size);
  errno = saved;
}

record::Board* open_board() { return board(); }

bool board_available() { return board() != nullptr; }

std::uint32_t count_on_board(std::atomic<std::uint32_t> record::Board::*counter) {
  record::Board* b = board();
  if (b == nullptr) return 0;
  const std::uint32_t before = (b->*counter).fetch_add(1);
  b->change.fetch_add(1);
  const int saved = errno;
  syscall(SYS_futex, &b->change, FUTEX_WAKE, 0x7fffffff, nullptr, nullptr, 0);
  errno = saved;
  return before;
}

void uncount_on_board(std::atomic<std::uint32_t> record::Board::*counter) {
  if (record::Board* b = board()) (b->*counter).fetch_sub(1);
}

void wait_on_board(std::atomic<std::uint32_t> record::Board::*word, int milliseconds) {
  record::Board* b = board();
  if (b == nullptr) return;
  const int saved = errno;
  for (int i = 0; i < milliseconds; ++i) {
    const std::uint32_t seen = b->change.load();
    if ((b->*word).load() != 0) break;
    const timespec one_ms{0, 1'000'000};
    syscall(SYS_futex, &b->change, FUTEX_WAIT, seen, &one_ms, nullptr, 0);
  }
  errno = saved;
}

std::uint32_t aggregator_pid() {
  record::Board* b = board();
  return b == nullptr ? 0 : b->aggregator.load();
}

bool aggregator_alive() {
  const auto pid = static_cast<pid_t>(aggregator_pid());
  return pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH);
}

bool aggregator_ended() {
  record::Board* b = board();
  if (b == nullptr) return false;
  return (options().aggregators > 1 ? b->parts[options().part].ended : b->aggregator_done).load() != 0;
}

bool first_to_say(std::uint32_t bit) {
  record::Board* b = board();
  return b == nullptr || (b->said.fetch_or(bit) & bit) == 0;
}

}  // namespace pclscope
