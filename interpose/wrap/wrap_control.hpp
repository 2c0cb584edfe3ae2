// MPI_Pcontrol: the application switches recording off and on, and names phases by levels (docs/markers.md).
#pragma once

#include "interpose/recorder/recorder.hpp"

namespace pclscope {

int hand_Pcontrol(Caller caller, int level);

}  // namespace pclscope
