// One recording thread's segment, mapped and verified: the reader's side of interpose/record/segment.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "analysis/values/result.hpp"
#include "interpose/record/ring.hpp"
#include "interpose/record/segment.hpp"

namespace pclscope::collect {

// Owns the mapping. The recording process may die at any moment: what it wrote stays readable. Nothing read from
// the header is trusted for bounds but what was found to fit the file's size when it was mapped.
class SegmentFile {
 public:
  // Fails with not_found, damaged (not complete yet: try again), not_ours, wrong_version, io.
  static Result<std::unique_ptr<SegmentFile>> map(const std::string& path);
  ~SegmentFile();
  SegmentFile(const SegmentFile&) = delete;
  SegmentFile& operator=(const SegmentFile&) = delete;

  record::SegmentHeader& header() { return *header_; }
  const record::SegmentHeader& header() const { return *header_; }
  record::RingReader& ring() { return ring_; }
  const record::RingReader& ring() const { return ring_; }
  std::uint64_t capacity() const { return capacity_ << ring_.newest(); }  // of the ring that is written now
  // What can be unread at most: its ring now, and those that it had before.
  std::uint64_t most_unread() const { return (capacity_ << (ring_.newest() + 1)) - capacity_; }
  // Gives back the memory of rings that are read and not used any more.
  void give_back();
  std::int32_t rank() const { return rank_; }  // as read once when mapped
  std::int32_t world_size() const { return world_size_; }
  std::uint32_t thread() const { return thread_; }
  std::uint32_t session() const { return session_; }
  std::string node() const;
  std::string mpi() const;
  std::string executable() const;  // cut off if longer than the header has room for

  // End of the newest event that was read, 0 without; told by whoever reads.
  std::uint64_t newest_ticks() const { return newest_ticks_; }
  void was_read(std::span<const record::Event> events);

  // Tells the recorder that its ring is read by process `pid`, or no more.
  void attach(std::uint32_t pid);
  void leave();

 private:
  SegmentFile(record::SegmentHeader* header, std::uint64_t bytes) : header_(header), bytes_(bytes) {}
  std::optional<Error> take_over();
  record::SegmentHeader* header_;
  std::uint64_t bytes_;
  std::uint64_t capacity_ = 0;  // of the first ring
  std::int32_t rank_ = 0;
  std::int32_t world_size_ = 0;
  std::uint32_t thread_ = 0;
  std::uint32_t session_ = 0;
  std::uint64_t newest_ticks_ = 0;
  std::uint32_t given_back_ = 0;  // rings
  record::RingReader ring_;
};

}  // namespace pclscope::collect
