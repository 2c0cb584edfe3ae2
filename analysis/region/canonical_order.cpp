#include "analysis/region/canonical_order.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "analysis/values/splitmix.hpp"

namespace pclscope {

namespace {

std::uint64_t mixed(double weight) { return splitmix(std::bit_cast<std::uint64_t>(weight) + splitmix_step); }

// A class is a range of order_, named by where it begins. Everything that decides (places of classes, signatures,
// the order of the queue) is independent of the ranks' numbers.
class Refinement {
 public:
  explicit Refinement(const CommunicationGraph& graph)
      : graph_(graph),
        n_(graph.ranks()),
        order_(static_cast<std::size_t>(n_)),
        place_(order_.size()),
        class_(order_.size(), 0),
        length_(order_.size(), 0),
        queued_(order_.size(), false),
        signature_(order_.size(), 0) {
    std::iota(order_.begin(), order_.end(), 0);
    place_ = order_;
    if (n_ > 0) length_[0] = n_;
    classes_ = n_ > 0;
  }

  std::vector<std::int32_t> run() {
    if (n_ > 0) enqueue(0);
    drain();
    for (std::int32_t first = 0; first < n_;) {
      if (length_[first] == 1) {
        ++first;
        continue;
      }
      set_apart(first);
      drain();
    }
    return order_;
  }

 private:
  void enqueue(std::int32_t first) {
    if (queued_[first]) return;
    queued_[first] = true;
    queue_.push_back(first);
  }

  void drain() {
    while (next_ < queue_.size() && classes_ < n_) {
      const std::int32_t first = queue_[next_++];
      queued_[first] = false;
      split_by(first);
    }
    queue_.clear();
    next_ = 0;
  }

  // Splits all classes by the weights of their members' edges to the class at `first`.
  void split_by(std::int32_t first) {
    const std::vector<std::int32_t> splitter(order_.begin() + first, order_.begin() + first + length_[first]);
    touched_.clear();
    for (const std::int32_t rank : splitter)
      for (const CommunicationGraph::Neighbour& n : graph_.neighbours(rank)) {
        if (length_[class_[n.rank]] == 1) continue;
        if (signature_[n.rank] == 0) touched_.push_back(n.rank);
        signature_[n.rank] += mixed(n.weight);
      }
    std::sort(touched_.begin(), touched_.end(), [&](std::int32_t a, std::int32_t b) {
      return class_[a] != class_[b] ? class_[a] < class_[b] : signature_[a] < signature_[b];
    });
    for (std::size_t begin = 0, end = 0; begin < touched_.size(); begin = end) {
      const std::int32_t of = class_[touched_[begin]];
      while (end < touched_.size() && class_[touched_[end]] == of) ++end;
      split(of, begin, end);
    }
    for (const std::int32_t rank : touched_) signature_[rank] = 0;
  }

  // touched_[begin, end), sorted by signature, goes to the end of its class and falls apart there.
  void split(std::int32_t first, std::size_t begin, std::size_t end) {
    const std::int32_t length = length_[first], last = first + length;
    const auto count = static_cast<std::int32_t>(end - begin);
    if (count == length && signature_[touched_[begin]] == signature_[touched_[end - 1]]) return;
    for (std::int32_t k = 0; k < count; ++k) put(touched_[end - 1 - static_cast<std::size_t>(k)], last - 1 - k);
    pieces_.clear();
    if (count < length) pieces_.push_back(first);
    for (std::int32_t at = last - count; at < last; ++at)
      if (at == last - count || signature_[order_[at]] != signature_[order_[at - 1]]) pieces_.push_back(at);
    std::int32_t largest = first;
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      const std::int32_t from = pieces_[p], to = p + 1 < pieces_.size() ? pieces_[p + 1] : last;
      length_[from] = to - from;
      for (std::int32_t at = from; at < to && from != first; ++at) class_[order_[at]] = from;
      if (length_[from] > length_[largest]) largest = from;
    }
    classes_ += static_cast<std::int32_t>(pieces_.size()) - 1;
    const bool waiting = queued_[first];
    for (const std::int32_t piece : pieces_)
      if (waiting || piece != largest) enqueue(piece);
  }

  void put(std::int32_t rank, std::int32_t at) {
    const std::int32_t other = order_[at], from = place_[rank];
    order_[at] = rank;
    order_[from] = other;
    place_[rank] = at;
    place_[other] = from;
  }

  // The largest rank of a class becomes a class of its own, behind the rest.
  void set_apart(std::int32_t first) {
    const std::int32_t last = first + --length_[first];
    if (first != sorted_begin_ || last + 1 != sorted_end_) {
      std::sort(order_.begin() + first, order_.begin() + last + 1);
      for (std::int32_t at = first; at <= last; ++at) place_[order_[at]] = at;
    }
    sorted_begin_ = first;  // still sorted when the class is the same next time
    sorted_end_ = last;
    length_[last] = 1;
    class_[order_[last]] = last;
    ++classes_;
    enqueue(last);
  }

  const CommunicationGraph& graph_;
  std::int32_t n_;
  std::vector<std::int32_t> order_, place_;  // place_[order_[i]] == i
  std::vector<std::int32_t> class_;          // of each rank
  std::vector<std::int32_t> length_;         // of the class that begins here
  std::vector<bool> queued_;
  std::vector<std::uint64_t> signature_;  // 0 outside split_by
  std::vector<std::int32_t> touched_, pieces_, queue_;
  std::size_t next_ = 0;
  std::int32_t classes_ = 0, sorted_begin_ = -1, sorted_end_ = -1;
};

}  // namespace

std::vector<std::int32_t> canonical_order(const CommunicationGraph& graph) { return Refinement(graph).run(); }

}  // namespace pclscope
