// The call sites of a dump: /sites, /modules and /texts. Rows are only ever appended, so that every flush shows a whole
// state: a site that got its line later has a second row, and the last row of an id counts. Private to analysis/store.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "analysis/rows/call_columns.hpp"
#include "analysis/store/table.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::store {

struct FlatSites {
  std::vector<SiteRow> sites;
  std::vector<ModuleRow> modules;
  std::vector<TextRow> texts;
};
// By id; what contradicts itself is left out.
std::vector<CallSite> unflatten(const FlatSites& flat);

class SiteWriter {
 public:
  bool create(const Layout& layout, hid_t parent);
  // Within so many bytes of the file (2 TiB unless told); sites beyond stay unknown.
  void limit(std::uint64_t bytes) { limit_ = bytes; }
  void add(std::span<const CallSite> sites);
  // Puts what was added since the last time into the file, and counts it.
  bool write();

 private:
  struct TextRange {
    std::uint64_t begin = 0;
    std::uint64_t count = 0;
  };
  TextRange text(const std::string& text);
  std::uint32_t module(const CallSite& site);

  FlatSites added_;
  std::uint64_t limit_ = std::uint64_t{1} << 41, bytes_ = 64 << 10;  // with the first chunk of each column
  std::uint64_t site_rows_ = 0, module_rows_ = 0, text_rows_ = 0;    // with those that were added
  std::map<std::string, TextRange> known_texts_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> known_modules_;  // by path and build-id
  TableWriter<SiteRow> sites_;
  TableWriter<ModuleRow> modules_;
  TableWriter<TextRow> texts_;
};

}  // namespace pclscope::store
