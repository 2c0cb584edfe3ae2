#include "analysis/region/region_tree.hpp"

#include <algorithm>
#include <numeric>

namespace pclscope {

namespace {

using Labels = std::vector<std::int32_t>;

class RegionTree {
 public:
  RegionTree(const Eigen::MatrixXd& distance, std::span<const double> size,
             std::span<const std::int32_t> region_of_leaf)
      : distance_(distance), size_(size), label_(region_of_leaf) {
    members_.resize(static_cast<std::size_t>(*std::max_element(label_.begin(), label_.end())) + 1);
    for (std::size_t node = 0; node < label_.size(); ++node)
      members_[label_[node]].push_back(static_cast<std::int32_t>(node));
  }

  std::vector<Merge> build() {
    std::vector<std::int32_t> top;  // of each region
    std::vector<double> height, weight;
    for (const Labels& members : members_) {
      top.push_back(within(members));
      height.push_back(made_.empty() || top.back() < leaves() ? 0 : made_.back().height);
      weight.push_back(0);
      for (const std::int32_t node : members) weight.back() += size_[node];
    }
    append(link_clusters(between(weight), Linkage::average, weight), top, height);
    return sorted();
  }

 private:
  std::int32_t leaves() const { return static_cast<std::int32_t>(label_.size()); }

  // The region's cluster.
  std::int32_t within(const Labels& members) {
    const auto n = static_cast<Eigen::Index>(members.size());
    Eigen::MatrixXd part(n, n);
    std::vector<double> weight;
    for (Eigen::Index j = 0; j < n; ++j) {
      weight.push_back(size_[members[j]]);
      for (Eigen::Index i = 0; i < n; ++i) part(i, j) = distance_(members[i], members[j]);
    }
    append(link_clusters(part, Linkage::average, weight), members, std::vector<double>(members.size()));
    return n == 1 ? members.front() : leaves() + static_cast<std::int32_t>(made_.size()) - 1;
  }

  Eigen::MatrixXd between(const std::vector<double>& weight) const {
    const auto regions = static_cast<Eigen::Index>(members_.size());
    Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(regions, regions);
    for (std::int32_t j = 0; j < leaves(); ++j)
      for (std::int32_t i = 0; i < leaves(); ++i) mean(label_[i], label_[j]) += distance_(i, j) * size_[i] * size_[j];
    for (Eigen::Index j = 0; j < regions; ++j)
      for (Eigen::Index i = 0; i < regions; ++i) mean(i, j) /= weight[i] * weight[j];
    mean.diagonal().setZero();
    return mean;
  }

  // name[i], height[i]: cluster number of leaf i of `merges` in the whole tree, and how high it is.
  void append(const std::vector<Merge>& merges, std::vector<std::int32_t> name, std::vector<double> height) {
    for (const Merge& m : merges) {
      const double h = std::max({m.height, height[m.left], height[m.right]});
      made_.push_back({name[m.left], name[m.right], h});
      name.push_back(leaves() + static_cast<std::int32_t>(made_.size()) - 1);
      height.push_back(h);
    }
  }

  std::vector<Merge> sorted() const {
    Labels order(made_.size()), place(made_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return made_[a].height < made_[b].height; });
    for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<std::int32_t>(k);
    std::vector<Merge> merges;
    const auto renamed = [&](std::int32_t c) { return c < leaves() ? c : leaves() + place[c - leaves()]; };
    for (const std::int32_t k : order)
      merges.push_back({renamed(made_[k].left), renamed(made_[k].right), made_[k].height});
    return merges;
  }

  const Eigen::MatrixXd& distance_;
  std::span<const double> size_;
  std::span<const std::int32_t> label_;
  std::vector<Labels> members_;
  std::vector<Merge> made_;  // children before parents, not sorted by height
};

}  // namespace

std::vector<Merge> link_regions(const Eigen::MatrixXd& distance, std::span<const double> size,
                                std::span<const std::int32_t> region_of_leaf) {
  if (region_of_leaf.empty()) return {};
  return RegionTree(distance, size, region_of_leaf).build();
}

}  // namespace pclscope
