# pclscope-rank: what the launcher starts in place of each program. libc only.
add_executable(pclscope-rank rank/rank_main.cpp rank/user_links.cpp libc/files.cpp libc/start.cpp)
target_compile_options(pclscope-rank PRIVATE -fno-exceptions -fno-rtti)
install(TARGETS pclscope-rank RUNTIME DESTINATION ${PCLSCOPE_INSTALL_PARTS})
