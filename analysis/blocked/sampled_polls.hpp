// Polls that found nothing leave no event: looks at the current-call slots find them. A look that finds a thread in a
// poll stands for the time since the look before it. Whether it is time of its own is known when the thread's next
// event comes: a loop of polls that was a wait ends with an event that has all of it (interpose/record/FORMAT.md, rule
// 13), and then the looks inside it are dropped.
//
// Not thread-safe. Memory: 24 bytes per look that is not decided, `most` of them; beyond, looks of one thread that
// follow each other become one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace pclscope::blocked {

class SampledPolls {
 public:
  struct Look {
    std::uint64_t since = 0, at = 0;  // ticks: it was seen at `at`, and stands for the time from `since` on
    std::uint16_t function = 0;
  };
  using Take = std::function<void(std::int32_t rank, const Look& look)>;

  explicit SampledPolls(std::size_t ranks, std::size_t most = std::size_t{1} << 18) : looks_(ranks), most_(most) {}

  bool any() const { return count_ > 0; }
  bool any(std::int32_t rank, std::uint32_t thread) const;
  // `take`: what cannot be kept any longer is decided, as time of its own.
  void add(std::int32_t rank, std::uint32_t thread, const Look& look, const Take& take);
  // The thread's next call was from begin to end. Decides the looks before it, drops those inside it.
  void called(std::int32_t rank, std::uint32_t thread, std::uint64_t begin, std::uint64_t end, const Take& take);
  // No event will come any more: all that is left is time of its own.
  void end(const Take& take);
  // What is not decided.
  void each(const Take& visit) const;
  std::uint64_t undecided(std::int32_t rank) const;  // ticks

 private:
  void thin(const Take& take);

  std::vector<std::vector<std::vector<Look>>> looks_;  // by rank, thread; ascending
  std::size_t most_, count_ = 0;
};

}  // namespace pclscope::blocked
