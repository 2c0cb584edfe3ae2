# What several aggregators of one node take each: the real nodes::Node, ranks of a halo, in one thread.
add_executable(fat_node_benchmark fat_node/fat_node.cpp replay/patterns.cpp)
target_link_libraries(fat_node_benchmark PRIVATE pclscope_nodes)
set_target_properties(fat_node_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
add_test(NAME fat_node_benchmark_quick COMMAND fat_node_benchmark --quick)
set_tests_properties(fat_node_benchmark_quick PROPERTIES LABELS benchmark TIMEOUT 120)
