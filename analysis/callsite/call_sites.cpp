#include "analysis/callsite/call_sites.hpp"

#include <algorithm>

#include "analysis/callsite/sites_in.hpp"

namespace pclscope::callsite {

CallSite CallSites::site(std::uint32_t id) const {
  const Site& found = table_.site(id);
  const Module& module = table_.modules()[found.module];
  CallSite site;
  site.id = id;
  site.module = module.path;
  site.build_id = module.build_id;
  site.offset = found.offset;
  site.mpi_function = found.mpi_function;
  if (id <= places_.size()) {
    site.function = places_[id - 1].function;
    site.file = places_[id - 1].file;
    site.line = places_[id - 1].line;
  }
  return site;
}

void CallSites::ask(std::uint32_t id) {
  if (id > asked_.size()) {
    asked_.resize(table_.size());
    places_.resize(table_.size());
  }
  if (asked_[id - 1]) return;
  asked_[id - 1] = 1;
  const Site& site = table_.site(id);
  const Module& module = table_.modules()[site.module];
  if (module.readable) names_.ask({id, site.offset, module.path, module.build_id});
}

void CallSites::take(std::vector<Answer> answers) {
  for (Answer& answer : answers) {
    if (answer.place == Place{}) continue;
    places_[answer.id - 1] = std::move(answer.place);
    named_.push_back(answer.id);
  }
}

void CallSites::describe(Snapshot& snapshot) {
  const std::vector<std::uint32_t> ids = sites_in(snapshot);
  for (const std::uint32_t id : ids) {
    if (id != 0 && id <= table_.size()) ask(id);
  }
  take(names_.answers());
  for (const std::uint32_t id : ids) {
    if (id != 0 && id <= table_.size()) snapshot.sites.push_back(site(id));
  }
}

std::vector<CallSite> CallSites::news() {
  take(names_.answers());
  std::vector<CallSite> news;
  std::sort(named_.begin(), named_.end());
  for (const std::uint32_t id : named_) {
    if (id <= told_) news.push_back(site(id));
  }
  named_.clear();
  while (told_ < table_.size()) news.push_back(site(++told_));
  return news;
}

void CallSites::resolve_all(std::chrono::milliseconds at_most) {
  for (std::uint32_t id = 1; id <= table_.size(); id++) ask(id);
  take(names_.wait_for_answers(at_most));
}

void complete_sites(std::vector<CallSite>& sites, SiteNames& names, std::chrono::milliseconds at_most) {
  for (std::uint32_t i = 0; i < sites.size(); i++) {
    const CallSite& site = sites[i];
    if (site.build_id.empty() || !site.function.empty() || !site.file.empty()) continue;
    names.ask({i, site.offset, site.module, site.build_id});
  }
  for (const Answer& answer : names.wait_for_answers(at_most)) {
    CallSite& site = sites[answer.id];
    site.function = answer.place.function;
    site.file = answer.place.file;
    site.line = answer.place.line;
  }
}

}  // namespace pclscope::callsite
