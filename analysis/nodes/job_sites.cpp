#include "analysis/nodes/job_sites.hpp"

#include <algorithm>

#include "analysis/callsite/sites_in.hpp"

namespace pclscope::nodes {

void JobSites::add(const NodeSite& node_site) {
  const CallSite& told = node_site.site;
  if (node_site.id == 0) return;
  const std::uint32_t caller = id_of(told.caller);
  const auto [place, made] = by_place_.try_emplace({told.module, told.build_id, told.offset, caller}, 0);
  if (made) {
    if (sites_.size() >= most_sites) {
      by_place_.erase(place);
      return;
    }
    place->second = static_cast<std::uint32_t>(sites_.size() + 1);
    sites_.push_back(told);
    sites_.back().id = place->second;
    sites_.back().caller = caller;
    changed_.push_back(place->second);
  }
  ids_[node_site.id] = place->second;
  CallSite& site = sites_[place->second - 1];
  const bool better = (site.line == 0 && told.line != 0) || (site.function.empty() && !told.function.empty());
  if (!better) return;
  site.function = told.function;
  site.file = told.file;
  site.line = told.line;
  changed_.push_back(site.id);
}

std::vector<CallSite> JobSites::news() {
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  std::vector<CallSite> news;
  for (const std::uint32_t id : changed_) news.push_back(sites_[id - 1]);
  changed_.clear();
  return news;
}

void JobSites::describe(Snapshot& snapshot) const {
  snapshot.sites.clear();
  if (snapshot.finished) {
    snapshot.sites = sites_;
    return;
  }
  const auto caller_of = [this](std::uint32_t id) { return id <= sites_.size() ? sites_[id - 1].caller : 0; };
  for (const std::uint32_t id : with_callers(sites_in(snapshot), caller_of))
    if (id <= sites_.size()) snapshot.sites.push_back(sites_[id - 1]);
}

}  // namespace pclscope::nodes
