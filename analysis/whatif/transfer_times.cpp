#include "analysis/whatif/transfer_times.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <vector>

#include "analysis/whatif/usual.hpp"

namespace pclscope::whatif {
namespace {

constexpr std::size_t most_unknowns = 3;
constexpr double factor_of_one_size = 4;  // sizes no further apart tell a latency, but no bandwidth

// Sizes of one bin differ by at most an eighth of an octave.
std::uint64_t size_bin(std::uint64_t bytes) {
  const auto octave = static_cast<std::uint32_t>(std::bit_width(bytes));
  return octave <= 3 ? bytes : 8ull * octave + ((bytes >> (octave - 4)) & 7);
}

std::uint64_t key_of(TransferTimes::Side side, std::int32_t hops, std::uint64_t bytes) {
  return (static_cast<std::uint64_t>(std::max(hops, 0)) << 12 | size_bin(bytes)) * 2 +
         (side == TransferTimes::Side::sender);
}

struct Typical {  // of one distance and size
  std::int32_t hops = 0;
  double bytes = 0, seconds = 0;
};

using Row = std::array<double, most_unknowns>;

// Least squares of relative errors over the unknowns in `chosen`; the sum of squares, and negative unknowns refused.
double solve(const std::vector<Row>& rows, unsigned chosen, Row& found) {
  std::array<std::array<double, most_unknowns + 1>, most_unknowns> m{};
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < most_unknowns; ++i)
    if (chosen >> i & 1) at.push_back(i);
  const std::size_t n = at.size();
  for (const Row& row : rows)
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) m[i][j] += row[at[i]] * row[at[j]];
      m[i][n] += row[at[i]];
    }
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t pivot = i;
    for (std::size_t k = i + 1; k < n; ++k)
      if (std::abs(m[k][i]) > std::abs(m[pivot][i])) pivot = k;
    const double before = m[pivot][i];
    if (!(std::abs(before) > 0)) return INFINITY;
    std::swap(m[i], m[pivot]);
    for (std::size_t k = 0; k < n; ++k) {
      if (k == i) continue;
      const double factor = m[k][i] / m[i][i];
      for (std::size_t j = i; j <= n; ++j) m[k][j] -= factor * m[i][j];
    }
  }
  found = {};
  for (std::size_t i = 0; i < n; ++i) {
    found[at[i]] = m[i][n] / m[i][i];
    if (!(found[at[i]] >= 0) || !std::isfinite(found[at[i]])) return INFINITY;
  }
  double squares = 0;
  for (const Row& row : rows) {
    double error = -1;
    for (std::size_t i = 0; i < most_unknowns; ++i) error += row[i] * found[i];
    squares += error * error;
  }
  return squares;
}

// Of `rows` (coefficients over the value: each sums to 1), without negative ones: the best of all choices of unknowns
// that are not zero.
Row least_squares(const std::vector<Row>& rows, unsigned unknowns) {
  Row best{};
  double least = INFINITY;
  for (unsigned chosen = 1; chosen < 1u << most_unknowns; ++chosen) {
    if ((chosen & ~unknowns) != 0) continue;
    Row found{};
    // One unknown more must be worth it: what is exact without it stays so.
    if (const double squares = solve(rows, chosen, found); squares < least * (1 - 1e-9) - 1e-18)
      least = squares, best = found;
  }
  return best;
}

}  // namespace

bool TransferTimes::Range::reaches(std::int32_t hops, std::uint64_t bytes) const {
  if (!any()) return false;
  if (least_hops == most_hops && hops != least_hops) return false;
  const auto least = static_cast<double>(least_bytes), most = static_cast<double>(most_bytes);
  const auto size = static_cast<double>(bytes);
  if (most < factor_of_one_size * least) return size <= 2 * most && 2 * size >= least;
  return size <= factor_of_one_size * most;
}

TransferTimes::TransferTimes(const LinkTimes& given) : given_(true), line_(given) {}

