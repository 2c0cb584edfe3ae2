# How one aggregator's time, memory and traffic grow with ranks per node and with nodes: the real nodes::Node,
# simulated ranks.
add_executable(scale_benchmark scale/scale.cpp scale/figures.cpp scale/meter.cpp scale/program.cpp scale/simulation.cpp
  scale/stubs.cpp)
target_link_libraries(scale_benchmark PRIVATE pclscope_nodes)
set_target_properties(scale_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
add_test(NAME scale_benchmark_quick COMMAND scale_benchmark --quick)
set_tests_properties(scale_benchmark_quick PROPERTIES LABELS benchmark TIMEOUT 120)
