// Where a dump is to be written, and what the system says against it. Private to analysis/store.
#pragma once

#include <string>

#include "analysis/values/result.hpp"

namespace pclscope::store {

// Errno as an Error that names the path and what to do.
Error system_error(const std::string& path, int error);

// The path of the file itself: an existing target is looked at first, a symbolic link is followed. Fails with
// bad_argument (no regular file), not_permitted, in_use, not_found.
Result<std::string> resolve_target(const std::string& path);

// A new name in the same directory, for the time until the dump can be opened.
std::string draft_name(const std::string& path);

}  // namespace pclscope::store
