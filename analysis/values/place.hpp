// Where in the source a call is written.
#pragma once

#include <cstdint>
#include <string>

namespace pclscope::callsite {

struct Place {
  std::string function;    // demangled, empty when unknown
  std::string file;        // as in the debug information, empty without
  std::uint32_t line = 0;  // 0 without
  bool operator==(const Place&) const = default;
};

}  // namespace pclscope::callsite
