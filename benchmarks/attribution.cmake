# What findings cost the aggregator per message.
add_executable(attribution_benchmark attribution/attribution.cpp replay/patterns.cpp)
target_link_libraries(attribution_benchmark PRIVATE pclscope_pipeline)
set_target_properties(attribution_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
add_test(NAME attribution_benchmark_quick COMMAND attribution_benchmark --quick)
set_tests_properties(attribution_benchmark_quick PROPERTIES LABELS benchmark TIMEOUT 120)
