# What a message costs in a dump, in bytes and in time.
add_executable(store_benchmark store/store.cpp)
target_link_libraries(store_benchmark PRIVATE pclscope_store)
set_target_properties(store_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
add_test(NAME store_benchmark_quick COMMAND store_benchmark --quick)
set_tests_properties(store_benchmark_quick PROPERTIES LABELS benchmark TIMEOUT 120)
