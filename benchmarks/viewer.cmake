# How long the viewer takes for a frame, with all views open and live data.
if(TARGET pclscope_gui)
  add_executable(viewer_benchmark viewer/viewer.cpp)
  target_link_libraries(viewer_benchmark PRIVATE pclscope_gui)
  set_target_properties(viewer_benchmark PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
endif()