TransferTimes::TransferTimes(const Graph& graph, std::span<const Message> messages,
                             std::span<const std::int32_t> node_of_rank, const Hops& hops) {
  struct Bin {
    std::vector<std::int64_t> lags;
    double bytes = 0;
    std::uint64_t least = UINT64_MAX, most = 0;
    std::int32_t hops = 0;
    bool receiver = false;
  };
  std::map<std::uint64_t, Bin> bins;
  const auto node = [&](std::int32_t rank) {
    const auto i = static_cast<std::size_t>(rank);
    return rank >= 0 && i < node_of_rank.size() ? node_of_rank[i] : -1;
  };
  const auto add = [&](Side side, const Message& m, std::int64_t lag) {
    const std::int32_t from = node(m.source), to = node(m.destination);
    if (from < 0 || to < 0 || m.source == m.destination || lag < 0) return;
    const std::int32_t distance = from == to ? 0 : hops ? hops(from, to) : 1;
    Bin& bin = bins[key_of(side, distance, m.bytes)];
    bin.lags.push_back(lag);
    bin.bytes += static_cast<double>(m.bytes);
    bin.least = std::min(bin.least, m.bytes);
    bin.most = std::max(bin.most, m.bytes);
    bin.hops = distance;
    bin.receiver = side == Side::receiver;
  };
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (graph.transfers()[i].last) add(Side::receiver, messages[i], graph.transfers()[i].lag);
  for (std::uint32_t c = 0; c < graph.calls().size(); ++c)
    for (const Arrival& a : graph.arrivals(c))
      if (a.message != nobody && a.node != c && messages[a.message].source == graph.calls()[c].rank)
        add(Side::sender, messages[a.message], a.lag);

  std::vector<Row> inside, between;
  for (auto& [key, bin] : bins) {
    if (bin.lags.size() < enough_transfers) continue;
    const std::int64_t median = quantile(bin.lags, 0.5);
    medians_[key] = median;
    if (!bin.receiver) continue;
    Range& seen = bin.hops <= 0 ? inside_ : between_;
    seen.least_bytes = std::min(seen.least_bytes, bin.least);
    seen.most_bytes = std::max(seen.most_bytes, bin.most);
    seen.least_hops = std::min(seen.least_hops, bin.hops);
    seen.most_hops = std::max(seen.most_hops, bin.hops);
    const double seconds = static_cast<double>(std::max<std::int64_t>(median, 1)) * 1e-9;
    const double bytes = bin.bytes / static_cast<double>(bin.lags.size());
    if (bin.hops <= 0) inside.push_back({1 / seconds, bytes / seconds, 0});
    else between.push_back({1 / seconds, bytes / seconds, (bin.hops - 1) / seconds});
  }
  // A single size tells no bandwidth, a single distance nothing about others.
  const auto sizes = [](const Range& r) {
    return static_cast<double>(r.most_bytes) >= factor_of_one_size * static_cast<double>(r.least_bytes) ? 0b010u : 0u;
  };
  const Row in = least_squares(inside, 0b001u | sizes(inside_));
  const Row out =
      least_squares(between, 0b001u | sizes(between_) | (between_.least_hops < between_.most_hops ? 0b100u : 0u));
  line_ = {in[0], in[1], out[0], out[2], out[1]};
}

std::int64_t TransferTimes::of(Side side, std::int32_t hops, std::uint64_t bytes) const {
  for (const Side one : {side, Side::receiver})
    if (const auto it = medians_.find(key_of(one, hops, bytes)); it != medians_.end()) return it->second;
  if (!given_ && !range(hops).reaches(hops, bytes)) return -1;
  const double ns = 1e9 * line_.of(hops, 1, static_cast<double>(bytes));
  return ns < 1e18 ? std::llround(ns) : -1;
}

std::optional<LinkTimes> TransferTimes::fitted() const {
  if (!given_ && !(inside_.any() && between_.any())) return std::nullopt;
  return line_;
}

}  // namespace pclscope::whatif
