# pclscope-aggregator-MPI: one program, two roles (see aggregator/README.md): the anchor holds the MPI rank, the
# worker analyses. Only anchor.cpp knows MPI.
add_library(pclscope_worker STATIC aggregator/blocked_watch.cpp aggregator/broadcast.cpp aggregator/options.cpp
  aggregator/worker.cpp)
target_link_libraries(pclscope_worker PUBLIC pclscope_core pclscope_callsite pclscope_collect pclscope_wire pclscope_store CLI11::CLI11)

foreach(mpi ${PCLSCOPE_MPIS})
  add_executable(pclscope-aggregator-${mpi} aggregator/main.cpp aggregator/anchor.cpp)
  target_link_libraries(pclscope-aggregator-${mpi} PRIVATE pclscope_worker pclscope::mpi::${mpi})
endforeach()
