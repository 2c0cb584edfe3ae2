#include "interpose/fortran/inside.hpp"

namespace pclscope {

#ifndef OPEN_MPI
__thread int fortran_depth __attribute__((tls_model("initial-exec"))) = 0;
#endif

}  // namespace pclscope
