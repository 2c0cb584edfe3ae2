// Files of tests/data.
#pragma once

#include <string>

namespace pclscope::test {

// The path of a file or folder in tests/data. Which folder that is only one source is told, so that all others compile
// to the same in each clone, and come from the compiler's cache.
std::string data_file(const std::string& name);

}  // namespace pclscope::test
