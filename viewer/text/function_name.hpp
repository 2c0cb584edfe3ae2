// Names of C++ functions as people read them.
#pragma once

#include <string>
#include <string_view>

namespace pclscope::text {

// "void ns::send<Vec<float> >(Grid const&, int)" -> "ns::send": without what it returns, its template's and its own
// arguments. Names of other languages stay as they are.
std::string short_function(std::string_view demangled);

// What overloads and the instances of a template have in common: the short name. Functions of the standard library, by
// which anything may be called (std::function), are told apart by their whole names.
std::string same_function(std::string_view demangled);

}  // namespace pclscope::text
