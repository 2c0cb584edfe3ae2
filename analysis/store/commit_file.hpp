// A file that is whole after every single system call, whenever its process is killed: what refers to other places
// in the file (structure) is held back in memory until commit(), and then written in an order in which every prefix
// is a valid file. What is only referred to (data) is written at once. Knows nothing of HDF5. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pclscope::store {

class CommitFile {
 public:
  // Both return null and leave errno.
  static std::unique_ptr<CommitFile> create(const std::string& path);  // new, mode 0600; fails when it exists
  static std::unique_ptr<CommitFile> open(const std::string& path);    // for reading only
  ~CommitFile();
  CommitFile(const CommitFile&) = delete;
  CommitFile& operator=(const CommitFile&) = delete;

  // The first content of a new file, whole and in order; before anything else.
  bool begin_with(std::span<const std::byte> content);

  // Space at the end, never space that was in use before: an earlier commit may still refer to it. Small structure
  // does not cross a page, so that rewriting it is one step for a process that gets killed. Beyond the limit there is
  // none: `no_place`, and error() is EFBIG.
  std::uint64_t allocate_data(std::uint64_t size);
  std::uint64_t allocate_structure(std::uint64_t size);
  static constexpr std::uint64_t no_place = ~std::uint64_t{0};
  void set_limit(std::uint64_t bytes) { limit_ = bytes; }
  std::uint64_t end() const { return end_; }
  void set_end(std::uint64_t end) { end_ = end; }
  // A process that has create()d this file still has it open. Shared advisory lock: in nobody's way.
  bool is_being_written() const;
  bool writable() const { return writable_; }
  std::uint64_t size() const;  // what the file system has
  // By how much end() may still grow before the disk is full, as far as the file system tells; no_place: it does not.
  // Quotas are not seen.
  std::uint64_t disk_left() const;

  bool write_data(std::uint64_t at, std::size_t size, const void* from);
  // `order`: at commit, lower ones are written first, and of one order higher addresses first. Space that was
  // allocated since the last commit is written before all of them: nothing refers to it yet.
  bool write_structure(std::uint64_t at, std::size_t size, const void* from, int order);
  // Held structure included. False beyond the end of a file that was cut off.
  bool read(std::uint64_t at, std::size_t size, void* to) const;

  bool commit();
  // From now on nothing is written, and all writes seem to succeed: the file stays at its last commit.
  void discard();
  int error() const { return error_; }  // errno of the first write that failed, or 0

 private:
  struct Held {
    std::vector<std::byte> bytes;
    int order = 0;
  };
  explicit CommitFile(int fd, bool writable) : fd_(fd), writable_(writable) {}
  bool is_fresh(std::uint64_t at) const;
  bool write_now(std::uint64_t at, std::size_t size, const void* from);

  int fd_;
  bool writable_;
  bool discarding_ = false;
  int error_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t limit_ = no_place;
  std::uint64_t page_cursor_ = 0;  // free rest of the page that structure was last put into
  std::uint64_t page_end_ = 0;
  std::map<std::uint64_t, Held> held_;            // by address
  std::map<std::uint64_t, std::uint64_t> fresh_;  // allocated since the last commit: begin to end
};

}  // namespace pclscope::store
