# pclscope_mapping: networks, who should run where, and the ways that messages take (docs/mapping.md).
add_library(pclscope_mapping STATIC
  mapping/anneal.cpp mapping/boxes.cpp mapping/cost.cpp mapping/descend.cpp mapping/exact.cpp mapping/grouping.cpp
  mapping/halving.cpp mapping/instance.cpp mapping/launch_files.cpp mapping/mapping.cpp mapping/refinement.cpp
  mapping/scotch.cpp mapping/traffic_file.cpp
  mapping/distance_rows.cpp mapping/edge_list.cpp mapping/link_load.cpp mapping/network.cpp mapping/reroute.cpp
  mapping/route_file.cpp mapping/route_line.cpp mapping/route_set.cpp mapping/topology.cpp mapping/torus.cpp)
pclscope_precompile(pclscope_mapping)
target_compile_options(pclscope_mapping PUBLIC ${PCLSCOPE_SANITIZE_FLAGS} PRIVATE ${PCLSCOPE_COMPUTING_FLAGS})
target_link_options(pclscope_mapping PUBLIC ${PCLSCOPE_SANITIZE_FLAGS})
# Scotch is seen by scotch.cpp alone, which also takes the place of libscotcherr.
find_path(scotch_include scotch.h PATH_SUFFIXES scotch scotch-int32 REQUIRED)
find_library(scotch_library scotch REQUIRED)
set_source_files_properties(mapping/scotch.cpp PROPERTIES INCLUDE_DIRECTORIES ${scotch_include})
target_link_libraries(pclscope_mapping PRIVATE ${scotch_library})
target_link_libraries(pclscope_core PUBLIC pclscope_mapping)
