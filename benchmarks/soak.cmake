# A long run in bounded memory and a bounded file. 1e9 events: soak_benchmark --events 1e9.
add_executable(soak_benchmark soak/soak.cpp replay/patterns.cpp)
target_link_libraries(soak_benchmark PRIVATE pclscope_pipeline pclscope_store)
set_target_properties(soak_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
add_test(NAME soak_benchmark_quick COMMAND soak_benchmark --events 4e7 --budget 1e8)
set_tests_properties(soak_benchmark_quick PROPERTIES LABELS benchmark TIMEOUT 300)
