// Every call of every rank, for ever, in bounded memory: a CallDensity that grows. What it counts: docs/methods.md,
// "Density of calls".
//
// Time is cut into slices of 2^k ns. When there are more than `most_slices` two and two become one, so that the run may
// go on; sums stay exact. When counts take more than `budget_bytes` their slices are joined the same way, and only
// theirs.
//
// One thread owns a Pyramid. Times: ns since the time origin.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analysis/density/bins.hpp"
#include "analysis/values/call_density.hpp"

namespace pclscope::density {

inline constexpr std::size_t most_regions = 16;  // told apart

class Pyramid {
 public:
  struct Limits {
    std::size_t most_slices = 1024;  // a power of two, at least 2
    std::size_t budget_bytes = std::size_t{32} << 20;
    unsigned first_shift = 20;
  };
  Pyramid() : Pyramid(Limits{}) {}
  explicit Pyramid(Limits limits);

  // A call that returned.
  void call(std::uint16_t number, std::int64_t begin, std::int64_t end) {
    begin = std::max<std::int64_t>(begin, 0);
    end = std::max(begin, end);
    Function& f = function(number);
    if (static_cast<std::uint64_t>(end) >> calls_shift_ >= limits_.most_slices) [[unlikely]]
      reach(end);
    const unsigned bin = bin_of(static_cast<std::uint64_t>(end - begin));
    ++count(f.rows[2 * slice(begin, calls_shift_)], bin);
    ++count(f.rows[2 * slice(end, calls_shift_) + 1], bin);
    if (row_bytes_ > limits_.budget_bytes) [[unlikely]]
      make_room();
  }
  // A rank was inside from `begin` to `end`.
  void inside(std::uint16_t number, std::int32_t rank, std::int64_t begin, std::int64_t end) {
    spread(function(number), region_slot(rank), begin, end);
  }

  // From now on ranks belong to these regions (ids, -1: none; ranks beyond: none). Of more than most_regions the
  // largest are told apart; what one took that is told apart no more stays in the sum of all.
  void set_regions(std::span<const std::int32_t> region_of_rank);

  void add(const CallDensity& more);
  CallDensity value() const;
  // With calls that have not returned, as far as they have come.
  struct Running {
    std::uint16_t function = 0;
    std::int32_t rank = 0;
    std::int64_t begin = 0, now = 0;
  };
  CallDensity value(std::span<const Running> running) const;
  // What has come since the last take(); it is here no more.
  CallDensity take();

  std::size_t bytes() const;
  unsigned inside_shift() const { return inside_shift_; }
  unsigned calls_shift() const { return calls_shift_; }

 private:
  static constexpr std::uint16_t most_functions = 1024;  // numbers beyond are not believed
  static constexpr std::uint16_t unused = 0xffff;
  static constexpr std::size_t no_region = most_regions;

  // Counts of some bins, from an octave's first to an octave's last.
  struct Row {
    std::unique_ptr<std::uint64_t[]> counts;
    std::uint16_t first = 0, size = 0;
  };
  struct Function {
    std::uint16_t number = 0;
    std::array<std::vector<std::uint64_t>, most_regions + 1> inside;  // ns per slice; empty where nothing is
    std::vector<Row> rows;                                            // of a slice: starts, ends
  };

  static std::size_t slice(std::int64_t ns, unsigned shift) {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(ns) >> shift);
  }
  std::size_t region_slot(std::int32_t rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return r < slot_of_rank_.size() ? slot_of_rank_[r] : no_region;
  }
  Function& function(std::uint16_t number) {
    if (number >= most_functions) number = 0;
    const std::uint16_t index = index_[number];
    if (index == unused) [[unlikely]]
      return add_function(number);
    return functions_[index];
  }
  std::uint64_t& count(Row& row, unsigned bin) {
    const unsigned at = bin - row.first;
    if (at >= row.size) [[unlikely]]
      return widen(row, bin);
    return row.counts[at];
  }
  void spread(Function& f, std::size_t region, std::int64_t begin, std::int64_t end) {
    begin = std::max<std::int64_t>(begin, 0);
    if (end <= begin) return;
    std::vector<std::uint64_t>& slices = f.inside[region];
    const std::size_t first = slice(begin, inside_shift_), last = slice(end - 1, inside_shift_);
    if (last < slices.size() && first == last) [[likely]]
      slices[first] += static_cast<std::uint64_t>(end - begin);
    else spread_far(slices, begin, end);
  }
  Function& add_function(std::uint16_t number);
  std::uint64_t& widen(Row& row, unsigned bin);
  void spread_far(std::vector<std::uint64_t>& slices, std::int64_t begin, std::int64_t end);
  void reach(std::int64_t ns);
  void make_room();
  void halve_inside();
  void halve_calls();
  std::size_t slot_of_region(std::int32_t id, bool by_force);
  std::uint64_t time_in(std::size_t slot) const;
  void give_up(std::size_t slot);

  Limits limits_;
  unsigned inside_shift_, calls_shift_;
  std::array<std::uint16_t, most_functions> index_;  // by number
  std::vector<Function> functions_;
  std::size_t row_bytes_ = 0;
  std::array<std::int32_t, most_regions> regions_;  // id by slot, -1: free
  std::array<bool, most_regions> standing_{};       // it is one of set_regions()
  std::vector<std::uint8_t> slot_of_rank_;
};

}  // namespace pclscope::density
