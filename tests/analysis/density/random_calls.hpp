// Random calls, and what a CallDensity of them must be, counted one by one.
#pragma once

#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "analysis/density/pyramid.hpp"

namespace pclscope::density::test {

struct Call {
  std::uint16_t function;
  std::int32_t rank;
  std::int64_t begin, end;
};

inline std::vector<Call> random_calls(unsigned seed, std::size_t count, std::int64_t until_ns, std::int32_t ranks = 8) {
  std::mt19937_64 random(seed);
  std::vector<Call> calls;
  for (std::size_t i = 0; i < count; ++i) {
    Call c;
    c.function = static_cast<std::uint16_t>(1 + random() % 7 * (random() % 3 == 0));
    c.rank = static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks));
    const auto longest = std::log2(static_cast<double>(until_ns));
    const double length = std::exp2(std::uniform_real_distribution<>(-1, longest)(random));
    c.begin = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(until_ns));
    c.end = std::min(until_ns, c.begin + static_cast<std::int64_t>(length));
    calls.push_back(c);
  }
  return calls;
}

inline void put(Pyramid& to, const Call& c) {
  const std::uint16_t place = to.place(c.function);
  if (c.begin % 3 == 0) return to.call_inside(place, c.rank, c.begin, c.end);
  to.call(place, c.begin, c.end);
  to.inside(place, c.rank, c.begin, c.end);
}

// From the definition: floor(8 log2 d), in integers: d >= 2^(b/8) when d^8 >= 2^b, up to 2^64.
inline unsigned bin_by_powers(std::uint64_t d) {
  if (d == 0) return 0;
  unsigned bin = 0;
  for (long double limit = 1; bin + 1 < bins; ++bin) {
    limit = std::exp2((static_cast<long double>(bin) + 1) / 8);
    if (static_cast<long double>(d) < limit) break;
  }
  return bin;
}

// `region_of_rank` may be empty.
inline CallDensity by_hand(const std::vector<Call>& calls, unsigned inside_shift, unsigned calls_shift,
                           const std::vector<std::int32_t>& region_of_rank = {}) {
  std::map<std::tuple<std::int32_t, std::uint16_t, std::uint32_t>, std::uint64_t> inside;
  std::map<std::tuple<std::uint16_t, std::uint32_t, std::uint16_t>, std::pair<std::uint64_t, std::uint64_t>> counts;
  for (const Call& c : calls) {
    const auto r = static_cast<std::size_t>(c.rank);
    const std::int32_t region = r < region_of_rank.size() ? region_of_rank[r] : -1;
    const std::int64_t width = std::int64_t{1} << inside_shift, slice = std::int64_t{1} << calls_shift;
    for (std::int64_t at = c.begin; at < c.end;) {
      const std::int64_t next = std::min(c.end, (at / width + 1) * width);
      inside[{region, c.function, static_cast<std::uint32_t>(at / width)}] += static_cast<std::uint64_t>(next - at);
      at = next;
    }
    const auto bin = static_cast<std::uint16_t>(bin_by_powers(static_cast<std::uint64_t>(c.end - c.begin)));
    ++counts[{c.function, static_cast<std::uint32_t>(c.begin / slice), bin}].first;
    ++counts[{c.function, static_cast<std::uint32_t>(c.end / slice), bin}].second;
  }
  CallDensity d;
  d.inside_shift = static_cast<std::uint8_t>(inside_shift);
  d.calls_shift = static_cast<std::uint8_t>(calls_shift);
  for (const auto& [place, ns] : inside)
    d.inside.push_back({std::get<0>(place), std::get<1>(place), std::get<2>(place), ns});
  for (const auto& [place, n] : counts)
    d.calls.push_back({std::get<0>(place), std::get<1>(place), std::get<2>(place), n.first, n.second});
  return d;
}

struct Sums {
  std::uint64_t ns = 0, starts = 0, ends = 0;
  bool operator==(const Sums&) const = default;
};
inline std::map<std::uint16_t, Sums> sums_of(const CallDensity& d) {
  std::map<std::uint16_t, Sums> sums;
  for (const auto& i : d.inside) sums[i.function].ns += i.ns;
  for (const auto& c : d.calls) {
    sums[c.function].starts += c.starts;
    sums[c.function].ends += c.ends;
  }
  return sums;
}

}  // namespace pclscope::density::test
