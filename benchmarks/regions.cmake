# How long from message counts to regions, in how much memory; linkage against scipy's (regions/run.py).
add_executable(regions_benchmark regions/regions.cpp)
target_link_libraries(regions_benchmark PRIVATE pclscope_region)
set_target_properties(regions_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
add_test(NAME regions_benchmark_quick COMMAND regions_benchmark --quick)
set_tests_properties(regions_benchmark_quick PROPERTIES LABELS benchmark TIMEOUT 300)
