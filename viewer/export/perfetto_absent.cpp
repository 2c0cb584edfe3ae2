// In place of perfetto_format.cpp where protobuf is not there.
#include "viewer/export/format.hpp"

namespace pclscope::exporting {

extern const FileFormat perfetto_format;
const FileFormat perfetto_format{
    "perfetto",
    "a trace for ui.perfetto.dev (this pclscope was built without protobuf)",
    ".pftrace",
    false,
    0,
    [](const Run&, const std::string&, const Progress&) -> Result<std::unique_ptr<Sink>> {
      return Error{ErrorCode::not_found,
                   "this pclscope was built without protobuf: install protobuf-compiler and libprotobuf-dev, configure "
                   "and build it again"};
    }};

}  // namespace pclscope::exporting
