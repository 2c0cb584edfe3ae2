# What a C++ program needs to read dumps and snapshots, and to run a Pipeline of its own (docs/cpp.md): headers, static
# libraries, and the component `analysis` of the CMake package. Installed on demand only: --component cpp.
set(PCLSCOPE_CPP_ROOMS attribute callsite criteria delay density discovery efficiency elf installation machine mapping
    match order pipeline region rows stages store whatif window wire)
add_library(pclscope_analysis INTERFACE)
target_link_libraries(pclscope_analysis INTERFACE pclscope_pipeline pclscope_store pclscope_wire)
target_include_directories(pclscope_analysis INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/pclscope>)
target_compile_features(pclscope_analysis INTERFACE cxx_std_20)
foreach(room analysis blank ${PCLSCOPE_CPP_ROOMS})
  set_target_properties(pclscope_${room} PROPERTIES EXPORT_NAME ${room})
  list(APPEND PCLSCOPE_CPP_LIBRARIES pclscope_${room})
endforeach()
set_target_properties(pclscope_hdf5 PROPERTIES EXPORT_NAME hdf5)
list(APPEND PCLSCOPE_CPP_LIBRARIES pclscope_hdf5)  # its options alone
set(as_cpp COMPONENT cpp EXCLUDE_FROM_ALL)
install(TARGETS ${PCLSCOPE_CPP_LIBRARIES} EXPORT pclscopeAnalysis
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/pclscope ${as_cpp})
install(EXPORT pclscopeAnalysis NAMESPACE pclscope:: FILE pclscopeAnalysisTargets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pclscope ${as_cpp})
install(FILES ${PROJECT_SOURCE_DIR}/ci/cmake/pclscopeAnalysis.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pclscope ${as_cpp})
foreach(room values ${PCLSCOPE_CPP_ROOMS})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/analysis/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pclscope/analysis
          ${as_cpp} FILES_MATCHING PATTERN *.hpp)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/interpose/record DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pclscope/interpose
        ${as_cpp} FILES_MATCHING PATTERN *.hpp PATTERN *.h PATTERN *.def)

# As a package beside pclscope-dev, which has what find_package() finds.
set(CPACK_DEBIAN_CPP_PACKAGE_NAME libpclscope-dev)
set(CPACK_COMPONENT_CPP_DESCRIPTION
    "Headers and libraries to read pclscope's dumps and snapshots, and for its analysis.")
set(CPACK_DEBIAN_CPP_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_CPP_PACKAGE_DEPENDS "pclscope-dev, libeigen3-dev, libhdf5-dev, libisal-dev, zlib1g-dev, libzmq3-dev, \
nlohmann-json3-dev, libscotch-dev, pkg-config")
