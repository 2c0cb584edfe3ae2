// The preloaded libraries and pclscope-rank run with every C library from glibc 2.28 on, whichever they were linked
// with. A linker notes the newest version of each function, and the loader of an older system refuses a library for one
// of them. So this folder defines those functions that got a new version since, hidden, and calls the oldest. In older
// systems they are in libdl and libpthread, which are therefore linked by name.
#pragma once

#include <features.h>

#if defined(__GLIBC__) && defined(__x86_64__)
#define PCLSCOPE_OLDEST_GLIBC "GLIBC_2.2.5"
#elif defined(__GLIBC__) && defined(__aarch64__)
#define PCLSCOPE_OLDEST_GLIBC "GLIBC_2.17"
#endif

// NAME as it was in the beginning is called oldest_NAME.
#define PCLSCOPE_OLDEST(name) __asm__(".symver oldest_" #name "," #name "@" PCLSCOPE_OLDEST_GLIBC)
#define PCLSCOPE_INSIDE __attribute__((visibility("hidden")))
