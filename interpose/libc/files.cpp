// stat, lstat and fstat are functions since glibc 2.33; before, they were parts of a header.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/libc/old_libc.hpp"

#if defined(PCLSCOPE_OLDEST_GLIBC) && __GLIBC_PREREQ(2, 33)
extern "C" {
PCLSCOPE_INSIDE int stat(const char* path, struct stat* out) __THROW {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, out, 0));
}
PCLSCOPE_INSIDE int lstat(const char* path, struct stat* out) __THROW {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW));
}
PCLSCOPE_INSIDE int fstat(int file, struct stat* out) __THROW {
  return static_cast<int>(syscall(SYS_fstat, file, out));
}
}
#endif
