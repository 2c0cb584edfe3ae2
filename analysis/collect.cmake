add_library(pclscope_collect STATIC
  collect/board_file.cpp
  collect/collector.cpp
  collect/segment_file.cpp
  collect/tick_clock.cpp)
target_compile_options(pclscope_collect PUBLIC ${PCLSCOPE_SANITIZE_FLAGS})
target_link_options(pclscope_collect PUBLIC ${PCLSCOPE_SANITIZE_FLAGS})
