#include "analysis/mapping/distance_rows.hpp"

#include <algorithm>
#include <numeric>

#include "analysis/mapping/index.hpp"

namespace pclscope::mapping {
namespace {

std::uint64_t next_identity() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

DistanceRows::DistanceRows(const Links& links, std::int32_t vertices)
    : inner_of_(at(vertices), -1), extra_(at(vertices), 0), identity_(next_identity()) {
  for (std::int32_t v = 0; v < vertices; ++v) {
    const auto around = links.of(v);
    extra_[at(v)] = around.size() == 1 && links.of(around[0]).size() > 1;
    if (!extra_[at(v)]) inner_of_[at(v)] = inner_count_++;
  }
  for (std::int32_t v = 0; v < vertices; ++v) {
    if (extra_[at(v)]) inner_of_[at(v)] = inner_of_[at(links.of(v)[0])];
  }
  inner_.start.push_back(0);
  for (std::int32_t v = 0; v < vertices; ++v) {
    if (extra_[at(v)]) continue;
    for (const std::int32_t other : links.of(v)) {
      if (!extra_[at(other)]) inner_.neighbours.push_back(inner_of_[at(other)]);
    }
    inner_.start.push_back(inner_.neighbours.size());
  }
  most_rows_ = budget / (sizeof(std::int32_t) * std::max<std::size_t>(1, at(inner_count_)));
  rows_ = std::make_unique<std::atomic<Row*>[]>(at(inner_count_));
  for (std::int32_t i = 0; i < inner_count_; ++i) rows_[at(i)].store(nullptr, std::memory_order_relaxed);
}

DistanceRows::~DistanceRows() {
  for (std::int32_t i = 0; i < inner_count_; ++i) delete rows_[at(i)].load();
}

void DistanceRows::search(std::int32_t inner, Row& row) const {
  row.assign(at(inner_count_), -1);
  std::vector<std::int32_t> queue{inner};
  queue.reserve(at(inner_count_));
  row[at(inner)] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    for (const std::int32_t next : inner_.of(queue[head])) {
      if (row[at(next)] >= 0) continue;
      row[at(next)] = row[at(queue[head])] + 1;
      queue.push_back(next);
    }
  }
}

const DistanceRows::Row& DistanceRows::row(std::int32_t inner) const {
  if (const Row* kept = rows_[at(inner)].load(std::memory_order_acquire)) return *kept;
  thread_local Row own;
  thread_local std::pair<std::uint64_t, std::int32_t> own_of{0, -1};
  if (own_of != std::pair(identity_, inner)) {
    search(inner, own);
    own_of = {identity_, inner};
  }
  if (kept_.load(std::memory_order_relaxed) >= most_rows_) return own;
  auto made = std::make_unique<Row>(own);
  Row* expected = nullptr;
  if (!rows_[at(inner)].compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) return *expected;
  kept_.fetch_add(1, std::memory_order_relaxed);
  return *made.release();
}

std::int32_t DistanceRows::hops(std::int32_t from, std::int32_t to) const {
  if (from == to) return 0;
  const std::int32_t a = inner_of_[at(from)], b = inner_of_[at(to)], extra = extra_[at(from)] + extra_[at(to)];
  if (a == b) return extra;
  if (const Row* other = rows_[at(b)].load(std::memory_order_acquire)) return (*other)[at(a)] + extra;
  return row(a)[at(b)] + extra;
}

std::int32_t DistanceRows::eccentricity(std::int32_t vertex, std::int32_t nodes, Row& row) const {
  search(inner_of_[at(vertex)], row);
  std::int32_t most = 0;
  for (std::int32_t v = 0; v < nodes; ++v) {
    if (v != vertex) most = std::max(most, row[at(inner_of_[at(v)])] + extra_[at(v)] + extra_[at(vertex)]);
  }
  return most;
}

// From the nodes farthest from a middle one inwards, until none further in can be in a longer pair (iFUB: Crescenzi et
// al., "On computing the diameter of real-world undirected graphs", 2013): exact, and mostly a few searches.
std::int32_t DistanceRows::diameter(std::int32_t nodes) const {
  Row row, level(at(nodes));
  const auto levels_from = [&](std::int32_t vertex) {
    eccentricity(vertex, nodes, row);
    for (std::int32_t v = 0; v < nodes; ++v) {
      level[at(v)] = v == vertex ? 0 : row[at(inner_of_[at(v)])] + extra_[at(v)] + extra_[at(vertex)];
    }
  };
  levels_from(0);
  const auto far = static_cast<std::int32_t>(std::max_element(level.begin(), level.end()) - level.begin());
  levels_from(far);
  const std::int32_t longest = *std::max_element(level.begin(), level.end());
  const auto middle = std::find_if(level.begin(), level.end(),
                                   [&](std::int32_t l) { return 2 * l >= longest && 2 * l <= longest + 2; });
  levels_from(middle == level.end() ? far : static_cast<std::int32_t>(middle - level.begin()));
  std::vector<std::int32_t> order(at(nodes));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return level[at(a)] > level[at(b)]; });
  std::int32_t best = longest;
  std::vector<bool> asked(at(inner_count_));  // nodes at one switch are equally far from everything
  for (const std::int32_t v : order) {
    if (2 * level[at(v)] <= best) break;
    const std::size_t place = at(inner_of_[at(v)]);
    if (extra_[at(v)] && asked[place]) continue;
    if (extra_[at(v)]) asked[place] = true;
    best = std::max(best, eccentricity(v, nodes, row));
  }
  return best;
}

}  // namespace pclscope::mapping
