# The tool's share of a node whose cores all have a rank: python3 benchmarks/share/run.py --build BUILD
foreach(mpi ${PCLSCOPE_MPIS})
  add_executable(steps-${mpi} share/steps.c)
  target_link_libraries(steps-${mpi} PRIVATE pclscope_mpi_${mpi})
  target_compile_options(steps-${mpi} PRIVATE -Wno-stringop-overflow)  # MPI_STATUSES_IGNORE of MPICH
  set_target_properties(steps-${mpi} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
endforeach()
