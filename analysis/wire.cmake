# pclscope_wire: ZeroMQ and FlatBuffers. The schema is compiled at build time, never checked in.
set(wire_schema ${CMAKE_CURRENT_SOURCE_DIR}/wire/pclscope.fbs)
set(wire_generated ${PROJECT_BINARY_DIR}/analysis/wire/pclscope_generated.h)
add_custom_command(
  OUTPUT ${wire_generated}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/analysis/wire
  COMMAND ${FLATC} --cpp --scoped-enums -o ${PROJECT_BINARY_DIR}/analysis/wire ${wire_schema}
  DEPENDS ${wire_schema}
  COMMENT "flatc pclscope.fbs"
  VERBATIM)

add_library(pclscope_wire STATIC
  wire/encode.cpp wire/encoding.cpp wire/decode.cpp wire/decoding.cpp wire/dag_frame.cpp
  wire/snapshot_frame.cpp wire/endpoint.cpp wire/curve_keys.cpp wire/gatekeeper.cpp wire/monitor.cpp wire/door.cpp
  wire/peer_check.cpp wire/publisher.cpp wire/subscriber.cpp wire/runtime_directory.cpp wire/jobs.cpp ${wire_generated})
pclscope_precompile(pclscope_wire)
target_link_libraries(pclscope_wire PUBLIC pclscope_rows PRIVATE PkgConfig::zmq nlohmann_json::nlohmann_json)
target_compile_options(pclscope_wire PRIVATE ${PCLSCOPE_SANITIZE_FLAGS})
target_link_options(pclscope_wire PUBLIC ${PCLSCOPE_SANITIZE_FLAGS})
