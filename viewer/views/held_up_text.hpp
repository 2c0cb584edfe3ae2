// What full buffers cost the application.
#pragma once

#include <string>

#include "analysis/values/snapshot.hpp"

namespace pclscope::views {

// "ranks were held up by the tool for 3.2 s in all: their buffers were full"; empty when none was.
std::string held_up_text(const Snapshot& snapshot);

}  // namespace pclscope::views
