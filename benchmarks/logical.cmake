# How long phases and steps take per message, and how much memory.
add_executable(logical_benchmark logical/logical.cpp ${CMAKE_SOURCE_DIR}/tests/analysis/delay/spmd_simulator.cpp)
target_link_libraries(logical_benchmark PRIVATE pclscope_logical)
set_target_properties(logical_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
add_test(NAME logical_benchmark_quick COMMAND logical_benchmark --quick)
set_tests_properties(logical_benchmark_quick PROPERTIES LABELS benchmark TIMEOUT 120)
