# pclscope_rows: values as rows of tables, with one list of columns for each. Knows neither HDF5 nor FlatBuffers.
add_library(pclscope_rows STATIC rows/finding_rows.cpp rows/snapshot_rows.cpp)
pclscope_precompile(pclscope_rows)
target_compile_options(pclscope_rows PUBLIC ${PCLSCOPE_SANITIZE_FLAGS})
target_link_options(pclscope_rows PUBLIC ${PCLSCOPE_SANITIZE_FLAGS})
