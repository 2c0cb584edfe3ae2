# What a viewer elsewhere costs the line between.
add_executable(relay_benchmark relay/relay.cpp)
target_link_libraries(relay_benchmark PRIVATE pclscope_reach)
set_target_properties(relay_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
add_test(NAME relay_benchmark_quick COMMAND relay_benchmark --quick)
set_tests_properties(relay_benchmark_quick PROPERTIES LABELS benchmark TIMEOUT 120)
