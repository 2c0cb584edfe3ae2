#include "analysis/mapping/scotch.hpp"

#include <scotch.h>
#include <stdio_ext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <string>

#include "analysis/mapping/halving.hpp"
#include "analysis/mapping/search.hpp"

// In place of libscotcherr, which prints: errors come back as return values.
extern "C" {
void SCOTCH_errorProg(const char*) {}
void SCOTCH_errorPrint(const char*, ...) {}
void SCOTCH_errorPrintW(const char*, ...) {}
}

namespace pclscope::mapping {
namespace {

using Number = SCOTCH_Num;
constexpr double heaviest = 10000;              // loads are integers; sums must not overflow 32 bits
constexpr int fine = 4;                         // Scotch rounds mean distances: so much finer
constexpr std::int32_t most_decomposed = 2048;  // likewise
constexpr std::int32_t small_network =
    1024;  // Scotch's own way to halve a network needs the square of it; what it does with larger ones is slow

class Source {
 public:
  Source(const Instance& instance, std::uint64_t seed) {
    std::vector<double> loads = instance.weight;  // of a hop
    for (std::size_t k = 0; k < instance.far.size(); ++k) loads[k] += instance.far[k];
    double most = loads.empty() ? 1 : *std::max_element(loads.begin(), loads.end());
    if (!(most > 0)) most = 1;
    const double scale =
        std::min(heaviest, 1e9 / std::max<double>(1, static_cast<double>(instance.weight.size()))) / most;
    first_.assign(instance.first.begin(), instance.first.end());
    partner_.assign(instance.partner.begin(), instance.partner.end());
    for (const double weight : loads)
      load_.push_back(std::max<Number>(1, static_cast<Number>(std::llround(std::max(weight, 0.0) * scale))));
    SCOTCH_contextInit(&context_);
    SCOTCH_graphInit(&graph_);
    SCOTCH_graphInit(&bound_);
    good_ = SCOTCH_graphBuild(&graph_, 0, instance.ranks, first_.data(), nullptr, nullptr, nullptr,
                              static_cast<Number>(partner_.size()), partner_.data(), load_.data()) == 0;
    // One thread: several give another result each time.
    good_ = good_ && SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMDETERMINISTIC, 1) == 0 &&
            SCOTCH_contextThreadSpawn(&context_, 1, nullptr) == 0 && SCOTCH_contextRandomClone(&context_) == 0;
    if (!good_) return;
    SCOTCH_contextRandomSeed(&context_, static_cast<Number>(seed % 1000000 + 1));
    SCOTCH_contextRandomReset(&context_);
    good_ = SCOTCH_contextBindGraph(&context_, &graph_, &bound_) == 0;
  }
  ~Source() {
    SCOTCH_graphExit(&bound_);
    SCOTCH_graphExit(&graph_);
    SCOTCH_contextExit(&context_);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  SCOTCH_Graph* graph() { return good_ ? &bound_ : nullptr; }

 private:
  std::vector<Number> first_, partner_, load_;
  SCOTCH_Context context_;
  SCOTCH_Graph graph_, bound_;
  bool good_ = false;
};

// What Scotch maps to. Its terminal numbers become sites with site_of().
class Target {
 public:
  Target() { SCOTCH_archInit(&arch_); }
  ~Target() {
    SCOTCH_archExit(&arch_);
    if (networked_) SCOTCH_graphExit(&network_);
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  bool build(const Instance& instance, const Topology& topology, Random& random, bool first) {
    if (instance.uniform) {
      std::vector<Number> capacity;
      for (std::int32_t site = 0; site < instance.sites; ++site) capacity.push_back(instance.capacity(site));
      return SCOTCH_archCmpltw(&arch_, instance.sites, capacity.data()) == 0;
    }
    if (instance.grid.extents.empty())
      return first && topology.vertices() <= small_network ? build_network(instance, topology) : build_chain(instance);
    if (first || random.below(3) == 0 || instance.sites > most_decomposed)
      return build_grid(instance.grid, random, first);
    return build_halves(instance, random);
  }

  SCOTCH_Arch* arch() { return &arch_; }
  std::int32_t site_of(Number terminal) const {
    if (chained_) return list_[static_cast<std::size_t>(terminal)];
    if (!grid_) return static_cast<std::int32_t>(terminal);
    std::int32_t site = 0;
    for (const std::size_t d : order_) {
      site += static_cast<std::int32_t>(terminal % grid_->extents[d]) * grid_->strides[d];
      terminal /= grid_->extents[d];
    }
    return site;
  }

 private:
  // Scotch's vertex numbers run with the first dimension fastest.
  bool build_grid(const Grid& grid, Random& random, bool first) {
    grid_ = &grid;
    order_.resize(grid.extents.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::reverse(order_.begin(), order_.end());
    for (std::size_t k = order_.size(); !first && k > 1; --k)
      std::swap(order_[k - 1], order_[random.below(static_cast<std::uint32_t>(k))]);
    std::vector<Number> extents;
    for (const std::size_t d : order_) extents.push_back(grid.extents[d]);
    const bool wraps = std::find(grid.wraps.begin(), grid.wraps.end(), true) != grid.wraps.end();
    const auto count = static_cast<Number>(extents.size());
    return (wraps ? SCOTCH_archTorusX(&arch_, count, extents.data())
                  : SCOTCH_archMeshX(&arch_, count, extents.data())) == 0;
  }

  // The grid halved again and again, in an order of our choice: what Scotch finds depends much on it. Every other time
  // one dimension is used up before the next begins.
  bool build_halves(const Instance& instance, Random& random) {
    const Grid& grid = instance.grid;
    std::vector<std::size_t> halving;
    for (std::size_t d = 0; d < grid.extents.size(); ++d)
      for (std::int32_t length = grid.extents[d]; length > 1; length = (length + 1) / 2) halving.push_back(d);
    for (std::size_t k = halving.size(); k > 1; --k)
      std::swap(halving[k - 1], halving[random.below(static_cast<std::uint32_t>(k))]);
    if (random.below(2) == 0) use_up(halving);
    return build_decomposition(instance, halve_grid(grid, instance.sites, halving));
  }

  // Without a grid. Larger networks: only which sites are near each other counts, not how near.
  bool build_chain(const Instance& instance) {
    list_ = chain_of(instance);
    if (instance.sites <= most_decomposed) return build_decomposition(instance, halve_chain(instance, list_));
    chained_ = true;
    std::vector<Number> capacity;
    for (const std::int32_t site : list_) capacity.push_back(instance.capacity(site));
    return SCOTCH_archCmpltw(&arch_, instance.sites, capacity.data()) == 0;
  }

  bool build_decomposition(const Instance& instance, const Domains& domains) {
    std::string text = decomposition(instance, domains, fine);
    std::FILE* file = ::fmemopen(text.data(), text.size(), "r");
    if (file == nullptr) return false;
    ::__fsetlocking(file, FSETLOCKING_BYCALLER);  // it is read character by character
    const bool good = SCOTCH_archLoad(&arch_, file) == 0;
    std::fclose(file);
    return good;
  }

  // In the order in which the dimensions first appear.
  static void use_up(std::vector<std::size_t>& halving) {
    std::vector<std::size_t> sorted;
    for (const std::size_t d : halving)
      if (std::find(sorted.begin(), sorted.end(), d) == sorted.end())
        sorted.insert(sorted.end(), static_cast<std::size_t>(std::count(halving.begin(), halving.end(), d)), d);
    halving = sorted;
  }

  bool build_network(const Instance& instance, const Topology& topology) {
    for (std::int32_t vertex = 0; vertex < topology.vertices(); ++vertex) {
      first_.push_back(static_cast<Number>(next_.size()));
      for (const std::int32_t next : topology.neighbours(vertex)) next_.push_back(next);
    }
    first_.push_back(static_cast<Number>(next_.size()));
    list_.assign(instance.node.begin(), instance.node.end());
    SCOTCH_graphInit(&network_);
    networked_ = true;
    if (SCOTCH_graphBuild(&network_, 0, topology.vertices(), first_.data(), nullptr, nullptr, nullptr,
                          static_cast<Number>(next_.size()), next_.data(), nullptr) != 0)
      return false;
    SCOTCH_Strat strategy;
    SCOTCH_stratInit(&strategy);
    const bool good =
        SCOTCH_archBuild(&arch_, &network_, static_cast<Number>(list_.size()), list_.data(), &strategy) == 0;
    SCOTCH_stratExit(&strategy);
    return good;
  }

  SCOTCH_Arch arch_;
  SCOTCH_Graph network_;
  bool networked_ = false, chained_ = false;
  std::vector<Number> first_, next_, list_;
  const Grid* grid_ = nullptr;
  std::vector<std::size_t> order_;
};

// By turns Scotch's default and its careful way.
std::vector<std::int32_t> map_once(const Instance& instance, Target& target, std::uint64_t seed) {
  Source source(instance, seed);
  if (source.graph() == nullptr) return {};
  SCOTCH_Strat strategy;
  SCOTCH_stratInit(&strategy);
  bool good = seed % 2 == 0 || SCOTCH_stratGraphMapBuild(&strategy, SCOTCH_STRATQUALITY, instance.sites, 0.01) == 0;
  std::vector<Number> terminal(static_cast<std::size_t>(instance.ranks));
  good = good && SCOTCH_graphMap(source.graph(), target.arch(), &strategy, terminal.data()) == 0;
  SCOTCH_stratExit(&strategy);
  std::vector<std::int32_t> sites;
  for (const Number at : terminal) {
    if (!good || at < 0 || at >= instance.sites) return {};
    sites.push_back(target.site_of(at));
  }
  return sites;
}

}  // namespace

std::vector<std::vector<std::int32_t>> scotch_starts(const Instance& instance, const Topology& topology,
                                                     std::uint64_t seed, int count) {
  static std::mutex one_at_a_time;  // its random state is global
  const std::lock_guard lock(one_at_a_time);
  std::vector<std::vector<std::int32_t>> starts;
  if (instance.partner.empty() || instance.sites < 2) return starts;
  Random random(seed);
  SCOTCH_randomSeed(static_cast<Number>(seed % 1000000 + 1));
  SCOTCH_randomReset();
  Target target;
  if (!target.build(instance, topology, random, seed == 0)) return starts;
  for (int k = 0; k < count && !instance.is_ended(); ++k) {
    std::vector<std::int32_t> sites = map_once(instance, target, seed * 64 + static_cast<std::uint64_t>(k));
    if (!sites.empty()) starts.push_back(std::move(sites));
  }
  return starts;
}

}  // namespace pclscope::mapping
