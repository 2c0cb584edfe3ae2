#include "viewer/build_facts.hpp"

#include "build_commit.hpp"

#ifndef PCLSCOPE_BUILT_WITH
#error "PCLSCOPE_BUILT_WITH comes from CMake"
#endif

namespace pclscope {

std::string build_facts() {
  const std::string commit = PCLSCOPE_COMMIT;
  return "pclscope " PCLSCOPE_VERSION "\n" + (commit.empty() ? "" : "commit    " + commit + "\n") + PCLSCOPE_BUILT_WITH;
}

}  // namespace pclscope
