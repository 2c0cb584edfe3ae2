// Names of C++ functions as people read them.
#pragma once

#include <string>
#include <string_view>

namespace pclscope::text {

// "void ns::send<Vec<float> >(Grid const&, int)" -> "ns::send": without what it returns, its template's and its own
// arguments. Names of other languages stay as they are.
std::string short_function(std::string_view demangled);

}  // namespace pclscope::text
