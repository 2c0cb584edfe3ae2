// Call sites in JSON.
#pragma once

#include <cstdint>
#include <string>

#include "viewer/session/summary_json.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::views {

// Its location, or null when that is not known.
inline session::Json site_json(std::uint32_t site, const Sites& sites) {
  const std::string location = sites.location(site);
  return location.empty() ? session::Json(nullptr) : session::Json(location);
}

}  // namespace pclscope::views
