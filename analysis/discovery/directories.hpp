// Where a user's files about running jobs lie: on this node, and in a home that nodes share. Whatever is there may be
// believed, because nobody else can put anything there.
#pragma once

#include <string>

#include "analysis/values/result.hpp"

namespace pclscope::discovery {

// $XDG_RUNTIME_DIR/pclscope when that is a directory of this user where nobody else can replace it, else
// /tmp/pclscope-UID. Created with mode 0700; refused (not_permitted) when it exists and belongs to somebody else or
// others can enter it.
Result<std::string> runtime_directory();

// $PCLSCOPE_SHARED, else .pclscope in the user's home: the same on all nodes that share it. Created and refused as
// above; also refused (not_permitted) where others can replace it. Fails with not_found when there is no home or
// PCLSCOPE_SHARED is "none". May wait for a network file system: not for the analysis' thread.
Result<std::string> shared_directory();

}  // namespace pclscope::discovery
