# Vector clocks against tree clocks on four patterns, and how long graphs take.
add_executable(order_benchmark order/order.cpp order/traces.cpp order/tree_clocks.cpp)
target_link_libraries(order_benchmark PRIVATE pclscope_order)
set_target_properties(order_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
add_test(NAME order_benchmark_quick COMMAND order_benchmark --quick)
set_tests_properties(order_benchmark_quick PROPERTIES LABELS benchmark TIMEOUT 120)
