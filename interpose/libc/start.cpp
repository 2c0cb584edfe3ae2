// What a program begins with, got another version when libc took over what the program had done: constructors. An older
// libc runs none for us, so there must be none.
#include "interpose/libc/old_libc.hpp"

#if defined(PCLSCOPE_OLDEST_GLIBC) && __GLIBC_PREREQ(2, 34)
extern "C" {
using Main = int(int, char**, char**);
using Step = void();
int oldest___libc_start_main(Main* main, int count, char** words, Step* begin, Step* end, Step* unload, void* stack);
PCLSCOPE_OLDEST(__libc_start_main);
PCLSCOPE_INSIDE int __libc_start_main(Main* main, int count, char** words, Step* begin, Step* end, Step* unload,
                                      void* stack) {
  return oldest___libc_start_main(main, count, words, begin, end, unload, stack);
}
}
#endif
