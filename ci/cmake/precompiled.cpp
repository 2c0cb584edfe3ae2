// The source of targets that carry precompiled headers (ci/cmake/Rooms.cmake, tests/CMakeLists.txt).
