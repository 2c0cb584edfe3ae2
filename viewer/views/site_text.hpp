// Call sites as people and programs read them: looked up by id, written "file.c:42".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope::views {

class Sites {
 public:
  Sites() = default;
  explicit Sites(std::vector<CallSite> sites);
  const CallSite* find(std::uint64_t id) const;  // null when unknown
  // For programs: the whole path; empty when unknown.
  std::string location(std::uint64_t id) const;
  // For people: without directories, safe for a terminal; "?" when unknown.
  std::string brief(std::uint64_t id) const;

 private:
  std::vector<CallSite> sites_;  // by id
};

// "/src/halo.c:42", or "/usr/lib/libfoo.so+0x1234" without debug information.
std::string site_location(const CallSite& site);
// "halo.c:42", "libfoo.so(halo_exchange)", "libfoo.so+0x1234".
std::string site_brief(const CallSite& site);

}  // namespace pclscope::views
