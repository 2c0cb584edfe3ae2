// Who talks to whom: an undirected graph of message counts between world ranks. A value, made from links and not
// changed afterwards; both directions of a pair are added up, messages of a rank to itself are left out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pclscope {

struct Link {
  std::int32_t a = 0;
  std::int32_t b = 0;
  double weight = 0;
};

class CommunicationGraph {
 public:
  struct Neighbour {
    std::int32_t rank;
    double weight;
  };

  CommunicationGraph() = default;
  // Links may repeat and come in any order and direction; ignored are ranks out of range and weights that are
  // not a number above zero; those beyond 1e-60..1e60 count as that.
  CommunicationGraph(std::int32_t ranks, std::span<const Link> links);

  std::int32_t ranks() const { return static_cast<std::int32_t>(first_.size()) - 1; }
  // Ascending ranks, weights > 0.
  std::span<const Neighbour> neighbours(std::int32_t rank) const {
    return {neighbours_.data() + first_[rank], neighbours_.data() + first_[rank + 1]};
  }
  std::size_t edges() const { return neighbours_.size() / 2; }
  double degree(std::int32_t rank) const { return degree_[rank]; }
  double total() const { return total_; }  // sum of degrees = twice the sum of weights

  // Ranks of each connected component with at least one edge, ascending; components by their smallest rank.
  std::vector<std::vector<std::int32_t>> components() const;
  // The graph of groups: group[i] in [0, groups) or -1; edges inside a group vanish.
  CommunicationGraph contracted(std::span<const std::int32_t> group, std::int32_t groups) const;

 private:
  void add_up_repeated();  // neighbours_ sorted by rank within each rank's part
  void sum_degrees();

  std::vector<std::size_t> first_ = {0};  // of each rank's neighbours; one more than ranks
  std::vector<Neighbour> neighbours_;
  std::vector<double> degree_;
  double total_ = 0;
};

}  // namespace pclscope
