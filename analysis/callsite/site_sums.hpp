// What messages cost per call site, summed per pair of sites (where sent, where received). Formulas: docs/methods.md,
// "Call sites". One thread owns a SiteSums. Memory: 64 bytes per pair in use, at most 65,536 pairs; messages of pairs
// beyond count at the unknown site 0.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/values/message.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope {

struct SiteCosts {
  std::uint64_t messages = 0, bytes = 0, delayed = 0;
  std::int64_t late_sender_ns = 0, late_receiver_ns = 0;
  double excess_ns = 0;
};

class SiteSums {
 public:
  static constexpr std::size_t most_pairs = 1u << 16;

  SiteSums();
  // `ratio`: time / criterion, 0 when the message has no latency. Its sites are ids, its `delayed` is decided.
  void add(const Message& m, const WaitSplit& split, double ratio) {
    const std::uint64_t key = m.send_site << 32 | (m.recv_site & 0xffffffffu);
    if (pairs_[last_].key != key) last_ = find(key);
    Pair& pair = pairs_[last_];
    ++pair.messages;
    pair.bytes += m.bytes;
    if (!(ratio > 0)) return;
    pair.delayed += (m.flags & message_flag::delayed) != 0;
    pair.late_sender_ns += split.late_sender;
    pair.late_receiver_ns += split.late_receiver;
    if (ratio > 1) pair.excess_ns += static_cast<double>(m.time()) * (1 - 1 / ratio);
  }

  // Sums of a pair of sites from elsewhere.
  void add_sums(std::uint32_t send_site, std::uint32_t recv_site, const SiteCosts& costs);
  // Visits every pair with messages: send site, receive site, costs.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const Pair& pair : pairs_)
      if (pair.messages > 0)
        visit(static_cast<std::uint32_t>(pair.key >> 32), static_cast<std::uint32_t>(pair.key),
              static_cast<const SiteCosts&>(pair));
  }

  // Every site with messages, most time lost first; at most `most`.
  std::vector<SiteActivity> list(std::size_t most) const;

 private:
  struct Pair : SiteCosts {
    std::uint64_t key = 0;  // send site, receive site: 32 bits each
  };
  std::uint32_t find(std::uint64_t key);
  void grow();
  std::size_t slot_of(std::uint64_t key) const {
    return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15ull >> shift_);
  }

  std::vector<Pair> pairs_;           // [0]: both unknown
  std::vector<std::uint32_t> slots_;  // open addressing: index into pairs_, 0 empty
  unsigned shift_;
  std::uint32_t last_ = 0;  // neighbouring messages are often of one pair
};

// Seconds that the site made others, or its messages, lose: the order in which sites are listed.
inline double lost_s(const SiteActivity& a) { return a.late_sender_s + a.late_receiver_s + a.excess_s; }

}  // namespace pclscope
