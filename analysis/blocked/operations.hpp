// How far each rank is in what windows and files make ranks do together, from the events read so far: their making,
// fences, Start and Post, locks. What is not proven is not known: a rank that lost events says nothing any more.
//
// One thread owns an Operations. Memory: 16 bytes per rank and window, and the open epochs; at most 65,536 windows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "interpose/record/event.hpp"

namespace pclscope::blocked {

// What is counted together. `index`: of the window on its communicator; of making windows and opening files 0.
enum class Together : std::uint8_t { make_window, fence, open_file };

class Operations {
 public:
  using Window = std::pair<std::uint64_t, std::int32_t>;  // communicator, index
  // Start and Complete, Post and Wait of one rank on one window.
  struct Epochs {
    std::map<std::int32_t, std::uint64_t> starts, posts;  // by partner: how many named it
    std::vector<std::int32_t> started, posted;            // partners of the newest
    bool open_start = false, open_post = false;           // not completed, not waited for
  };
  struct Lock {
    std::int32_t holder = 0;
    std::int32_t target = 0;  // any_source: of all (Win_lock_all)
    bool exclusive = false;
  };

  explicit Operations(std::int32_t ranks);

  void add(std::int32_t rank, std::span<const record::Event> events);

  // How many the rank has completed; nothing when that is not known.
  std::optional<std::uint64_t> count(Together what, std::uint64_t comm, std::int32_t index, std::int32_t rank) const;
  bool certain(std::int32_t rank) const { return !full_ && !lossy_[static_cast<std::size_t>(rank)]; }
  const Epochs* epochs(const Window& window, std::int32_t rank) const;  // nullptr: none so far
  std::span<const Lock> locks(const Window& window) const;              // held now

 private:
  using Key = std::tuple<std::uint64_t, std::int32_t, Together>;
  static constexpr std::size_t most_keys = 1 << 16;

  void take(std::int32_t rank, const record::Event& e);
  void take_sync(std::int32_t rank, const record::Event& e);
  void count_one(const Key& key, std::int32_t rank, std::uint64_t number);

  std::vector<char> lossy_;  // by rank
  bool full_ = false;        // more than can be kept
  std::map<Key, std::map<std::int32_t, std::uint64_t>> counts_;
  std::map<std::pair<Window, std::int32_t>, Epochs> epochs_;
  std::map<Window, std::vector<Lock>> locks_;
};

}  // namespace pclscope::blocked
