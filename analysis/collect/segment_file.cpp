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
  const std::uint64_t capacity =
      bytes > record::segment_header_bytes ? (bytes - record::segment_header_bytes) / sizeof(record::Event) : 0;
  if (status.st_uid != ::geteuid() || capacity == 0 || !std::has_single_bit(capacity)) {
    ::close(file);
    if (status.st_uid != ::geteuid()) return Error{ErrorCode::not_ours, shown_path(path) + " belongs to another user"};
    return Error{ErrorCode::damaged, shown_path(path) + " has no complete ring yet"};
  }
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const Error mapping_error = system_error(path);
  ::close(file);
  if (memory == MAP_FAILED) return mapping_error;
  auto* header = static_cast<SegmentHeader*>(memory);
  const bool valid = header->state.load(std::memory_order_acquire) != record::ProcessState::starting;
  if (!valid || std::memcmp(header->magic, record::segment_magic, sizeof header->magic) != 0 ||
      header->version != record::segment_version || header->capacity != capacity) {
    const Error error =
        !valid ? Error{ErrorCode::damaged, shown_path(path) + " is not complete yet"}
        : header->version != record::segment_version
            ? Error{ErrorCode::wrong_version, shown_path(path) + ": the preloaded library is of another version"}
            : Error{ErrorCode::not_ours, shown_path(path) + " is not a segment of pclscope"};
    ::munmap(memory, bytes);
    return error;
  }
  return std::unique_ptr<SegmentFile>(new SegmentFile(header, bytes, capacity));
}

SegmentFile::SegmentFile(SegmentHeader* header, std::uint64_t bytes, std::uint64_t capacity)
    : header_(header),
      bytes_(bytes),
      capacity_(capacity),
      rank_(header->world_rank),
      world_size_(header->world_size),
      thread_(header->thread),
      session_(header->session),
      ring_(header, capacity) {}

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

void SegmentFile::attach(std::uint32_t pid) {
  header_->consumer_pid.store(pid, std::memory_order_relaxed);
  header_->consumer.store(record::Consumer::attached, std::memory_order_release);
}

void SegmentFile::leave() { header_->consumer.store(record::Consumer::gone, std::memory_order_release); }

}  // namespace pclscope::collect
