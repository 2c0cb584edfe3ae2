#include "analysis/region/linkage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pclscope {

namespace {

using Fixed = std::int32_t;
constexpr Fixed largest = 1 << 30;                         // the largest distance
constexpr Fixed gone = std::numeric_limits<Fixed>::max();  // no distance: the diagonal, clusters merged away
constexpr std::size_t block = 256;                         // entries whose minimum is looked for at a time

// 0 when none is above. In eight lanes: one after the other would take longer than all merges.
double largest_finite(std::span<const double> values) {
  constexpr std::size_t lanes = 8;
  double most[lanes] = {};
  const auto take = [](double most_so_far, double d) {
    const double usable = d <= std::numeric_limits<double>::max() ? d : 0;
    return usable > most_so_far ? usable : most_so_far;
  };
  std::size_t i = 0;
  for (; i + lanes <= values.size(); i += lanes)
    for (std::size_t k = 0; k < lanes; ++k) most[k] = take(most[k], values[i + k]);
  for (; i < values.size(); ++i) most[0] = take(most[0], values[i]);
  return *std::max_element(most, most + lanes);
}

// Symmetric distances between the clusters that are left, in slots. A cluster lives in the smaller of the slots that
// it was made of. When a quarter of the slots is empty the table is made anew without them.
class Table {
 public:
  Table(const Eigen::MatrixXd& distance, Linkage rule, std::span<const double> size)
      : rule_(rule), slots_(static_cast<std::size_t>(distance.rows())), left_(slots_), name_(slots_), size_(slots_, 1) {
    std::iota(name_.begin(), name_.end(), 0);
    if (!size.empty()) size_.assign(size.begin(), size.end());
    const double most = largest_finite({distance.data(), static_cast<std::size_t>(distance.size())});
    unit_ = std::max(most, std::numeric_limits<double>::min() * largest) / largest;
    const double scale = 1 / unit_;
    stride_ = padded(slots_);
    cell_.resize(slots_ * stride_);
    for (std::size_t i = 0; i < slots_; ++i) {
      const double* column = distance.col(static_cast<Eigen::Index>(i)).data();
      Fixed* const to = row(i);
      for (std::size_t j = 0; j < slots_; ++j) {
        const double d = column[j] < most ? column[j] : most;  // also of NaN
        to[j] = static_cast<Fixed>(std::max(d, 0.0) * scale + 0.5);
      }
      to[i] = gone;
    }
  }

  std::size_t slots() const { return slots_; }
  std::size_t clusters() const { return left_; }
  std::int32_t name(std::size_t slot) const { return name_[slot]; }
  double height(std::size_t a, std::size_t b) const { return row(a)[b] * unit_; }
  bool empty(std::size_t slot) const { return name_[slot] < 0; }

  // The nearest cluster; `before` wins a tie (or a chain would not end), then the smallest slot.
  std::size_t nearest(std::size_t slot, std::size_t before) const {
    const Fixed* const r = row(slot);
    Fixed least = gone;
    std::size_t where = 0;
    for (std::size_t begin = 0; begin < slots_; begin += block) {
      const std::size_t end = std::min(begin + block, slots_);
      Fixed in_block = gone;
      for (std::size_t i = begin; i < end; ++i) in_block = std::min(in_block, r[i]);
      if (in_block < least) least = in_block, where = begin;
    }
    if (before < slots_ && r[before] == least) return before;
    while (r[where] != least) ++where;
    return where;
  }

  void join(std::size_t kept, std::size_t merged) {
    Fixed* const a = row(kept);
    Fixed* const b = row(merged);
    const double of_a = size_[kept] / (size_[kept] + size_[merged]), of_b = 1 - of_a;
    if (rule_ == Linkage::average)
      for (std::size_t i = 0; i < slots_; ++i) a[i] = mean(a[i], b[i], of_a, of_b);
    else
      for (std::size_t i = 0; i < slots_; ++i)
        a[i] = std::max(a[i], b[i]) == gone ? gone
               : rule_ == Linkage::single   ? std::min(a[i], b[i])
                                            : std::max(a[i], b[i]);
    a[kept] = a[merged] = gone;
    for (std::size_t i = 0; i < slots_; ++i) {
      if (a[i] == gone) continue;
      Fixed* const other = row(i);
      other[kept] = a[i];
      other[merged] = gone;
    }
    std::fill_n(b, slots_, gone);
    size_[kept] += size_[merged];
    name_[merged] = -1;
    --left_;
  }

