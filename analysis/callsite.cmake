# Return addresses become call sites (pclscope_callsite), and call sites function, file and line: that is the program
# pclscope-lines, the only one that sees libdw.
add_library(pclscope_callsite STATIC
  callsite/call_sites.cpp callsite/elf_image.cpp callsite/process_maps.cpp callsite/site_names.cpp
  callsite/site_table.cpp installation.cpp)
file(RELATIVE_PATH PCLSCOPE_LIBEXEC_FROM_BIN ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBEXECDIR}/pclscope)
file(RELATIVE_PATH PCLSCOPE_LIB_FROM_BIN ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_source_files_properties(installation.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON COMPILE_DEFINITIONS
  "PCLSCOPE_LIBEXEC_FROM_BIN=\"${PCLSCOPE_LIBEXEC_FROM_BIN}\";PCLSCOPE_LIB_FROM_BIN=\"${PCLSCOPE_LIB_FROM_BIN}\"")
target_compile_options(pclscope_callsite PUBLIC ${PCLSCOPE_SANITIZE_FLAGS})
target_link_options(pclscope_callsite PUBLIC ${PCLSCOPE_SANITIZE_FLAGS})

add_executable(pclscope-lines callsite/lines_main.cpp callsite/line_finder.cpp callsite/elf_image.cpp)
target_link_libraries(pclscope-lines PRIVATE PkgConfig::libdw)
target_compile_options(pclscope-lines PRIVATE ${PCLSCOPE_SANITIZE_FLAGS})
target_link_options(pclscope-lines PRIVATE ${PCLSCOPE_SANITIZE_FLAGS})
add_dependencies(pclscope_callsite pclscope-lines)
install(TARGETS pclscope-lines RUNTIME DESTINATION ${PCLSCOPE_INSTALL_PARTS})
