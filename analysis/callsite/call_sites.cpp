#include "analysis/callsite/call_sites.hpp"

#include <algorithm>
#include <map>
#include <tuple>

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
  site.caller = found.caller;
  const std::uint32_t first = id <= first_.size() ? first_[id - 1] : id;
  if (first <= places_.size()) {
    site.function = places_[first - 1].function;
    site.file = places_[first - 1].file;
    site.line = places_[first - 1].line;
  }
  return site;
}

void CallSites::group() {
  while (first_.size() < table_.size()) {
    const auto id = static_cast<std::uint32_t>(first_.size() + 1);
    std::vector<std::uint32_t>& ids = groups_[{table_.site(id).module, table_.site(id).offset}];
    ids.push_back(id);
    first_.push_back(ids.front());
  }
}

void CallSites::ask(std::uint32_t id) {
  group();
  id = first_[id - 1];
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
    const Site& site = table_.site(answer.id);
    const std::vector<std::uint32_t>& ids = groups_[{site.module, site.offset}];
    named_.insert(named_.end(), ids.begin(), ids.end());
  }
}

void CallSites::describe(Snapshot& snapshot) {
  const std::vector<std::uint32_t> ids = with_callers(
      sites_in(snapshot), [this](std::uint32_t id) { return id <= table_.size() ? table_.site(id).caller : 0; });
  for (const std::uint32_t id : ids) {
    if (id <= table_.size()) ask(id);
  }
  take(names_.answers());
  for (const std::uint32_t id : ids) {
    if (id <= table_.size()) snapshot.sites.push_back(site(id));
  }
}

std::vector<CallSite> CallSites::news() {
  group();
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
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::vector<std::uint32_t>> places;
  for (std::uint32_t i = 0; i < sites.size(); i++) {
    const CallSite& site = sites[i];
    if (site.build_id.empty() || !site.function.empty() || !site.file.empty()) continue;
    std::vector<std::uint32_t>& at = places[{site.module, site.build_id, site.offset}];
    at.push_back(i);
    if (at.size() == 1) names.ask({i, site.offset, site.module, site.build_id});
  }
  for (const Answer& answer : names.wait_for_answers(at_most)) {
    const CallSite& asked = sites[answer.id];
    for (const std::uint32_t i : places[{asked.module, asked.build_id, asked.offset}]) {
      sites[i].function = answer.place.function;
      sites[i].file = answer.place.file;
      sites[i].line = answer.place.line;
    }
  }
}

}  // namespace pclscope::callsite
