# How much a better mapping gains on published patterns, and how long finding it takes.
add_executable(mapping_benchmark mapping/mapping.cpp)
target_link_libraries(mapping_benchmark PRIVATE pclscope_mapping)
target_compile_definitions(mapping_benchmark PRIVATE PCLSCOPE_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
set_target_properties(mapping_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
add_test(NAME mapping_benchmark_quick COMMAND mapping_benchmark --quick)
set_tests_properties(mapping_benchmark_quick PROPERTIES LABELS benchmark TIMEOUT 300)
