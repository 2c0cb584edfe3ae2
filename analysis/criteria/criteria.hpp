// Latency criteria (PCLVis 4.1): what a message of a class and size normally takes. C = median time of its (class, size
// bin), streaming, relative error <= 0.79 % (LogHistogram). Ratio L = T / C; delayed when L > 1. The same for the
// transfer alone: median of the times without the late receiver's part.
//
// From few samples: a bin with fewer than 16 uses the nearest bin of its class that has 16, if the sizes differ by
// less than a factor of two, else its own median of what there is. A loaded baseline goes before all of that.
// Memory: 40 KB per (class, bin) in use, at most 2 x 823 of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/criteria/log_histogram.hpp"
#include "analysis/criteria/size_bins.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope {

class Criteria {
 public:
  static constexpr std::uint64_t enough_samples = 16;

  // A transmission time >= 0 (clock violations are the caller's to leave out), and its part without the late receiver.
  void add(bool inter_node, std::uint64_t bytes, std::int64_t time_ns, std::int64_t transfer_ns) {
    const std::uint32_t bin = size_bins::bin_of(bytes);
    Class& of = classes_[inter_node];
    Bin& b = of.bins[bin];
    b.times.add(time_ns);
    b.transfers.add(transfer_ns);
    if (b.changed) return;
    b.changed = true;
    of.changed.push_back(bin);
  }

  // The same, `count` times, from another node: bin of size_bins, bucket of LogHistogram.
  void add_counted(bool inter_node, bool transfer, std::uint32_t bin, std::uint32_t bucket, std::uint64_t count);

  // Recomputes the medians of bins that got values. Ratios refer to the last refresh.
  void refresh();
  struct Inverse {  // 1 / C in 1/ns; 0 while there is nothing to compare with
    double time = 0;
    double transfer = 0;
    double log_time = 0;  // natural logarithm of `time`
  };
  Inverse inverse_ns(bool inter_node, std::uint64_t bytes) const {
    return inverse_of_bin(inter_node, size_bins::bin_of(bytes));
  }
  Inverse inverse_of_bin(bool inter_node, std::uint32_t bin) const { return classes_[inter_node].bins[bin].inverse; }

  // Criteria of an earlier run: from now on they stand in for the medians of their bins.
  void load(const std::vector<Criterion>& baseline);
  // Bins with samples, intra-node first, ascending sizes, with their own medians and what they are compared with.
  std::vector<Criterion> list() const;
  // How many of all samples are above their criterion of now (LogHistogram::above has the error).
  std::uint64_t above() const;
  // The same bins with what they are compared with at present: a baseline's medians where there are some.
  std::vector<Criterion> present() const;

 private:
  struct Typical {  // ns; 0 not known
    double time = 0;
    double transfer = 0;
  };
  struct Bin {
    LogHistogram times, transfers;
    Typical median, baseline;
    Inverse inverse;
    bool changed = false;
  };
  struct Class {
    std::vector<Bin> bins = std::vector<Bin>(size_bins::count);
    std::vector<std::uint32_t> changed;
    std::vector<std::uint32_t> few;  // bins with samples, fewer than enough
  };
  static Typical criterion_ns(const Class& of, std::uint32_t bin);
  static Inverse inverse_of(const Class& of, std::uint32_t bin);
  static const Bin* neighbour(const Class& of, std::uint32_t bin);

  std::array<Class, 2> classes_;  // [inter_node]
};

}  // namespace pclscope
