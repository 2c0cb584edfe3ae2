// libgcc's unwinder asks in which object an address is by a function of glibc 2.35, which is looked for at run time.
#include <dlfcn.h>

#include <atomic>

#include "interpose/libc/find_object.hpp"
#include "interpose/libc/old_libc.hpp"

#if defined(PCLSCOPE_OLDEST_GLIBC) && defined(DLFO_STRUCT_HAS_EH_DBASE)
extern "C" PCLSCOPE_INSIDE int _dl_find_object(void* address, dl_find_object* out) __THROW {
  using Find = int(void*, dl_find_object*);
  static std::atomic<Find*> found{nullptr};
  Find* find = found.load(std::memory_order_relaxed);
  if (find == nullptr) {
    find = reinterpret_cast<Find*>(dlvsym(RTLD_DEFAULT, "_dl_find_object", "GLIBC_2.35"));
    if (find == nullptr) find = pclscope::find_object_in_list;
    found.store(find, std::memory_order_relaxed);
  }
  return find(address, out);
}
#endif
