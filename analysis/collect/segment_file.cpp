#include "analysis/collect/segment_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "analysis/collect/shown_path.hpp"
#include "analysis/collect/text_field.hpp"

namespace pclscope::collect {
namespace {

using record::SegmentHeader;

constexpr std::uint64_t most_events = std::uint64_t{1} << 32;  // in a first ring

Error system_error(const std::string& path) {
  const ErrorCode code = errno == ENOENT   ? ErrorCode::not_found
                         : errno == EACCES ? ErrorCode::not_permitted
                                           : ErrorCode::io;
  return {code, shown_path(path) + ": " + std::strerror(errno)};
}

// "/proc/123/fd/45" and nothing else: anybody may put links into /dev/shm.
bool leads_to_descriptor(const std::string& target) {
  int begin = 0, end = 0;
  unsigned pid = 0, descriptor = 0;
  return std::sscanf(target.c_str(), "/proc/%u/fd/%n%u%n", &pid, &begin, &descriptor, &end) == 2 && begin > 0 &&
         static_cast<std::size_t>(end) == target.size();
}

// Follows the link of a ring that lies in a file without a name. -1 and errno; ESRCH: its process is gone, and the
// ring.
int open_through_link(const std::string& path) {
  struct stat link {};
  char target[64];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  if (length < 0 || ::lstat(path.c_str(), &link) != 0) return -1;
  const std::string where(target, static_cast<std::size_t>(length));
  if (!S_ISLNK(link.st_mode) || link.st_uid != ::geteuid() || !leads_to_descriptor(where)) {
    errno = ELOOP;
    return -1;
  }
  const int file = ::open(where.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) errno = ESRCH;
  return file;
}

int open_segment(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  return file < 0 && errno == ELOOP ? open_through_link(path) : file;
}

}  // namespace

Result<std::unique_ptr<SegmentFile>> SegmentFile::map(const std::string& path) {
  const int file = open_segment(path);
  if (file < 0 && errno == ESRCH)
    return Error{ErrorCode::io, shown_path(path) + ": its process ended before its events were found"};
  if (file < 0) return system_error(path);
  struct stat status {};
  if (::fstat(file, &status) != 0) {
    const Error error = system_error(path);
    ::close(file);
    return error;
  }
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (status.st_uid != ::geteuid() || bytes <= record::segment_header_bytes) {
    ::close(file);
    if (status.st_uid != ::geteuid()) return Error{ErrorCode::not_ours, shown_path(path) + " belongs to another user"};
    return Error{ErrorCode::damaged, shown_path(path) + " has no complete ring yet"};
  }
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const Error mapping_error = system_error(path);
  ::close(file);
  if (memory == MAP_FAILED) return mapping_error;
  std::unique_ptr<SegmentFile> mapped(new SegmentFile(static_cast<SegmentHeader*>(memory), bytes));
  if (const auto problem = mapped->take_over()) return Error{problem->code, shown_path(path) + problem->message};
  return mapped;
}

// What the header says, once, if its rings fit the file.
std::optional<Error> SegmentFile::take_over() {
  const SegmentHeader& h = *header_;
  if (h.state.load(std::memory_order_acquire) == record::ProcessState::starting)
    return Error{ErrorCode::damaged, " is not complete yet"};
  if (h.version != record::segment_version)
    return Error{ErrorCode::wrong_version, ": the preloaded library is of another version"};
  const std::uint64_t capacity = h.capacity;
  const std::uint32_t growths = h.growths;
  const bool possible = std::memcmp(h.magic, record::segment_magic, sizeof h.magic) == 0 &&
                        std::has_single_bit(capacity) && capacity <= most_events && growths <= record::growths_limit;
  const std::uint64_t wanted = possible ? record::segment_bytes(capacity, growths) : 0;
  if (wanted < bytes_) return Error{ErrorCode::not_ours, " is not a segment of pclscope"};
  if (wanted > bytes_) return Error{ErrorCode::damaged, " was made longer meanwhile"};
  capacity_ = capacity;
  rank_ = h.world_rank;
  world_size_ = h.world_size;
  thread_ = h.thread;
  session_ = h.session;
  ring_ = record::RingReader(header_, capacity, growths);
  return std::nullopt;
}

SegmentFile::~SegmentFile() { ::munmap(header_, bytes_); }

std::string SegmentFile::node() const { return text_of(header_->node); }
std::string SegmentFile::mpi() const { return text_of(header_->mpi); }
std::string SegmentFile::executable() const { return text_of(header_->executable); }

void SegmentFile::was_read(std::span<const record::Event> events) {
  using record::EventKind;
  for (auto e = events.rbegin(); e != events.rend(); ++e) {
    if (e->kind == EventKind::unrecorded_sends || e->kind == EventKind::unrecorded_receives) continue;  // counters
    newest_ticks_ = std::max(newest_ticks_, e->end);
    return;
  }
}

void SegmentFile::give_back() {
  for (; given_back_ < ring_.ring(); ++given_back_) {
    const std::uint64_t bytes = (capacity_ << given_back_) * sizeof(record::Event);
    const auto page = static_cast<std::uint64_t>(::getpagesize());
    // Memory only: it stays as it is where rings are smaller than pages, or the file system cannot.
    if (bytes % page == 0) ::madvise(record::segment_ring(header_, capacity_, given_back_), bytes, MADV_REMOVE);
  }
}

void SegmentFile::attach(std::uint32_t pid) {
  header_->consumer_pid.store(pid, std::memory_order_relaxed);
  header_->consumer.store(record::Consumer::attached, std::memory_order_release);
}

void SegmentFile::leave() { header_->consumer.store(record::Consumer::gone, std::memory_order_release); }

}  // namespace pclscope::collect
