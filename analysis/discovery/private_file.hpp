// Files of which readers see all or nothing, and which only their owner can read, whatever the umask. No locks: safe on
// network file systems.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/values/result.hpp"

namespace pclscope::discovery {

enum class Existing { keep, replace };  // keep: the first who makes it wins, and later ones succeed without effect

// Under a name that nobody can have taken in advance, then renamed or linked. Fails with io, no_space.
Status write_private(const std::string& path, const std::string& content, Existing existing);

// At most `most` bytes; empty when there is none. Looks at no owner: for files in a private directory, and /proc.
std::string read_small(const std::string& path, std::size_t most = 256 * 1024);

}  // namespace pclscope::discovery
