#include "viewer/launch/job_files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include "analysis/collect/board_file.hpp"
#include "interpose/record/segment.hpp"
#include "viewer/launch/process.hpp"
#include "viewer/launch/program.hpp"

namespace pclscope::launch {
namespace {

namespace fs = std::filesystem;
constexpr const char* shm_directory = "/dev/shm";
constexpr auto poll_interval = std::chrono::milliseconds(5);

bool gone_within(std::uint32_t pid, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (process_alive(pid)) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(poll_interval);
  }
  return true;
}

}  // namespace

bool is_aggregator(std::uint32_t pid) {
  std::error_code failed;
  const std::string program = fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", failed).string();
  return !failed && base_name(program).rfind("pclscope-aggregator", 0) == 0;
}

Result<std::string> make_token() {
  unsigned char bytes[16];
  if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) {
    return Error{ErrorCode::io, std::string("the system gives no random numbers: ") + std::strerror(errno)};
  }
  constexpr char digits[] = "0123456789abcdef";
  std::string token;
  for (const unsigned char byte : bytes) {
    token += digits[byte >> 4];
    token += digits[byte & 15];
  }
  return token;
}

Result<JobFiles> JobFiles::create(const std::string& token) {
  const std::string path = std::string(shm_directory) + "/" + collect::shm_names(token) + "board";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0) ::fchmod(fd, 0600);  // whatever the umask is
  if (fd < 0) return Error{ErrorCode::io, std::string("cannot create a file in /dev/shm: ") + std::strerror(errno)};
  // Allocated, not only sized: a full /dev/shm shows here and not as a SIGBUS later.
  const int failed = ::posix_fallocate(fd, 0, sizeof(record::Board));
  void* memory =
      failed == 0 ? ::mmap(nullptr, sizeof(record::Board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  const int error = failed != 0 ? failed : errno;
  ::close(fd);
  if (memory == MAP_FAILED) {
    ::unlink(path.c_str());
    if (error == EFBIG) return Error{ErrorCode::no_space, "files may not be large enough for a board (ulimit -f)"};
    if (error == ENOSPC) {
      return Error{ErrorCode::no_space, "/dev/shm is full: remove old files there or make it larger"};
    }
    return Error{ErrorCode::io, std::string("cannot use /dev/shm: ") + std::strerror(error)};
  }
  auto* board = static_cast<record::Board*>(memory);
  record::note_surroundings(*board);
  return JobFiles(token, board);
}

JobFiles::JobFiles(JobFiles&& other) noexcept : token_(std::move(other.token_)), board_(other.board_) {
  other.token_.clear();
  other.board_ = nullptr;
}

JobFiles::~JobFiles() {
  remove_all();
  if (board_ != nullptr) ::munmap(board_, sizeof(record::Board));
}

AggregatorEnd JobFiles::wait_for_aggregator(std::chrono::milliseconds limit) const {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    // The pid first: the aggregator sets `done` before it clears its pid.
    const std::uint32_t pid = board_->aggregator.load(std::memory_order_acquire);
    const std::uint32_t done = board_->aggregator_done.load(std::memory_order_acquire);
    if (done != 0) return done == 2 ? AggregatorEnd::died : AggregatorEnd::closed;
    if (pid == 0) return AggregatorEnd::never_ran;
    if (!process_alive(pid)) {
      const std::uint32_t last = board_->aggregator_done.load(std::memory_order_acquire);
      return last == 1 || last == 3 ? AggregatorEnd::closed : AggregatorEnd::died;
    }
    if (std::chrono::steady_clock::now() >= deadline) return AggregatorEnd::still_running;
    std::this_thread::sleep_for(poll_interval);
  }
}

bool JobFiles::nothing_to_record() const { return board_->aggregator_done.load(std::memory_order_acquire) == 3; }

void JobFiles::end_aggregator() const {
  const std::uint32_t pid = board_->aggregator.load(std::memory_order_acquire);
  if (!process_alive(pid) || !is_aggregator(pid)) return;
  ::kill(static_cast<pid_t>(pid), SIGTERM);
  if (gone_within(pid, std::chrono::seconds(5)) || !is_aggregator(pid)) return;
  ::kill(static_cast<pid_t>(pid), SIGKILL);
  (void)gone_within(pid, std::chrono::seconds(5));  // what it has announced is removed when it is gone
}

void JobFiles::remove_all() {
  if (token_.empty()) return;
  // Of all nodes: some share /dev/shm.
  const std::string prefix = record::shm_prefix + token_ + "-";
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(shm_directory, failed)) {
    std::error_code ignored;
    if (entry.path().filename().string().rfind(prefix, 0) == 0) fs::remove(entry.path(), ignored);
  }
}

}  // namespace pclscope::launch
