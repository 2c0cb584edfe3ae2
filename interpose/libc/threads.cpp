// Threads and loaded objects: in libc since glibc 2.34 (pthread_sigmask: 2.32), before in libpthread and libdl.
// libgcc's unwinder, which is linked into the library, calls some of them, too.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include "interpose/libc/old_libc.hpp"

#if defined(PCLSCOPE_OLDEST_GLIBC) && __GLIBC_PREREQ(2, 34)
extern "C" {
int oldest_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
PCLSCOPE_OLDEST(pthread_create);
PCLSCOPE_INSIDE int pthread_create(pthread_t* thread, const pthread_attr_t* with, void* (*run)(void*),
                                   void* data) __THROWNL {
  return oldest_pthread_create(thread, with, run, data);
}

int oldest_pthread_attr_setstacksize(pthread_attr_t*, size_t);
PCLSCOPE_OLDEST(pthread_attr_setstacksize);
PCLSCOPE_INSIDE int pthread_attr_setstacksize(pthread_attr_t* with, size_t bytes) __THROW {
  return oldest_pthread_attr_setstacksize(with, bytes);
}

int oldest_pthread_once(pthread_once_t*, void (*)());
PCLSCOPE_OLDEST(pthread_once);
PCLSCOPE_INSIDE int pthread_once(pthread_once_t* once, void (*run)()) { return oldest_pthread_once(once, run); }

int oldest_pthread_mutex_trylock(pthread_mutex_t*);
PCLSCOPE_OLDEST(pthread_mutex_trylock);
PCLSCOPE_INSIDE int pthread_mutex_trylock(pthread_mutex_t* mutex) __THROWNL {
  return oldest_pthread_mutex_trylock(mutex);
}

int oldest_pthread_key_create(pthread_key_t*, void (*)(void*));
PCLSCOPE_OLDEST(pthread_key_create);
PCLSCOPE_INSIDE int pthread_key_create(pthread_key_t* key, void (*end)(void*)) __THROW {
  return oldest_pthread_key_create(key, end);
}
// By whose address libgcc tells whether there are threads.
PCLSCOPE_INSIDE int __pthread_key_create(pthread_key_t* key, void (*end)(void*)) __THROW {
  return oldest_pthread_key_create(key, end);
}

int oldest_pthread_setspecific(pthread_key_t, const void*) __attr_access_none(2);
PCLSCOPE_OLDEST(pthread_setspecific);
PCLSCOPE_INSIDE int pthread_setspecific(pthread_key_t key, const void* value) __THROW {
  return oldest_pthread_setspecific(key, value);
}

void* oldest_pthread_getspecific(pthread_key_t);
PCLSCOPE_OLDEST(pthread_getspecific);
PCLSCOPE_INSIDE void* pthread_getspecific(pthread_key_t key) __THROW { return oldest_pthread_getspecific(key); }

int oldest_pthread_sigmask(int, const sigset_t*, sigset_t*);
PCLSCOPE_OLDEST(pthread_sigmask);
PCLSCOPE_INSIDE int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) __THROW {
  return oldest_pthread_sigmask(how, set, before);
}

void* oldest_dlopen(const char*, int);
PCLSCOPE_OLDEST(dlopen);
PCLSCOPE_INSIDE void* dlopen(const char* file, int mode) __THROWNL { return oldest_dlopen(file, mode); }

int oldest_dlclose(void*);
PCLSCOPE_OLDEST(dlclose);
PCLSCOPE_INSIDE int dlclose(void* handle) __THROWNL { return oldest_dlclose(handle); }

int oldest_dladdr(const void*, Dl_info*);
PCLSCOPE_OLDEST(dladdr);
PCLSCOPE_INSIDE int dladdr(const void* address, Dl_info* info) __THROW { return oldest_dladdr(address, info); }

void* oldest_dlvsym(void*, const char*, const char*);
PCLSCOPE_OLDEST(dlvsym);
PCLSCOPE_INSIDE void* dlvsym(void* handle, const char* name, const char* version) __THROW {
  return oldest_dlvsym(handle, name, version);
}
}
#endif
