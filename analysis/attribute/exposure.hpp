// How long ranks were inside MPI for nothing but messages on their way (docs/attribution.md, "Exposed transfer"): from
// when the last message that a call waits for had been sent, to the call's return. Senders the same, of blocking sends
// that are not merely copied. One thread owns an Exposure. Memory: 200 bytes per rank.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/attribute/slices.hpp"
#include "analysis/values/message.hpp"

namespace pclscope::attribute {

class Exposure {
 public:
  static constexpr std::uint32_t octaves = 65;
  // Of all messages of a class and octave whose transfer time is known.
  struct Usual {
    std::uint64_t samples = 0;
    double product = 1;        // of the newest ones, ns: a logarithm for some thirty of them
    double older_log_sum = 0;  // of the others: sum of ln(ns)

    void add_log(double log_ns) {
      ++samples;
      older_log_sum += log_ns;
    }
    // When it is one: half of them may be, so without a branch.
    void add_if(bool sample, double ns) {
      samples += sample;
      product *= sample ? ns : 1.0;
      if (product < 1e280) return;  // the next one is below 1e19
      older_log_sum += std::log(product);
      product = 1;
    }
    double mean_log() const { return (older_log_sum + std::log(product)) / static_cast<double>(samples); }
  };

  explicit Exposure(std::int32_t ranks) : calls_(static_cast<std::size_t>(ranks < 0 ? 0 : ranks)) {}

  // Messages in the order of matching; the receives that one call completes follow each other at their rank (else they
  // count as two calls). What a call adds goes to the slices that it lies in.
  void add(const Message& m, std::span<const std::int32_t> node_of_rank, Slices& slices);
  // Calls whose last message may still come until now.
  void flush(Slices& slices);

  const Usual& usual(bool inter_node, std::uint32_t octave) const { return usual_[inter_node][octave]; }
  static std::uint32_t octave_of(std::uint64_t bytes);

 private:
  static constexpr std::int64_t long_ns = 1'000'000'000;
  struct Line {
    std::int32_t from = -1, to = -1;  // nodes
    std::uint32_t octave = 0;
    std::int64_t transfer_ns = 0;
  };
  struct Call {  // of a rank: completes receives
    std::int32_t rank = 0;
    std::int64_t wait_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t ready_ns = 0;        // the last of its messages was sent (and its receive posted)
    std::int32_t from = -1, to = -1;  // nodes of the message between nodes that takes longest for its size
    std::uint32_t octave = 0;
    double slowness = -1e9;    // ln of its time over the usual
    std::int32_t source = -1;  // rank that sent the largest
    std::uint64_t bytes = 0;
    // The last to be ready: it alone tells what its link takes; others may have come long before the return.
    std::int32_t last_from = -1, last_to = -1;
    std::uint32_t last_octave = 0;
    std::int64_t last_ready_ns = INT64_MIN;
    bool last_inter = false;
    std::vector<Line> long_ones;  // between nodes, under way for `long_ns` or more
    // Parts of a call whose messages were matched in different windows:
    std::int64_t before_end_ns = INT64_MIN, before_ready_ns = INT64_MIN;  // the rank's call before this one
    std::int64_t stuck_end_ns = INT64_MIN;                                // its newest in Slice::stuck
    bool open = false;
    bool listed = false;  // in open_

    // For the rank's next one.
    void reopen(std::int32_t of_rank, std::int64_t wait, std::int64_t end, std::int64_t first_ready) {
      before_end_ns = end_ns;
      before_ready_ns = last_ready_ns;
      rank = of_rank;
      wait_ns = wait;
      end_ns = end;
      ready_ns = first_ready;
      from = to = last_from = last_to = source = -1;
      octave = last_octave = 0;
      slowness = -1e9;
      bytes = 0;
      last_ready_ns = INT64_MIN;
      last_inter = false;
      long_ones.clear();
      open = listed = true;
    }
  };
  void close(Call& call, Slices& slices);
  void sample(const Call& call, Slices& slices);
  static void look_for_stuck(Call& call, Slices& slices);
  static void add_stuck(const Call& call, Slices& slices);
  static void expose(Slices& slices, std::int64_t begin_ns, std::int64_t end_ns, const Call& where);

  std::vector<Call> calls_;
  std::vector<std::int32_t> open_;  // ranks
  std::array<std::array<Usual, octaves>, 2> usual_{};
};

}  // namespace pclscope::attribute
