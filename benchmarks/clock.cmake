# How well do the aggregators' clocks agree? mpirun ... clock_benchmark-openmpi (options: the source's first lines)
foreach(mpi ${PCLSCOPE_MPIS})
  add_executable(clock_benchmark-${mpi} clock/clock.cpp clock/truth.cpp
    ${PROJECT_SOURCE_DIR}/analysis/aggregator/clock_sync.cpp)
  target_link_libraries(clock_benchmark-${mpi} PRIVATE pclscope_collect pclscope::mpi::${mpi})
  set_target_properties(clock_benchmark-${mpi} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
endforeach()
