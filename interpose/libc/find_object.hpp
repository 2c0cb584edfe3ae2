// _dl_find_object as the list of loaded objects says it: for C libraries before glibc 2.35, which have none.
#pragma once

#include <dlfcn.h>

#ifdef DLFO_STRUCT_HAS_EH_DBASE
namespace pclscope {

// 0 when an object holds the address, else -1. dlfo_link_map is no link_map: it only is the same for all addresses of
// an object, and another one for each object.
int find_object_in_list(void* address, dl_find_object* out);

}  // namespace pclscope
#endif
