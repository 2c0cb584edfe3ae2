# What makes builds quick and changes no program: a compiler cache, a quick linker, precompiled headers, several sources
# in one unit. Figures: benchmarks/README.md, "The check".
option(PCLSCOPE_UNITY "Compile several sources at once: quicker for a whole build, slower after a small change" ON)
option(PCLSCOPE_PCH "Precompile the headers of the standard library and others" ON)
option(PCLSCOPE_CCACHE "Use ccache where it is installed" ON)

if(PCLSCOPE_CCACHE)
  find_program(PCLSCOPE_CCACHE_PROGRAM ccache)
  if(PCLSCOPE_CCACHE_PROGRAM)
    set(launcher bash ${PROJECT_SOURCE_DIR}/ci/cmake/ccache.sh ${PROJECT_SOURCE_DIR} ${PCLSCOPE_CCACHE_PROGRAM})
    set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
    # __FILE__ is the path in the project, so that a clone in another folder finds what this one compiled.
    add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)
  endif()
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)  # for ccache
else()
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# Programs of the sanitizer builds are linked some sixty times; what users get comes from the ordinary linker.
if(PCLSCOPE_SANITIZE OR PCLSCOPE_TSAN)
  find_program(PCLSCOPE_MOLD mold)
  if(PCLSCOPE_MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
endif()

set(CMAKE_UNITY_BUILD ${PCLSCOPE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 10)
if(PCLSCOPE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A source that is included by another looks like a header.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()

# pclscope_precompile(TARGET [HEADER...]): the standard library's headers, and these, are read once for the target.
set(PCLSCOPE_STANDARD_HEADERS <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstring> <functional>
    <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <string> <string_view> <thread> <tuple>
    <unordered_map> <utility> <variant> <vector>)
function(pclscope_precompile target)
  if(PCLSCOPE_PCH)
    target_precompile_headers(${target} PRIVATE ${PCLSCOPE_STANDARD_HEADERS} ${ARGN})
  endif()
endfunction()
