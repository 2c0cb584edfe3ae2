// In place of otf2_format.cpp where libotf2 is not there.
#include "viewer/export/format.hpp"

namespace pclscope::exporting {

extern const FileFormat otf2_format;
const FileFormat otf2_format{"otf2",
                             "an OTF2 archive (this pclscope was built without libotf2)",
                             ".otf2",
                             true,
                             0,
                             [](const Run&, const std::string&, const Progress&) -> Result<std::unique_ptr<Sink>> {
                               return Error{
                                   ErrorCode::not_found,
                                   "this pclscope was built without libotf2: install libotf2-trace-dev, configure "
                                   "and build it again"};
                             }};

}  // namespace pclscope::exporting
