// From where MPI was called, as a trace tells it: the functions that are entered, or a call path that stands beside the
// call. They become call sites.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/import/trace.hpp"

namespace pclscope::importing {

class CallPlaces {
 public:
  static constexpr std::size_t most_sites = 1'000'000;

  explicit CallPlaces(const Trace& trace) : trace_(trace) {}

  // A function that was called from `caller` (0: from none that is known). A site's id; 0: there are too many.
  std::uint32_t inside(std::uint32_t caller, std::uint32_t region);
  // Where `function` of MPI is called, in a function that inside() has named.
  std::uint32_t call_in(std::uint32_t place, std::uint16_t function);
  std::uint32_t call_at(std::uint32_t context, std::uint16_t function);

  const std::vector<CallSite>& sites() const { return sites_; }  // by id

 private:
  std::uint32_t find(std::uint64_t kind, std::uint64_t where, const CallSite& site);
  std::uint32_t context(std::uint32_t reference);
  const Trace& trace_;
  std::vector<CallSite> sites_;
  std::unordered_map<std::uint64_t, std::uint32_t> ids_;       // by caller and region, or place and MPI function
  std::unordered_map<std::uint32_t, std::uint32_t> contexts_;  // by reference
};

}  // namespace pclscope::importing
