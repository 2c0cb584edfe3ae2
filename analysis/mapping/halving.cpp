#include "analysis/mapping/halving.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <numeric>

namespace pclscope::mapping {
namespace {

constexpr std::int32_t off_middle = 8;  // a cut may lie that part of the length away from it

// Cuts [begin, end) of the chain; each half must fit into the levels that are left.
class ChainHalves {
 public:
  ChainHalves(const Instance& instance, const std::vector<std::int32_t>& chain)
      : instance_(instance), chain_(chain), domains_(chain.size(), 1) {}

  Domains run() {
    const auto sites = static_cast<std::uint32_t>(chain_.size());
    cut(0, static_cast<std::int32_t>(sites), 1, static_cast<std::int32_t>(std::bit_ceil(std::max(sites, 1U))));
    return std::move(domains_);
  }

 private:
  void cut(std::int32_t begin, std::int32_t end, std::int32_t domain, std::int32_t room) {
    const std::int32_t length = end - begin;
    if (length == 1) {
      domains_[chain_[begin]] = domain;
      return;
    }
    room /= 2;
    const std::int32_t middle = begin + length / 2, reach = length / off_middle;
    const std::int32_t first = std::max({begin + 1, end - room, middle - reach}),
                       last = std::min({end - 1, begin + room, middle + reach});
    std::int32_t best = std::clamp(middle, first, std::max(first, last));
    for (std::int32_t at = first; at <= last; ++at) {
      const std::int32_t gap = gap_before(at), widest = gap_before(best);
      if (gap > widest || (gap == widest && std::abs(at - middle) < std::abs(best - middle))) best = at;
    }
    cut(begin, best, 2 * domain, room);
    cut(best, end, 2 * domain + 1, room);
  }
  std::int32_t gap_before(std::int32_t at) const { return instance_.row(chain_[at - 1])[chain_[at]]; }

  const Instance& instance_;
  const std::vector<std::int32_t>& chain_;
  Domains domains_;
};

// The domain of one site of a grid.
std::int32_t domain_of(const Grid& grid, std::int32_t site, const std::vector<std::size_t>& halving) {
  std::vector<std::int32_t> begin(grid.extents.size(), 0), length = grid.extents;
  std::int32_t domain = 1;
  for (const std::size_t d : halving) {
    if (length[d] == 1) continue;
    const std::int32_t half = (length[d] + 1) / 2;
    const bool upper = grid.coordinate(site, d) - begin[d] >= half;
    domain = 2 * domain + (upper ? 1 : 0);
    if (upper) begin[d] += half;
    length[d] = upper ? length[d] - half : half;
  }
  return domain;
}

}  // namespace

Domains halve_grid(const Grid& grid, std::int32_t sites, const std::vector<std::size_t>& halving) {
  Domains domains;
  for (std::int32_t site = 0; site < sites; ++site) domains.push_back(domain_of(grid, site, halving));
  return domains;
}

std::vector<std::int32_t> chain_of(const Instance& instance) {
  std::vector<std::int32_t> chain, left(static_cast<std::size_t>(instance.sites));
  std::iota(left.begin(), left.end(), 0);
  for (std::int32_t at = 0; !left.empty();) {
    chain.push_back(left[static_cast<std::size_t>(at)]);
    left.erase(left.begin() + at);
    const std::uint16_t* row = instance.row(chain.back());
    // Of equally near ones the next number: numbers mostly follow the network.
    const auto ahead = [&](std::int32_t site) { return (site - chain.back() + instance.sites) % instance.sites; };
    const auto nearest = std::min_element(left.begin(), left.end(), [&](std::int32_t a, std::int32_t b) {
      return row[a] != row[b] ? row[a] < row[b] : ahead(a) < ahead(b);
    });
    at = static_cast<std::int32_t>(nearest - left.begin());
  }
  return chain;
}

Domains halve_chain(const Instance& instance, const std::vector<std::int32_t>& chain) {
  return ChainHalves(instance, chain).run();
}

std::string decomposition(const Instance& instance, const Domains& domains, int fine) {
  std::string text = "deco\n0\n" + std::to_string(instance.sites) + " ";
  text += std::to_string(*std::max_element(domains.begin(), domains.end())) + "\n";
  for (std::int32_t site = 0; site < instance.sites; ++site)
    text += std::to_string(site) + " " + std::to_string(instance.capacity(site)) + " " +
            std::to_string(domains[static_cast<std::size_t>(site)]) + "\n";
  for (std::int32_t site = 1; site < instance.sites; ++site) {
    for (std::int32_t other = 0; other < site; ++other) {
      char digits[12];
      text.append(digits, std::to_chars(digits, digits + sizeof digits, fine * instance.row(site)[other]).ptr);
      text += ' ';
    }
    text += '\n';
  }
  return text;
}

}  // namespace pclscope::mapping
