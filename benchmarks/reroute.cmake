# Other ways for routes: time for one on 2,048 vertices, and for 10,000.
add_executable(reroute_benchmark reroute/reroute.cpp)
target_link_libraries(reroute_benchmark PRIVATE pclscope_mapping)
set_target_properties(reroute_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
add_test(NAME reroute_benchmark_quick COMMAND reroute_benchmark --quick)
set_tests_properties(reroute_benchmark_quick PROPERTIES LABELS benchmark TIMEOUT 120)
