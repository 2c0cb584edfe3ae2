#include "analysis/store/commit_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pclscope::store {
namespace {

constexpr std::uint64_t page = 4096, alignment = 8;
constexpr std::size_t longest_run = 1 << 20;

// The whole file. Of the open file, not of the process; independent of the flock() that HDF5 itself takes.
struct flock whole_file(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

std::unique_ptr<CommitFile> CommitFile::create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0) ::fchmod(fd, 0600);  // whatever the umask is
  if (fd < 0) return nullptr;
  struct flock lock = whole_file(F_RDLCK);
  ::fcntl(fd, F_OFD_SETLK, &lock);  // a file system without locks: readers do not see us, no more
  return std::unique_ptr<CommitFile>(new CommitFile(fd, true));
}

std::unique_ptr<CommitFile> CommitFile::open(const std::string& path) {
  // Nonblocking: a named pipe must not hold us up; for regular files it means nothing.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return nullptr;
  struct stat found {};
  if (::fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) {
    ::close(fd);
    errno = EISDIR;
    return nullptr;
  }
  return std::unique_ptr<CommitFile>(new CommitFile(fd, false));
}

CommitFile::~CommitFile() { ::close(fd_); }

bool CommitFile::is_being_written() const {
  struct flock lock = whole_file(F_WRLCK);
  return ::fcntl(fd_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

std::uint64_t CommitFile::size() const {
  struct stat found {};
  return ::fstat(fd_, &found) == 0 ? static_cast<std::uint64_t>(found.st_size) : 0;
}

std::uint64_t CommitFile::disk_left() const {
  struct statvfs disk {};
  struct stat found {};
  if (::fstatvfs(fd_, &disk) != 0 || disk.f_blocks == 0 || ::fstat(fd_, &found) != 0) return no_place;
  constexpr std::uint64_t stat_block = 512;
  const std::uint64_t taken = static_cast<std::uint64_t>(found.st_blocks) * stat_block;
  const std::uint64_t may_have = taken + std::uint64_t{disk.f_bavail} * disk.f_frsize;
  return may_have - std::min(may_have, end_);
}

bool CommitFile::begin_with(std::span<const std::byte> content) {
  if (content.size() > limit_) return error_ = EFBIG, false;
  end_ = content.size();
  return write_now(0, content.size(), content.data());
}

std::uint64_t CommitFile::allocate_data(std::uint64_t size) {
  if (size > limit_ - std::min(limit_, end_)) return error_ = EFBIG, no_place;
  const std::uint64_t at = end_;
  end_ += size;
  return at;
}

std::uint64_t CommitFile::allocate_structure(std::uint64_t size) {
  size = (size + alignment - 1) / alignment * alignment;
  std::uint64_t at = page_cursor_;
  if (size > page_end_ - page_cursor_) {  // whole new pages
    at = (end_ + page - 1) / page * page;
    if (at > limit_ || (size + page - 1) / page * page > limit_ - at) return error_ = EFBIG, no_place;
    page_end_ = end_ = at + (size + page - 1) / page * page;
  }
  page_cursor_ = at + size;
  fresh_[at] = at + size;
  return at;
}

bool CommitFile::is_fresh(std::uint64_t at) const {
  const auto after = fresh_.upper_bound(at);
  return after != fresh_.begin() && at < std::prev(after)->second;
}

bool CommitFile::write_now(std::uint64_t at, std::size_t size, const void* from) {
  const char* next = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t written = ::pwrite(fd_, next, size, static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      if (error_ == 0) error_ = written < 0 ? errno : ENOSPC;
      return false;
    }
    next += written;
    at += static_cast<std::uint64_t>(written);
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

bool CommitFile::write_data(std::uint64_t at, std::size_t size, const void* from) {
  if (discarding_) return true;
  if (!writable_) return error_ = EBADF, false;
  return write_now(at, size, from);
}

bool CommitFile::write_structure(std::uint64_t at, std::size_t size, const void* from, int order) {
  if (discarding_) return true;
  if (!writable_) return error_ = EBADF, false;
  const auto* bytes = static_cast<const std::byte*>(from);
  Held& held = held_[at];
  held.bytes.assign(bytes, bytes + size);
  held.order = order;
  return true;
}

bool CommitFile::read(std::uint64_t at, std::size_t size, void* to) const {
  auto* bytes = static_cast<char*>(to);
  for (std::size_t done = 0; done < size;) {
    const ssize_t got = ::pread(fd_, bytes + done, size - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || (got == 0 && !writable_)) return false;
    if (got == 0) {  // allocated, not yet written
      std::memset(bytes + done, 0, size - done);
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  for (auto held = held_.begin(); held != held_.end() && held->first < at + size; ++held) {
    const std::uint64_t held_end = held->first + held->second.bytes.size();
    if (held_end <= at) continue;
    const std::uint64_t from = std::max(at, held->first), until = std::min(at + size, held_end);
    std::memcpy(bytes + (from - at), held->second.bytes.data() + (from - held->first), until - from);
  }
  return true;
}

bool CommitFile::commit() {
  if (discarding_ || error_ != 0) return error_ == 0;
  std::vector<std::map<std::uint64_t, Held>::const_iterator> in_place;
  std::uint64_t run_begin = 0;
  std::vector<std::byte> run;  // what is fresh lies side by side, in thousands of pieces: one write for many
  for (auto held = held_.cbegin(); held != held_.cend(); ++held) {
    if (!is_fresh(held->first)) {
      in_place.push_back(held);
      continue;
    }
    const auto& bytes = held->second.bytes;
    const std::uint64_t run_end = run_begin + run.size();
    if (run.empty() || held->first < run_end || held->first - run_end >= alignment || run.size() >= longest_run) {
      if (!write_now(run_begin, run.size(), run.data())) return false;
      run_begin = held->first;
      run.clear();
    }
    run.resize(held->first - run_begin);  // over what an allocation was rounded up by
    run.insert(run.end(), bytes.begin(), bytes.end());
  }
  if (!write_now(run_begin, run.size(), run.data())) return false;
  // Before anything says so, the file is as long as it will say.
  if (size() < end_ && ::ftruncate(fd_, static_cast<off_t>(end_)) != 0) return error_ = errno, false;
  std::sort(in_place.begin(), in_place.end(), [](const auto& a, const auto& b) {
    return a->second.order != b->second.order ? a->second.order < b->second.order : a->first > b->first;
  });
  for (const auto& held : in_place) {
    if (!write_now(held->first, held->second.bytes.size(), held->second.bytes.data())) return false;
  }
  held_.clear();
  fresh_.clear();
  return true;
}

void CommitFile::discard() {
  discarding_ = true;
  held_.clear();
}

}  // namespace pclscope::store
