// What MessageRetention remembers. Private to retention*.cpp.
#pragma once

#include <algorithm>

#include "analysis/window/packed_calls.hpp"
#include "analysis/window/retention.hpp"

namespace pclscope {

// A window's calls, for as long as some of its regions may be stored.
struct MessageRetention::HeldCalls {
  explicit HeldCalls(MessageRetention& of) : owner(of) {}
  void add(std::span<const MpiCall> calls) {
    const std::size_t before = packed.bytes();
    packed.append(calls);
    left += calls.size();
    owner.held_call_bytes_ += packed.bytes() - before;
    owner.held_calls_ += calls.size();
  }
  ~HeldCalls() {
    owner.held_call_bytes_ -= packed.bytes();
    owner.held_calls_ -= left;
  }
  HeldCalls(const HeldCalls&) = delete;
  HeldCalls& operator=(const HeldCalls&) = delete;
  void stored(std::uint64_t calls) {
    left -= calls;
    owner.held_calls_ -= calls;
  }

  MessageRetention& owner;
  PackedCalls packed;
  std::uint64_t left = 0;  // not stored
};

// Where messages come from, shared by the window and by the parts of it that are held longer.
struct MessageRetention::Origin {
  std::uint64_t number = 0;  // of the window
  double begin_s = 0;
  std::shared_ptr<const RegionMap> region_of_rank;
  std::vector<std::int32_t> stored;  // regions whose messages are in the file, ascending
  std::unique_ptr<HeldCalls> calls{};

  std::int32_t region_of(std::int32_t rank) const {
    const RegionMap& map = *region_of_rank;
    return rank >= 0 && static_cast<std::size_t>(rank) < map.size() ? map[static_cast<std::size_t>(rank)] : -1;
  }
  bool is_stored(std::int32_t region) const { return std::binary_search(stored.begin(), stored.end(), region); }
  void mark(std::int32_t region) {
    const auto at = std::lower_bound(stored.begin(), stored.end(), region);
    if (at == stored.end() || *at != region) stored.insert(at, region);
  }
  bool in_file(const Message& m) const { return is_stored(region_of(m.source)) || is_stored(region_of(m.destination)); }
  bool touches(const Message& m, std::int32_t region) const {
    return region_of(m.source) == region || region_of(m.destination) == region;
  }
};

struct MessageRetention::Waiting {
  std::shared_ptr<Origin> origin;
  std::shared_ptr<const KeptWindow> packed;
  std::vector<std::int32_t> undecided;  // regions, ascending
  std::vector<std::int32_t> regions;    // all that have messages in it, ascending
};

struct MessageRetention::Candidate {
  std::uint64_t number = 0;
  std::shared_ptr<Origin> origin;              // nullptr: in the file already
  std::shared_ptr<const KeptWindow> messages;  // of the region alone; nullptr while the window itself is at hand
};

struct MessageRetention::RegionState {
  bool any = false;
  PeriodKind kind = PeriodKind::other;
  std::uint64_t decided_until = 0;                                // window number + 1
  HalvingSample<Candidate> inside{retention::middle_candidates};  // of an `other` period
  Candidate last;
};

template <class Wanted>
void MessageRetention::write_calls(const Origin& origin, Wanted&& wanted) {
  if (!origin.calls) return;
  std::vector<MpiCall> kept;
  origin.calls->packed.each([&](const MpiCall& call) {
    if (wanted(call.rank)) kept.push_back(call);
  });
  origin.calls->stored(kept.size());
  write(kept);
}

}  // namespace pclscope
