add_library(pclscope_collect STATIC
  collect/board_file.cpp
  collect/dormant.cpp
  collect/collector.cpp
  collect/clock_chain.cpp
  collect/clock_refit.cpp
  collect/global_clock.cpp
  collect/leftovers.cpp
  collect/offset_estimator.cpp
  collect/rank_records.cpp
  collect/segment_file.cpp
  collect/static_mpi.cpp
  collect/tick_clock.cpp)
target_compile_options(pclscope_collect PUBLIC ${PCLSCOPE_SANITIZE_FLAGS})
target_link_options(pclscope_collect PUBLIC ${PCLSCOPE_SANITIZE_FLAGS})
