// The receiving side of the wildcard storm: posts receives of random kinds, as many at a time as are sure to complete,
// and writes down what each of them got.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "storm_plan.hpp"

namespace storm {

// In front of every payload.
struct Header {
  std::int32_t source;  // world rank
  std::int32_t slot;
  std::int32_t tag;
  std::int32_t bytes;
  std::int64_t index;   // how-manieth send of the source
};

// How many messages of a round are still to be received, per slot, source (world rank) and tag.
class Expected {
 public:
  explicit Expected(int size = 0) : size_(size), count_(static_cast<std::size_t>(slots * size * tags)) {}
  void add(int slot, int source, int tag) { ++at(slot, source, tag); ++total_; }
  void take(int slot, int source, int tag) { REQUIRE(at(slot, source, tag)-- > 0); --total_; }
  int left(int slot, int source, int tag) const { return count_[index(slot, source, tag)]; }
  int total() const { return total_; }
  int size() const { return size_; }

 private:
  std::size_t index(int slot, int source, int tag) const {
    return static_cast<std::size_t>((slot * size_ + source) * tags + tag);
  }
  int& at(int slot, int source, int tag) { return count_[index(slot, source, tag)]; }
  int size_;
  int total_ = 0;
  std::vector<int> count_;
};

// What a receive asks for; any = -1.
struct Pattern {
  int slot;
  int source;  // world rank
  int tag;
  bool fits(int s, int from, int t) const {
    return s == slot && (source < 0 || source == from) && (tag < 0 || tag == t);
  }
};

class Receiver {
 public:
  Receiver(std::uint64_t seed, int rank) : state_(mix(seed ^ (static_cast<std::uint64_t>(rank) << 32))) {}

  void begin(Communicators* comms, Expected expected);
  void while_sending();  // never blocks
  void finish();         // receives all that is left of the round

  std::uint64_t received() const { return got_.size(); }
  std::uint64_t checksum() const { return checksum_; }
  void write(const std::string& path) const;

 private:
  struct Pending {
    Pattern pattern;
    MPI_Request request;
    std::size_t index;   // posting number
    bool persistent;
    std::vector<char> buffer;
  };
  struct Got {
    std::string label;
    Header header;
    int bytes;
  };

  int below(int limit) { return static_cast<int>((state_ = mix(state_)) % static_cast<std::uint64_t>(limit)); }
  bool draw(Pattern& pattern);
  bool possible(const Pattern& more) const;
  bool sure(const Pattern& pattern, const Pattern& more) const;
  int peer(const Pattern& pattern) const;
  MPI_Comm comm(const Pattern& pattern) const { return comms_->slot[static_cast<std::size_t>(pattern.slot)].comm; }
  int wanted_tag(const Pattern& pattern) const { return pattern.tag < 0 ? MPI_ANY_TAG : pattern.tag; }

  void post(const Pattern& pattern);
  void receive_now(const Pattern& pattern);
  void probe_then_receive(const Pattern& pattern, bool poll);
  void matched_probe(const Pattern& pattern, bool poll);
  void complete_some(bool block);
  void completed(Pending& pending);
  void note(std::size_t index, const Pattern& pattern, const char* data, const MPI_Status* status);

  std::uint64_t state_;
  Communicators* comms_ = nullptr;
  Expected expected_;
  std::list<Pending> pending_;
  std::size_t posted_ = 0;
  std::vector<Got> got_;  // by posting number
  std::uint64_t checksum_ = 0;
};

}  // namespace storm
