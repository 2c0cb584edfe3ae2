// What messages cost per call site, summed per pair of sites (where sent, where received). Formulas: docs/methods.md,
// "Call sites". One thread owns a SiteSums. Memory: 72 bytes per pair in use, at most 65,536 pairs; messages of pairs
// beyond count at the unknown site 0.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/values/blocked_time.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope {

struct SiteCosts {
  std::uint64_t messages = 0, bytes = 0, delayed = 0;
  std::int64_t late_sender_ns = 0, late_receiver_ns = 0, transfer_ns = 0;  // blocked time (BlockedTime)

  void add(const BlockedTime& blocked) {
    late_sender_ns += blocked.late_sender;
    late_receiver_ns += blocked.late_receiver;
    transfer_ns += blocked.transfer();
  }
};

class SiteSums {
 public:
  static constexpr std::size_t most_pairs = 1u << 16;

  SiteSums();
  // Its sites are ids, its `delayed` is decided. `blocked`: charged to it so far.
  void add(const Message& m, const BlockedTime& blocked) {
    Pair& pair = at(m.send_site << 32 | (m.recv_site & 0xffffffffu));
    ++pair.messages;
    pair.bytes += m.bytes;
    if (m.flags & message_flag::no_latency) return;
    pair.delayed += (m.flags & message_flag::delayed) != 0;
    pair.add(blocked);
  }
  // Charged to a message that was added before.
  void add_blocked(std::uint32_t send_site, std::uint32_t recv_site, const BlockedTime& blocked) {
    at(std::uint64_t{send_site} << 32 | recv_site).add(blocked);
  }

  // Sums of a pair of sites from elsewhere.
  void add_sums(std::uint32_t send_site, std::uint32_t recv_site, const SiteCosts& costs);
  // Visits every pair with messages: send site, receive site, costs.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const Pair& pair : pairs_)
      if (pair.messages > 0 || pair.late_sender_ns + pair.late_receiver_ns + pair.transfer_ns != 0)
        visit(static_cast<std::uint32_t>(pair.key >> 32), static_cast<std::uint32_t>(pair.key),
              static_cast<const SiteCosts&>(pair));
  }

  // Every site with messages, most time lost first; at most `most`.
  std::vector<SiteActivity> list(std::size_t most) const;

 private:
  struct Pair : SiteCosts {
    std::uint64_t key = 0;  // send site, receive site: 32 bits each
  };
  Pair& at(std::uint64_t key) {
    if (pairs_[last_].key != key) last_ = find(key);
    return pairs_[last_];
  }
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

// Adds the time inside MPI to the rows of `list`, and rows for sites that have none, most time first; of those at most
// so many. `times`: one per site.
inline constexpr std::size_t live_sites = 50;  // of each kind, of a running job
void add_times(std::vector<SiteActivity>& list, std::vector<SiteTime> times, std::size_t most);

// Rank-seconds blocked because of what is sent from the site and when, and received at it: each blocked second of
// point-to-point communication is lost at one site. The order in which sites are listed.
inline double lost_s(const SiteActivity& a) { return a.late_sender_s + a.late_receiver_s + a.transfer_s; }

}  // namespace pclscope
