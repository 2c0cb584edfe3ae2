#include "viewer/views/site_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/site_json.hpp"

namespace pclscope::views {
namespace {

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Sites::Sites(std::vector<CallSite> sites) : sites_(std::move(sites)) {
  std::sort(sites_.begin(), sites_.end(), [](const CallSite& a, const CallSite& b) { return a.id < b.id; });
}

const CallSite* Sites::find(std::uint64_t id) const {
  const auto at = std::lower_bound(sites_.begin(), sites_.end(), id,
                                   [](const CallSite& site, std::uint64_t wanted) { return site.id < wanted; });
  return at != sites_.end() && at->id == id ? &*at : nullptr;
}

std::string Sites::location(std::uint64_t id) const {
  const CallSite* site = find(id);
  return site != nullptr ? site_location(*site) : "";
}

std::string Sites::brief(std::uint64_t id) const {
  const CallSite* site = find(id);
  return site != nullptr ? site_brief(*site) : "?";
}

std::string site_location(const CallSite& site) {
  if (site.line > 0) return site.file + ":" + std::to_string(site.line);
  return site.module + "+0x" + text::format_hexadecimal(site.offset);
}

std::string site_brief(const CallSite& site) {
  if (site.line > 0) return text::printable(file_name(site.file)) + ":" + std::to_string(site.line);
  const std::string module = text::printable(file_name(site.module));
  return site.function.empty() ? module + "+0x" + text::format_hexadecimal(site.offset)
                               : module + "(" + text::printable(site.function) + ")";
}

session::Json site_json(std::uint32_t site, const Sites& sites) {
  const std::string location = sites.location(site);
  return location.empty() ? session::Json(nullptr) : session::Json(location);
}

}  // namespace pclscope::views
