// The application's own world: found out and set up at the end of MPI_Init.
#pragma once

namespace pclscope {

// True when this process is a rank of the job that PCLSCOPE_* describes: `process` is set up, the tool's ranks (if
// any) are hidden, and communicators are known. False: nothing is to be done here, all calls go straight to MPI.
bool enter_world(bool thread_multiple);

// The same where no job is described, but the ranks of MPI_COMM_WORLD may agree on one (agreement.hpp): the process is
// attachable then, dormant, and on its node's board. A collective of the program's own processes.
bool enter_own_world(bool thread_multiple);

}  // namespace pclscope
