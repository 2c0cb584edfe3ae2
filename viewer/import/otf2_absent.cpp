// In place of otf2_trace.cpp where libotf2 is not there.
#include "viewer/import/otf2_trace.hpp"

namespace pclscope::importing {

Result<std::unique_ptr<Otf2Trace>> Otf2Trace::open(const std::string&) {
  return Error{ErrorCode::not_found,
               "this pclscope was built without libotf2: install libotf2-trace-dev, configure and build it again"};
}

}  // namespace pclscope::importing
