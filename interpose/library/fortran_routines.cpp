#include "interpose/library/fortran_routines.hpp"

#include <ctype.h>
#include <string.h>

#include <cstddef>

namespace pclscope {

namespace {

constexpr std::size_t longest = 96;

// The possible spellings, in order of likelihood. Ends with nullptr.
const char* const* suffixes(Binding binding) {
  static const char* const plain[] = {"_", "__", "", nullptr};
  static const char* const f08[] = {"_f08_", nullptr};
  static const char* const f08ts[] = {"_f08ts_", nullptr};
  static const char* const f08_large[] = {"_f08_large_", nullptr};
  static const char* const f08ts_large[] = {"_f08ts_large_", nullptr};
  switch (binding) {
    case Binding::plain: return plain;
    case Binding::f08: return f08;
    case Binding::f08ts: return f08ts;
    case Binding::f08_large: return f08_large;
    case Binding::f08ts_large: return f08ts_large;
  }
  return plain;
}

// `prefix` takes the place of the first word of base: "pmpi" + "_send" + "_".
void* find_spelled(const FortranEntry& entry, const char* before, const char* after, void* (*find)(const char*)) {
  const char* rest = strchr(entry.base, '_');
  if (rest == nullptr || strlen(entry.base) + 24 > longest) return nullptr;
  char name[longest];
  for (const char* const* suffix = suffixes(entry.binding); *suffix != nullptr; ++suffix) {
    strcpy(name, before);
    strncat(name, entry.base, static_cast<std::size_t>(rest - entry.base));
    strcat(name, after);
    strcat(name, rest);
    strcat(name, *suffix);
    if (void* address = find(name)) return address;
  }
  if (entry.binding != Binding::plain) return nullptr;
  strcpy(name, before);
  strcat(name, entry.base);
  for (char* c = name; *c != 0; ++c) *c = static_cast<char>(toupper(*c));
  return find(name);
}

}  // namespace

void* resolve_routine(int i, bool wrapped, void* (*find)(const char*)) {
  const FortranEntry& entry = fortran_entries[i];
  if (!wrapped) return find_spelled(entry, "", "", find);
  void* routine = find_spelled(entry, "p", "", find);
  if (routine == nullptr) routine = find_spelled(entry, "p", "r", find);  // MPICH: pmpir_send_f08ts_
  if (routine == nullptr) return find_spelled(entry, "", "", find);
  fortran_routines[i] = routine;
  return entry.shim;
}

}  // namespace pclscope
