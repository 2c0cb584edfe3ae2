# Several nodes: what their aggregators tell each other. Needs only headers of pclscope_core, which uses it.
add_library(pclscope_nodes STATIC
  nodes/merge.cpp
  nodes/packing.cpp
  nodes/packing_halves.cpp
  nodes/packing_messages.cpp
  nodes/packing_report.cpp)
target_compile_options(pclscope_nodes PUBLIC ${PCLSCOPE_SANITIZE_FLAGS})
target_link_options(pclscope_nodes PUBLIC ${PCLSCOPE_SANITIZE_FLAGS})
target_link_libraries(pclscope_core PUBLIC pclscope_nodes)
