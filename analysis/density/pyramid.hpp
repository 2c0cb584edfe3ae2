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
#include "analysis/values/density_part.hpp"

namespace pclscope::density {

inline constexpr std::size_t most_regions = 16;  // told apart
inline constexpr std::size_t part_bytes = std::size_t{1} << 20;

class Pyramid {
 public:
  struct Limits {
    std::size_t most_slices = 1024;  // a power of two, at least 2
    std::size_t budget_bytes = std::size_t{32} << 20;
    unsigned first_shift = 20;
  };
  Pyramid() : Pyramid(Limits{}) {}
  explicit Pyramid(Limits limits);

  // Where a function is counted: for the calls below. Stays what it is.
  std::uint16_t place(std::uint16_t number) {
    if (number >= most_functions) number = 0;
    return index_[number] != unused ? index_[number] : add_function(number);
  }

  // A call that returned.
  void call(std::uint16_t place, std::int64_t begin, std::int64_t end) {
    begin = std::max<std::int64_t>(begin, 0);
    end = std::max(begin, end);
    if (static_cast<std::uint64_t>(end) >= reach_ns_) reach(end);
    Function& f = functions_[place];
    const unsigned bin = bin_of(static_cast<std::uint64_t>(end - begin));
    ++counts(f.rows[slice(begin, calls_shift_)], bin)[0];
    ++counts(f.rows[slice(end, calls_shift_)], bin)[1];
  }
  // A rank was inside from `begin` to `end`.
  void inside(std::uint16_t place, std::int32_t rank, std::int64_t begin, std::int64_t end) {
    spread(functions_[place], region_slot(rank), begin, end);
  }
  // Both. Most calls lie in one slice.
  void call_inside(std::uint16_t place, std::int32_t rank, std::int64_t begin, std::int64_t end) {
    Function& f = functions_[place];
    const std::size_t first = slice(begin, calls_shift_), last = slice(end, calls_shift_);
    std::uint64_t* const slices = f.inside[region_slot(rank)].get();
    if (first != last || static_cast<std::uint64_t>(end) >= one_slice_reach_ns_ || begin >= end || slices == nullptr)
        [[unlikely]] {
      call(place, begin, end);
      return inside(place, rank, begin, end);
    }
    const auto length = static_cast<std::uint64_t>(end - begin);
    std::uint64_t* const pair = counts(f.rows[first], bin_of_some(length));
    ++pair[0];
    ++pair[1];
    slices[first] += length;
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
  // Some slices of that; no further ones once those that are there take `most_bytes` here, packed about a fifth of it.
  DensityPart part(const DensityQuestion& asked, std::span<const Running> running,
                   std::size_t most_bytes = part_bytes) const;
  // What has come since the last take(); it is here no more.
  CallDensity take();

  std::size_t bytes() const;
  unsigned inside_shift() const { return inside_shift_; }
  unsigned calls_shift() const { return calls_shift_; }

 private:
  static constexpr std::uint16_t most_functions = 1024;  // numbers beyond are not believed
  static constexpr std::uint16_t unused = 0xffff;
  static constexpr std::size_t no_region = most_regions;

  // Pairs of counts, starts and ends, of some bins: from an octave's first to an octave's last.
  struct Row {
    std::unique_ptr<std::uint64_t[]> counts;
    std::uint16_t first = 0, size = 0;  // bins
  };
  struct Between {  // slices: of both, from the first to before the last
    std::size_t first_inside = 0, last_inside = 0, first_calls = 0, last_calls = 0;
  };
  using Slices = std::unique_ptr<std::uint64_t[]>;  // ns, most_slices of them; null: nothing yet
  struct alignas(256) Function {                    // so that its place is quickly found
    std::uint16_t number = 0;
    std::array<Slices, most_regions + 1> inside;
    std::unique_ptr<Row[]> rows;  // by slice
  };

  static std::size_t slice(std::int64_t ns, unsigned shift) {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(ns) >> shift);
  }
  std::size_t region_slot(std::int32_t rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return r < slot_of_rank_.size() ? slot_of_rank_[r] : no_region;
  }
  // Its starts; its ends are behind them.
  std::uint64_t* counts(Row& row, unsigned bin) {
    const unsigned at = bin - row.first;
    if (at >= row.size) [[unlikely]]
      return widen(row, bin);
    return &row.counts[std::size_t{2} * at];
  }
  std::uint16_t add_function(std::uint16_t number);
  std::uint64_t* widen(Row& row, unsigned bin);
  void spread(Function& f, std::size_t region, std::int64_t begin, std::int64_t end);
  std::uint64_t* slices_of(Function& f, std::size_t region);
  CallDensity value(const Between& slices) const;
  void add_running(CallDensity& sum, std::span<const Running> running, std::int64_t begin_ns,
                   std::int64_t end_ns) const;
  Between between(std::int64_t begin_ns, std::int64_t end_ns) const;
  std::size_t bytes(const Between& slices) const;
  void reach(std::int64_t ns);
  void set_reach();
  void halve_inside();
  void halve_calls();
  std::size_t slot_of_region(std::int32_t id, bool by_force);
  std::uint64_t time_in(std::size_t slot) const;
  void give_up(std::size_t slot);

  Limits limits_;
  unsigned inside_shift_, calls_shift_;
  std::uint64_t reach_ns_ = 0;                       // both have a slice for what is before it; 0: there is no room
  std::uint64_t one_slice_reach_ns_ = 0;             // the same, where their slices are the same; else 0
  std::array<std::uint16_t, most_functions> index_;  // by number
  std::vector<Function> functions_;
  std::size_t row_bytes_ = 0;
  std::array<std::int32_t, most_regions> regions_;  // id by slot, -1: free
  std::array<bool, most_regions> standing_{};       // it is one of set_regions()
  std::vector<std::uint8_t> slot_of_rank_;
};

}  // namespace pclscope::density
