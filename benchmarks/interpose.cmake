# Added cost of recording per MPI call: python3 benchmarks/interpose/run.py --build BUILD --mpi openmpi
add_executable(drain interpose/drain.cpp)
set_target_properties(drain PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
foreach(mpi ${PCLSCOPE_MPIS})
  add_executable(calls-${mpi} interpose/calls.c)
  target_link_libraries(calls-${mpi} PRIVATE pclscope_mpi_${mpi})
  target_compile_options(calls-${mpi} PRIVATE -Wno-stringop-overflow)
  set_target_properties(calls-${mpi} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
endforeach()