  // Leaves the empty slots out; the others keep their order.
  void compact() {
    std::vector<std::size_t> from;
    for (std::size_t slot = 0; slot < slots_; ++slot)
      if (!empty(slot)) from.push_back(slot);
    const std::size_t stride = padded(from.size());
    for (std::size_t r = 0; r < from.size(); ++r) {
      const Fixed* const source = row(from[r]);
      Fixed* const to = cell_.data() + r * stride;  // never ahead of what is still to be read
      for (std::size_t c = 0; c < from.size(); ++c) to[c] = source[from[c]];
    }
    stride_ = stride;
    for (std::size_t i = 0; i < from.size(); ++i) name_[i] = name_[from[i]], size_[i] = size_[from[i]];
    slots_ = from.size();
    name_.resize(slots_);
  }

 private:
  // An odd number of cache lines: columns are written down, and must not all fall into one set of the cache.
  static std::size_t padded(std::size_t slots) { return ((slots + 15) / 16 | 1) * 16; }
  Fixed* row(std::size_t slot) { return cell_.data() + slot * stride_; }
  const Fixed* row(std::size_t slot) const { return cell_.data() + slot * stride_; }
  static Fixed mean(Fixed a, Fixed b, double of_a, double of_b) {
    const auto m = static_cast<Fixed>(of_a * a + of_b * b + 0.5);
    return std::max(a, b) == gone ? gone : m;
  }

  Linkage rule_;
  std::size_t slots_, left_;
  std::vector<std::int32_t> name_;  // the smallest leaf, -1: empty
  std::vector<double> size_;
  std::vector<Fixed> cell_;  // slots x stride
  std::size_t stride_ = 0;
  double unit_ = 1;
};

// Merges in the order in which the chain finds them, each cluster named by its smallest leaf.
std::vector<Merge> chain_merges(Table& table) {
  std::vector<Merge> merges;
  std::vector<std::size_t> chain;
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  while (table.clusters() > 1) {
    if (chain.empty()) {
      if (table.clusters() * 4 <= table.slots() * 3) table.compact();
      std::size_t first = 0;
      while (table.empty(first)) ++first;
      chain.push_back(first);
    }
    const std::size_t tip = chain.back(), before = chain.size() > 1 ? chain[chain.size() - 2] : none;
    const std::size_t next = table.nearest(tip, before);
    if (next != before) {
      chain.push_back(next);
      continue;
    }
    chain.resize(chain.size() - 2);
    const std::size_t kept = std::min(tip, before), merged = std::max(tip, before);
    merges.push_back({table.name(kept), table.name(merged), table.height(kept, merged)});
    table.join(kept, merged);
  }
  return merges;
}

}  // namespace

std::vector<Merge> link_clusters(const Eigen::MatrixXd& distance, Linkage rule, std::span<const double> size) {
  const auto n = static_cast<std::int32_t>(distance.rows());
  if (n < 2) return {};
  Table table(distance, rule, size);
  std::vector<Merge> found = chain_merges(table);
  // A cluster is made before it is merged on, so a stable sort keeps children before parents.
  std::vector<double> height_of(static_cast<std::size_t>(n), 0.0);
  for (Merge& m : found) {
    m.height = std::max({m.height, height_of[m.left], height_of[m.right]});
    height_of[m.left] = m.height;
  }
  std::stable_sort(found.begin(), found.end(), [](const Merge& x, const Merge& y) { return x.height < y.height; });
  std::vector<std::int32_t> cluster(static_cast<std::size_t>(n));  // of the smallest leaf
  std::iota(cluster.begin(), cluster.end(), 0);
  for (std::int32_t k = 0; k < n - 1; ++k) {
    Merge& m = found[k];
    const std::int32_t leaf = m.left;
    m.left = cluster[m.left];
    m.right = cluster[m.right];
    cluster[leaf] = n + k;
  }
  return found;
}

std::vector<std::int32_t> cut_after(std::int32_t leaves, std::span<const Merge> merges) {
  const auto n = static_cast<std::size_t>(leaves);
  std::vector<std::int32_t> top(n + merges.size());  // the cluster above, or itself
  std::iota(top.begin(), top.end(), 0);
  for (std::size_t k = 0; k < merges.size(); ++k)
    top[merges[k].left] = top[merges[k].right] = static_cast<std::int32_t>(n + k);
  // Parents have larger numbers than their children.
  for (std::size_t c = top.size(); c-- > 0;) top[c] = top[top[c]];
  std::vector<std::int32_t> number(top.size(), -1), label(n);
  std::int32_t count = 0;
  for (std::size_t leaf = 0; leaf < n; ++leaf) {
    std::int32_t& mine = number[top[leaf]];
    if (mine < 0) mine = count++;
    label[leaf] = mine;
  }
  return label;
}

std::vector<std::int32_t> cut_at_height(std::int32_t leaves, std::span<const Merge> merges, double threshold) {
  std::size_t done = 0;
  while (done < merges.size() && merges[done].height <= threshold) ++done;
  return cut_after(leaves, merges.first(done));
}

}  // namespace pclscope
