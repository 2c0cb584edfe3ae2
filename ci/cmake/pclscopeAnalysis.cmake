# Component `analysis` of find_package(pclscope): pclscope::analysis, to read dumps and snapshots and to run a Pipeline.
# What its static libraries need, by the names that they have in pclscope's own build.
include(CMakeFindDependencyMacro)
foreach(needed Eigen3 PkgConfig Threads ZLIB nlohmann_json)
  find_dependency(${needed})
endforeach()
foreach(module libisal libzmq)
  string(REGEX REPLACE "^lib" "" name ${module})
  pkg_check_modules(${name} REQUIRED QUIET IMPORTED_TARGET ${module})
endforeach()
pkg_check_modules(hdf5 QUIET IMPORTED_TARGET hdf5)  # a build with HDF5_ROOT names its files itself
include(${CMAKE_CURRENT_LIST_DIR}/pclscopeAnalysisTargets.cmake)
set(pclscope_analysis_FOUND TRUE)
