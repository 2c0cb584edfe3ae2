#include "viewer/export/format.hpp"

namespace pclscope::exporting {

#define FORMAT(name) extern const FileFormat name##_format;
#include "viewer/export/formats.def"
#undef FORMAT

std::span<const FileFormat* const> formats() {
  static constexpr const FileFormat* all[] = {
#define FORMAT(name) &name##_format,
#include "viewer/export/formats.def"
#undef FORMAT
  };
  return all;
}

const FileFormat* format_named(std::string_view name) {
  for (const FileFormat* format : formats())
    if (name == format->name) return format;
  return nullptr;
}

}  // namespace pclscope::exporting
