# How long the viewer takes for a frame, with all views open and live data, and each view by itself; and the rank
# timeline and the call view of ten million calls.
if(TARGET pclscope_gui)
  add_library(benchmark_frames STATIC viewer/frames.cpp)
  target_link_libraries(benchmark_frames PUBLIC pclscope_gui)
  foreach(benchmark viewer views timeline single_calls)
    add_executable(${benchmark}_benchmark viewer/${benchmark}.cpp)
    target_link_libraries(${benchmark}_benchmark PRIVATE benchmark_frames pclscope_store)
    set_target_properties(${benchmark}_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
  endforeach()
endif()
