# What an installation has besides programs and libraries: man pages, completions, the desktop's entry, and what
# programs find the header of markers by. Every path is relative to its file, so that an installation can be moved.
include(CMakePackageConfigHelpers)

if(TARGET pclscope-view)
  set(asked pclscope pclscope-view)  # pclscope view --help asks the window's program
else()
  set(asked pclscope)
endif()
set(documents ${PROJECT_BINARY_DIR}/share)
set(packaging ${PROJECT_SOURCE_DIR}/ci/packaging)
add_custom_command(
  OUTPUT ${documents}/stamp
  COMMAND ${PCLSCOPE_PYTHON3} -B ${packaging}/documents.py $<TARGET_FILE:pclscope> ${documents}
  COMMAND ${CMAKE_COMMAND} -E touch ${documents}/stamp
  DEPENDS ${asked} ${packaging}/documents.py ${packaging}/completions.py
  COMMENT "man pages and completions"
  VERBATIM)
add_custom_target(pclscope_documents ALL DEPENDS ${documents}/stamp)

install(DIRECTORY ${documents}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${documents}/pclscope.bash RENAME pclscope
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${documents}/_pclscope DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

install(FILES interpose/marker/pclscope.h interpose/marker/pclscope.f90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT dev)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/pclscope)
file(RELATIVE_PATH PCLSCOPE_PREFIX_FROM_PC ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH PCLSCOPE_PREFIX_FROM_CONFIG ${CMAKE_INSTALL_FULL_LIBDIR}/cmake/pclscope ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH PCLSCOPE_INCLUDE_FROM_PREFIX ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(RELATIVE_PATH PCLSCOPE_LIB_FROM_PREFIX ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
configure_file(${packaging}/pclscope.pc.in ${documents}/pclscope.pc @ONLY)
configure_file(${packaging}/pclscopeConfig.cmake.in ${documents}/pclscopeConfig.cmake @ONLY)
write_basic_package_version_file(${documents}/pclscopeConfigVersion.cmake COMPATIBILITY SameMajorVersion
  ARCH_INDEPENDENT)
install(FILES ${documents}/pclscope.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
install(FILES ${documents}/pclscopeConfig.cmake ${documents}/pclscopeConfigVersion.cmake
  DESTINATION ${config_folder} COMPONENT dev)

if(TARGET pclscope-view)
  install(FILES ${packaging}/pclscope.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications COMPONENT gui)
  install(FILES ${packaging}/pclscope.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps
    COMPONENT gui)
endif()
