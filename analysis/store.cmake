# pclscope_store: the only part that sees HDF5.
add_library(pclscope_store STATIC
  store/commit_file.cpp store/driver.cpp store/hdf5_handle.cpp store/table.cpp store/flatten.cpp store/summary.cpp store/sites.cpp store/target.cpp
  store/writer.cpp store/reader.cpp)
target_link_libraries(pclscope_store PRIVATE PkgConfig::hdf5)
target_compile_definitions(pclscope_store PRIVATE PCLSCOPE_VERSION="${PROJECT_VERSION}")
target_compile_options(pclscope_store PRIVATE ${PCLSCOPE_SANITIZE_FLAGS})
target_link_options(pclscope_store PUBLIC ${PCLSCOPE_SANITIZE_FLAGS})
