/* Names parts of an MPI program for pclscope: phases, and the iterations of a loop (docs/markers.md).
 *
 *     pclscope_begin("solve");
 *     for (step = 0; step < steps; ++step) {
 *       pclscope_iteration("step", step);
 *       ...
 *     }
 *     pclscope_end("step");
 *     pclscope_end("solve");
 *
 * For C and C++. Nothing is linked: the program looks for the preloaded library at its first marker, and where there is
 * none a marker is a comparison. Names have at most 64 bytes; what is longer is cut. This file may be copied into a
 * program's own sources. */
#ifndef PCLSCOPE_H
#define PCLSCOPE_H

#include <dlfcn.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*pclscope_marker_function)(int kind, const char* name, long length, long long number);

/* Older C libraries have dlsym in a library of its own: a program without it runs on, and marks nothing. */
#pragma weak dlsym

static pclscope_marker_function pclscope_found;
static int pclscope_looked;

static inline void pclscope_mark(int kind, const char* name, long long number) {
  if (!__atomic_load_n(&pclscope_looked, __ATOMIC_ACQUIRE)) {
    void* (*const look_up)(void*, const char*) = dlsym;
    void* const found = look_up ? look_up(NULL, "pclscope_marker") : NULL;
    pclscope_marker_function function;
    memcpy(&function, &found, sizeof function); /* ISO C has no conversion to a function */
    __atomic_store_n(&pclscope_found, function, __ATOMIC_RELAXED);
    __atomic_store_n(&pclscope_looked, 1, __ATOMIC_RELEASE);
  }
  {
    const pclscope_marker_function marker = __atomic_load_n(&pclscope_found, __ATOMIC_RELAXED);
    if (marker) marker(kind, name, -1, number);
  }
}

/* A part of the program begins, and ends. Parts may lie in each other and overlap. */
static inline void pclscope_begin(const char* name) { pclscope_mark(1, name, 0); }
static inline void pclscope_end(const char* name) { pclscope_mark(2, name, 0); }
/* Iteration `number` begins; it ends with the next one of that name, or with pclscope_end. */
static inline void pclscope_iteration(const char* name, long long number) { pclscope_mark(3, name, number); }

#ifdef __cplusplus
}
#endif

#endif
