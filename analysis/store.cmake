# pclscope_store: the only part that sees HDF5.
add_library(pclscope_store STATIC
  store/commit_file.cpp store/driver.cpp store/hdf5_handle.cpp store/table.cpp store/corrected.cpp store/summary.cpp
  store/sites.cpp store/target.cpp store/plane_deflate.cpp store/packed_rows.cpp store/window_stages.cpp
  store/writer.cpp store/writer_state.cpp store/compact.cpp store/reader.cpp)
pclscope_precompile(pclscope_store)
target_link_libraries(pclscope_store PUBLIC pclscope_rows PRIVATE PkgConfig::hdf5 ZLIB::ZLIB)
target_compile_definitions(pclscope_store PRIVATE PCLSCOPE_VERSION="${PROJECT_VERSION}")
target_compile_options(pclscope_store PRIVATE ${PCLSCOPE_SANITIZE_FLAGS})
target_link_options(pclscope_store PUBLIC ${PCLSCOPE_SANITIZE_FLAGS})
