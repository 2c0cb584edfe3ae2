# pclscope-aggregator-MPI: one program, two roles (see aggregator/README.md): the anchor holds the MPI rank, the
# worker analyses. Only the anchor's parts know MPI.
add_library(pclscope_worker STATIC aggregator/blocked_watch.cpp aggregator/broadcast.cpp aggregator/frame_socket.cpp
  aggregator/many_nodes.cpp aggregator/one_node.cpp aggregator/options.cpp aggregator/output.cpp
  aggregator/rest.cpp aggregator/rings.cpp aggregator/unreached.cpp aggregator/worker.cpp aggregator/worker_link.cpp)
target_link_libraries(pclscope_worker PUBLIC pclscope_blocked pclscope_collect pclscope_conditions pclscope_machine
  pclscope_wire pclscope_store CLI11::CLI11)

foreach(mpi ${PCLSCOPE_MPIS})
  add_library(pclscope_anchor_${mpi} STATIC aggregator/anchor.cpp aggregator/anchor_worker.cpp aggregator/clock_sync.cpp
    aggregator/departure.cpp aggregator/init_watch.cpp aggregator/relay.cpp aggregator/relay_exchange.cpp
    aggregator/relay_opening.cpp
    aggregator/resting.cpp aggregator/time_origin.cpp)
  target_link_libraries(pclscope_anchor_${mpi} PUBLIC pclscope_worker pclscope::mpi::${mpi})
  target_compile_options(pclscope_anchor_${mpi} PRIVATE -Wno-stringop-overflow)  # MPICH 4.0: MPI_STATUSES_IGNORE is 1
  add_executable(pclscope-aggregator-${mpi} aggregator/main.cpp)
  target_link_libraries(pclscope-aggregator-${mpi} PRIVATE pclscope_anchor_${mpi})
  target_link_options(pclscope-aggregator-${mpi} PRIVATE -Wl,--export-dynamic-symbol=sched_yield)
  install(TARGETS pclscope-aggregator-${mpi} RUNTIME DESTINATION ${PCLSCOPE_INSTALL_PARTS} COMPONENT ${mpi})
  if(mpi STREQUAL mpich)  # the anchor is in MPI_Finalize with the application's ranks
    target_sources(pclscope-aggregator-${mpi} PRIVATE ${PROJECT_SOURCE_DIR}/interpose/library/finalize_progress.cpp)
    foreach(name read ucp_worker_create ucp_worker_destroy)
      target_link_options(pclscope-aggregator-${mpi} PRIVATE -Wl,--export-dynamic-symbol=${name})
    endforeach()
  endif()
endforeach()
