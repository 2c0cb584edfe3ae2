// What transfers take by distance and size, as measured in the calls that waited for them: medians, and latencies and
// bandwidths fitted through these (docs/methods.md, "What if": another placement).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>

#include "analysis/values/link_times.hpp"
#include "analysis/values/message.hpp"
#include "analysis/whatif/graph.hpp"

namespace pclscope::whatif {

// Links between two nodes; 0: the same. Nothing: all others are one hop away.
using Hops = std::function<std::int32_t(std::int32_t from, std::int32_t to)>;

class TransferTimes {
 public:
  // Until the receive is complete, or until a send that waited for its receiver has returned.
  enum class Side : std::uint8_t { receiver, sender };

  explicit TransferTimes(const LinkTimes& given);
  // Messages whose nodes are not known, or to oneself, are left out.
  TransferTimes(const Graph& graph, std::span<const Message> messages, std::span<const std::int32_t> node_of_rank,
                const Hops& hops);

  // Nanoseconds: the median of that distance and size (within an eighth of an octave) if at least five were seen, else
  // by the fit; -1: nothing like it was seen.
  std::int64_t of(Side side, std::int32_t hops, std::uint64_t bytes) const;
  // Latencies and bandwidths of receivers; nothing: no transfer within a node, or none between nodes, was seen.
  std::optional<LinkTimes> fitted() const;

 private:
  struct Range {  // of what was seen
    std::uint64_t least_bytes = UINT64_MAX, most_bytes = 0;
    std::int32_t least_hops = INT32_MAX, most_hops = 0;
    bool any() const { return most_bytes >= least_bytes; }
    bool reaches(std::int32_t hops, std::uint64_t bytes) const;
  };
  const Range& range(std::int32_t hops) const { return hops <= 0 ? inside_ : between_; }

  bool given_ = false;
  LinkTimes line_;
  Range inside_, between_;
  std::unordered_map<std::uint64_t, std::int64_t> medians_;  // by side, distance and size
};

}  // namespace pclscope::whatif
