# What following delays back to their origins costs per message.
add_executable(delays_benchmark delays/delays.cpp replay/patterns.cpp)
target_link_libraries(delays_benchmark PRIVATE pclscope_pipeline)
set_target_properties(delays_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
add_test(NAME delays_benchmark_quick COMMAND delays_benchmark --quick)
set_tests_properties(delays_benchmark_quick PROPERTIES LABELS benchmark TIMEOUT 120)
