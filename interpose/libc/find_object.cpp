#include "interpose/libc/find_object.hpp"

#include <link.h>

#include <cstdint>

#ifdef DLFO_STRUCT_HAS_EH_DBASE
namespace pclscope {
namespace {

struct Search {
  std::uintptr_t address;
  dl_find_object* out;
};

int look(dl_phdr_info* object, size_t, void* data) {
  const auto& search = *static_cast<Search*>(data);
  bool holds = false;
  const ElfW(Phdr)* frames = nullptr;
  std::uintptr_t first = UINTPTR_MAX, last = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_EH_FRAME) frames = &part;
    if (part.p_type != PT_LOAD) continue;
    holds = holds || (search.address >= begin && search.address - begin < part.p_memsz);
    if (begin < first) first = begin;
    if (begin + part.p_memsz > last) last = begin + part.p_memsz;
  }
  if (!holds) return 0;
  if (frames == nullptr) return -1;
  *search.out = {};
  search.out->dlfo_map_start = reinterpret_cast<void*>(first);
  search.out->dlfo_map_end = reinterpret_cast<void*>(last);
  search.out->dlfo_link_map = reinterpret_cast<link_map*>(const_cast<ElfW(Phdr)*>(object->dlpi_phdr));
  search.out->dlfo_eh_frame = reinterpret_cast<void*>(object->dlpi_addr + frames->p_vaddr);
  return 1;
}

}  // namespace

int find_object_in_list(void* address, dl_find_object* out) {
  Search search{reinterpret_cast<std::uintptr_t>(address), out};
  return dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}

}  // namespace pclscope
#endif
