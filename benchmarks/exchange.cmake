# How fast dumps become archives and archives dumps.
if(otf2_FOUND)
  add_executable(exchange_benchmark exchange/exchange.cpp)
  target_link_libraries(exchange_benchmark PRIVATE pclscope_store)
  add_dependencies(exchange_benchmark pclscope)
  set_target_properties(exchange_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
  add_test(NAME exchange_benchmark_quick COMMAND exchange_benchmark --quick)
  set_tests_properties(exchange_benchmark_quick PROPERTIES LABELS benchmark TIMEOUT 300)
endif()
