# The classes of viewer/export/perfetto.proto, made at build time in a library of their own: what protoc writes is not
# warned of. Without protobuf the format says that it is missing.
pkg_check_modules(protobuf IMPORTED_TARGET protobuf-lite)
find_program(PROTOC protoc)
if(protobuf_FOUND AND PROTOC)
  set(made ${PROJECT_BINARY_DIR}/viewer/export/perfetto.pb)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/viewer/export)
  add_custom_command(OUTPUT ${made}.cc ${made}.h
    COMMAND ${PROTOC} --proto_path ${PROJECT_SOURCE_DIR} --cpp_out ${PROJECT_BINARY_DIR} viewer/export/perfetto.proto
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DEPENDS ${PROJECT_SOURCE_DIR}/viewer/export/perfetto.proto)
  add_library(pclscope_perfetto STATIC ${made}.cc ${made}.h)
  target_include_directories(pclscope_perfetto SYSTEM PUBLIC ${PROJECT_BINARY_DIR})
  target_link_libraries(pclscope_perfetto PUBLIC PkgConfig::protobuf)
  target_compile_options(pclscope_perfetto PRIVATE -w ${PCLSCOPE_SANITIZE_FLAGS})
  target_link_options(pclscope_perfetto PUBLIC ${PCLSCOPE_SANITIZE_FLAGS})
  set(PCLSCOPE_PROTOBUF pclscope_perfetto)
  list(FILTER PCLSCOPE_EXPORT_SOURCES EXCLUDE REGEX "/perfetto_absent")
else()
  list(FILTER PCLSCOPE_EXPORT_SOURCES EXCLUDE REGEX "/perfetto_(packets|format)")
  message(STATUS "pclscope export --to perfetto is not built: it needs protobuf-compiler and libprotobuf-dev")
endif()
