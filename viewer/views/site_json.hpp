// Call sites in JSON.
#pragma once

#include <cstdint>

#include "viewer/session/summary_json.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::views {

// Its location, or null when that is not known.
session::Json site_json(std::uint32_t site, const Sites& sites);

}  // namespace pclscope::views
