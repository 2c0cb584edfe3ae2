// How long messages take by how far apart the nodes of their ranks are: latencies and bandwidths.
#pragma once

#include <cstdint>

namespace pclscope {

// Seconds; none is negative.
struct LinkTimes {
  double inside_s = 0;           // of a message within a node
  double inside_s_per_byte = 0;  // 1 / bandwidth
  double first_hop_s = 0;        // of a message between nodes
  double further_hop_s = 0;      // in addition, for each hop but the first
  double s_per_byte = 0;

  // Of so many messages with so many bytes together.
  double of(std::int32_t hops, double messages, double bytes) const {
    return hops <= 0 ? messages * inside_s + bytes * inside_s_per_byte
                     : messages * (first_hop_s + (hops - 1) * further_hop_s) + bytes * s_per_byte;
  }
  bool operator==(const LinkTimes&) const = default;
};

}  // namespace pclscope
