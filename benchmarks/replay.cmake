# How many recorded events per second one core takes through match, criteria and windows.
add_executable(replay_benchmark replay/replay.cpp replay/patterns.cpp)
target_link_libraries(replay_benchmark PRIVATE pclscope_pipeline)
set_target_properties(replay_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
add_test(NAME replay_benchmark_quick COMMAND replay_benchmark --quick)
set_tests_properties(replay_benchmark_quick PROPERTIES LABELS benchmark TIMEOUT 120)
