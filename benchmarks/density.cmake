# What the density of calls costs per call, and how large it gets.
add_executable(density_benchmark density/density.cpp)
target_link_libraries(density_benchmark PRIVATE pclscope_images pclscope_store)
set_target_properties(density_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
add_test(NAME density_benchmark_quick COMMAND density_benchmark --quick)
set_tests_properties(density_benchmark_quick PROPERTIES LABELS benchmark TIMEOUT 120)
# The same of a running job on three nodes, in the window.
if(TARGET pclscope_gui)
  add_executable(density_live_benchmark density/live.cpp)
  target_link_libraries(density_live_benchmark PRIVATE benchmark_frames pclscope_nodes)
  set_target_properties(density_live_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
endif()
