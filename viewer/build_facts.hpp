// What this program was built from and with.
#pragma once

#include <string>

namespace pclscope {

// Lines: "pclscope 0.1.0", then the commit where it is known, compiler, MPIs, HDF5, window.
std::string build_facts();

}  // namespace pclscope
