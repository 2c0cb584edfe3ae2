// The call sites of a running job: their ids, and what is known of them so far. Names and lines are looked for in the
// background, and only for sites that somebody is shown, until resolve_all(). One thread owns a CallSites.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/callsite/site_names.hpp"
#include "analysis/callsite/site_table.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::callsite {

class CallSites {
 public:
  explicit CallSites(std::string lines_program = SiteNames::lines_program()) : names_(std::move(lines_program)) {}

  SiteTable& table() { return table_; }
  std::uint32_t site_of(std::int32_t rank, std::uint64_t address, std::uint16_t mpi_function = 0) {
    return table_.site_of(rank, address, mpi_function);
  }

  // Fills Snapshot::sites with those that the snapshot refers to, and their callers. Never waits: lines come with a
  // later snapshot.
  void describe(Snapshot& snapshot);

  // Sites that are new or got their names since the last call, by id: what the store has not seen.
  std::vector<CallSite> news();

  // Looks for the lines of all sites; returns when all are known or the time is over.
  void resolve_all(std::chrono::milliseconds at_most);

 private:
  CallSite site(std::uint32_t id) const;
  void ask(std::uint32_t id);
  void group();
  void take(std::vector<Answer> answers);

  SiteTable table_;
  SiteNames names_;
  // Sites at one place, with different callers, have one name: it is asked for as that of the first of them.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::uint32_t>> groups_;  // by module and offset
  std::vector<std::uint32_t> first_;                                                      // of its group, by id - 1
  std::vector<Place> places_;                                                             // by id - 1, as far as asked
  std::vector<char> asked_;                                                               // by id - 1
  std::vector<std::uint32_t> named_;                                                      // since the last news()
  std::uint32_t told_ = 0;  // sites that news() has given out
};

// Looks for lines that a dump lacks, in files that are still the build that was recorded. Waits at most so long.
void complete_sites(std::vector<CallSite>& sites, SiteNames& names, std::chrono::milliseconds at_most);

}  // namespace pclscope::callsite
