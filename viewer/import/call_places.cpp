#include "viewer/import/call_places.hpp"

#include <cstdlib>
#include <utility>

namespace pclscope::importing {
namespace {

// Without a line the file is a program or library. "lib.so+0x12ab" is a place in it that has no name.
void settle(CallSite& site) {
  if (site.line == 0 && !site.file.empty()) site.module = std::exchange(site.file, {});
  if (site.module.empty()) site.module = "trace";
  const auto plus = site.function.rfind("+0x");
  if (plus == std::string::npos || !site.module.ends_with(site.function.substr(0, plus))) return;
  char* end = nullptr;
  const std::string digits = site.function.substr(plus + 3);
  const std::uint64_t offset = std::strtoull(digits.c_str(), &end, 16);
  if (digits.empty() || *end != 0) return;
  site.offset = offset;
  site.function.clear();
}

}  // namespace

std::uint32_t CallPlaces::find(std::uint64_t kind, std::uint64_t where, const CallSite& site) {
  const auto [at, fresh] = ids_.try_emplace(kind << 62 | where, 0);
  if (!fresh || sites_.size() >= most_sites) return at->second;
  sites_.push_back(site);
  sites_.back().id = at->second = static_cast<std::uint32_t>(sites_.size());
  return at->second;
}

std::uint32_t CallPlaces::inside(std::uint32_t caller, std::uint32_t region) {
  CallSite site;
  site.caller = caller;
  if (const auto at = trace_.defined.regions.find(region); at != trace_.defined.regions.end()) {
    site.function = at->second.name;
    site.file = at->second.file;
    site.line = at->second.line;
  }
  settle(site);
  return find(0, std::uint64_t{caller} << 32 | region, site);
}

// A place of its own: a function calls MPI in several ways.
std::uint32_t CallPlaces::call_in(std::uint32_t place, std::uint16_t function) {
  if (place == 0 || place > sites_.size()) return 0;
  CallSite site = sites_[place - 1];
  site.mpi_function = function;
  return find(1, std::uint64_t{place} << 16 | function, site);
}

// Its callers come first: a caller's id is lower.
std::uint32_t CallPlaces::context(std::uint32_t reference) {
  std::vector<std::uint32_t> path;
  std::uint32_t caller = 0;
  for (std::uint32_t at = reference; at != undefined;) {
    if (const auto known = contexts_.find(at); known != contexts_.end()) {
      caller = known->second;
      break;
    }
    const auto context = trace_.defined.contexts.find(at);
    if (context == trace_.defined.contexts.end()) break;
    path.push_back(at);
    at = context->second.parent;
  }
  for (auto at = path.rbegin(); at != path.rend(); ++at) {
    const Definitions::Context& context = trace_.defined.contexts.at(*at);
    CallSite site;
    site.caller = caller;
    if (const auto region = trace_.defined.regions.find(context.region); region != trace_.defined.regions.end()) {
      site.function = region->second.name;
      site.file = region->second.file;
      site.line = region->second.line;
    }
    if (const auto place = trace_.defined.places.find(context.place); place != trace_.defined.places.end()) {
      site.file = place->second.file;
      site.line = place->second.line;
    }
    settle(site);
    caller = contexts_[*at] = find(2, *at, site);
  }
  return caller;
}

std::uint32_t CallPlaces::call_at(std::uint32_t reference, std::uint16_t function) {
  const std::uint32_t id = context(reference);
  if (id != 0 && sites_[id - 1].mpi_function == 0) sites_[id - 1].mpi_function = function;
  return id;
}

}  // namespace pclscope::importing
