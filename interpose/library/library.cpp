#include "interpose/library/library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "interpose/library/fortran_routines.hpp"
#include "interpose/library/fortran_sentinels.hpp"
#include "interpose/library/handles.hpp"
#include "interpose/process/notice.hpp"
#include "interpose/process/options.hpp"
#include "real_functions.hpp"

extern "C" __attribute__((visibility("hidden"))) void* pclscope_slots[];

namespace pclscope {

static_assert(sizeof(Real) == real_count * sizeof(void*));

namespace {

#ifdef OPEN_MPI
constexpr char our_mpi[] = "Open MPI";
constexpr char other_mpi[] = "MPICH";
constexpr char our_name[] = "libpclscope-openmpi.so";
constexpr char other_name[] = "libpclscope-mpich.so";
#else
constexpr char our_mpi[] = "MPICH";
constexpr char other_mpi[] = "Open MPI";
constexpr char our_name[] = "libpclscope-mpich.so";
constexpr char other_name[] = "libpclscope-openmpi.so";
#endif

// The C library's dlsym: ours (below) stands before it. RTLD_NEXT means what comes after us, as we are the caller.
using LookUp = void* (*)(void*, const char*);
LookUp system_dlsym() {
  static std::atomic<LookUp> known{nullptr};
  LookUp found = known.load(std::memory_order_relaxed);
  if (found != nullptr) return found;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
    found = reinterpret_cast<LookUp>(dlvsym(RTLD_NEXT, "dlsym", version));
    if (found != nullptr) break;
  }
  known.store(found, std::memory_order_relaxed);
  return found;
}
[[gnu::noinline]] void* look_up(void* handle, const char* name) {
  const LookUp real_dlsym = system_dlsym();
  void* found = real_dlsym != nullptr ? real_dlsym(handle, name) : nullptr;
  return found;
}

pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;  // guards all below
void* mpi_library = nullptr;                          // dlopen handle or RTLD_NEXT
bool found = false;
bool wrapped = false;  // slots lead to our wrappers, else straight to the MPI library
char version[64];

int missing_function() { return MPI_ERR_OTHER; }

// Runtimes such as Python or Julia load libmpi with local scope: walk over what is loaded.
struct Candidates {
  char path[16][512];
  int count;
};

int note_candidate(dl_phdr_info* info, std::size_t, void* data) {
  auto* candidates = static_cast<Candidates*>(data);
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* base = slash != nullptr ? slash + 1 : info->dlpi_name;
  if (strncmp(base, "libmpi", 6) != 0 || strlen(info->dlpi_name) >= sizeof candidates->path[0]) return 0;
  strcpy(candidates->path[candidates->count++], info->dlpi_name);
  return candidates->count == 16;
}

// The first loaded library of that sort that knows the symbol; it stays referenced.
void* find_library_with(const char* symbol) {
  Candidates candidates;
  candidates.count = 0;
  dl_iterate_phdr(note_candidate, &candidates);
  for (int i = 0; i < candidates.count; ++i) {
    void* library = dlopen(candidates.path[i], RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    if (look_up(library, symbol) != nullptr) return library;
    dlclose(library);
  }
  return nullptr;
}

void* find_library() {
  constexpr char symbol[] = "PMPI_Get_library_version";
  return look_up(RTLD_NEXT, symbol) != nullptr ? RTLD_NEXT : find_library_with(symbol);
}

// Data may have been copied into the executable, which then is the only true place: the global scope comes first.
void* find_data(const char* name) {
  void* address = look_up(RTLD_DEFAULT, name);
  return address != nullptr ? address : look_up(mpi_library, name);
}

// A symbol of the MPI library's Fortran part: a routine after us, or data.
void* find_fortran(const char* name) {
  if (void* address = look_up(RTLD_NEXT, name)) return address;
  void* library = find_library_with(name);
  return library != nullptr ? look_up(library, name) : nullptr;
}
void* find_fortran_data(const char* name) {
  void* address = look_up(RTLD_DEFAULT, name);  // common blocks lie in the executable
  return address != nullptr ? address : find_fortran(name);
}

// "MPICH Version:\t4.0.2\n..." and "Open MPI v4.1.4, package: ..." become "MPICH 4.0.2" and "Open MPI v4.1.4".
void shorten_version(const char* text) {
  std::size_t length = strcspn(text, ",\n");
  if (strncmp(text, "MPICH Version:", 14) == 0) {
    const char* number = text + 14 + strspn(text + 14, " \t");
    length = strcspn(number, " \t\n");
    strcpy(version, "MPICH ");
    strncat(version, number, length < 32 ? length : 32);
    return;
  }
  if (length >= sizeof version) length = sizeof version - 1;
  memcpy(version, text, length);
  version[length] = 0;
}

// Without a board every process of a job would say it: then only the first of the node does.
bool first_of_node() {
  for (const char* variable : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_RANK"}) {
    if (const char* rank = getenv(variable)) return strcmp(rank, "0") == 0;
  }
  return true;
}

void refuse() {
  if (board_available() ? count_on_board(&record::Board::refused) != 0 : !first_of_node()) return;
  const bool other = strncmp(version, other_mpi, sizeof other_mpi - 1) == 0;
  say("pclscope: %s was preloaded, but this program uses %s: nothing is recorded%s%s\n", our_name, version,
      other ? "; preload " : "", other ? other_name : "");
}

// Fortran's are found one by one, each at its first call: a program in C pays nothing for them.
void fill_fortran_slot(int i) {
  static bool sentinels_found = false;
  if (wrapped && !sentinels_found) find_sentinels(find_fortran_data);
  sentinels_found |= wrapped;
  void* target = resolve_routine(i, wrapped, find_fortran);
  if (target == nullptr) target = reinterpret_cast<void*>(&missing_function);
  __atomic_store_n(&pclscope_slots[slot_count + i], target, __ATOMIC_RELEASE);
}

void fill_slots() {
  auto* functions = reinterpret_cast<void**>(&real);
  char next_name[64];
  for (int slot = 0; slot < slot_count; ++slot) {
    const SlotEntry& entry = slot_entries[slot];
    void* target = functions[entry.real_index];
    if (!wrapped) {  // leave room for another tool after us
      strcpy(next_name, real_names[entry.real_index]);
      if (void* next = look_up(mpi_library, next_name)) target = next;
    } else if (target != nullptr) {
      target = entry.wrapper;
    }
    if (target == nullptr) target = reinterpret_cast<void*>(&missing_function);
    __atomic_store_n(&pclscope_slots[slot], target, __ATOMIC_RELEASE);
  }
  for (int i = 0; i < fortran_count; ++i) {
    if (fortran_routines[i] != nullptr) fill_fortran_slot(i);
  }
}

// Another tool's MPI_Init between us and the MPI library's own (where both names are of one function).
void tell_other_tool() {
  if (mpi_library != RTLD_NEXT) return;
  void* next = look_up(RTLD_NEXT, "MPI_Init");
  Dl_info tool, mpi;
  if (next == nullptr || dladdr(next, &tool) == 0 || dladdr(reinterpret_cast<void*>(real.Init), &mpi) == 0) return;
  if (tool.dli_fbase == mpi.dli_fbase) return;
  if (board_available() ? !first_to_say(record::said_other_tool) : !first_of_node()) return;
  say("pclscope: %s intercepts MPI behind pclscope and sees nothing of this run: run it without pclscope\n",
      tool.dli_fname);
}

void resolve() {
  mpi_library = find_library();
  if (mpi_library == nullptr) return;
  auto* functions = reinterpret_cast<void**>(&real);
  char name[64] = "P";
  for (int i = 0; i < real_count; ++i) {
    strcpy(name + 1, real_names[i]);
    functions[i] = look_up(mpi_library, name);
  }
  int length = 0;
  // Another implementation may write a longer text than ours promises: none writes more than 8192.
  static char longest[8192 + MPI_MAX_LIBRARY_VERSION_STRING];
  if (real.Get_library_version(longest, &length) == MPI_SUCCESS) shorten_version(longest);
  const bool ours = strncmp(version, our_mpi, sizeof our_mpi - 1) == 0 && find_handles(find_data);
  if (!ours) refuse();
  wrapped = ours;
  if (ours) tell_other_tool();
  fill_slots();
  found = true;
}

}  // namespace

void pass_everything_through() {
  pthread_mutex_lock(&finding);
  wrapped = false;
  fill_slots();
  pthread_mutex_unlock(&finding);
}

void* find_fortran_routine(const char* name) { return find_fortran(name); }

const char* library_version() { return version; }

}  // namespace pclscope

namespace pclscope {

namespace {

// Where a function lies: the address at which its library begins.
void* base_of(const void* address) {
  Dl_info info;
  return address != nullptr && dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// The MPI of this process is found, if there is one.
bool know_library() {
  pthread_mutex_lock(&finding);
  if (!found) resolve();
  const bool known = found;
  pthread_mutex_unlock(&finding);
  return known;
}

}  // namespace

}  // namespace pclscope

extern "C" {
__attribute__((visibility("hidden"))) void* pclscope_system_dlsym = nullptr;

// A program, or a language's runtime, that has loaded MPI by dlopen asks for its functions by name: it gets ours, or we
// would not see it and it would see the tool's ranks. Returns what dlsym is to return; nullptr: the answer of the C
// library's; 1: nullptr, as MPI's functions are not there, though ours are. Called by `dlsym` (trampoline.S).
__attribute__((visibility("hidden"))) void* pclscope_instead_of(void* handle, const char* name) {
  using namespace pclscope;
  if (pclscope_system_dlsym == nullptr) pclscope_system_dlsym = reinterpret_cast<void*>(system_dlsym());
  if (name == nullptr || strncmp(name, "MPI_", 4) != 0 || handle == RTLD_NEXT) return nullptr;
  void* const ours = base_of(reinterpret_cast<void*>(&pclscope_instead_of));
  void* const theirs = look_up(handle, name);
  if (theirs == nullptr || ours == nullptr) return nullptr;
  Dl_info self;
  dladdr(reinterpret_cast<void*>(&pclscope_instead_of), &self);
  void* const library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  dlclose(library);  // it stays: this is its code
  const bool known = know_library();
  if (base_of(theirs) == ours) return known || handle == library ? nullptr : reinterpret_cast<void*>(1);
  if (!known || !wrapped || base_of(theirs) != base_of(reinterpret_cast<void*>(real.Init))) return nullptr;
  void* const wrapper = look_up(library, name);
  return base_of(wrapper) == ours ? wrapper : nullptr;
}
}

// Called by the trampolines until the slots are filled. Returns where to go on.
extern "C" __attribute__((visibility("hidden"))) void* pclscope_first_call(unsigned slot) {
  using namespace pclscope;
  pthread_mutex_lock(&finding);
  if (!found) resolve();
  if (found && slot >= static_cast<unsigned>(slot_count)) fill_fortran_slot(static_cast<int>(slot) - slot_count);
  void* target = found ? __atomic_load_n(&pclscope_slots[slot], __ATOMIC_ACQUIRE)
                       : reinterpret_cast<void*>(&missing_function);  // no MPI here (yet)
  pthread_mutex_unlock(&finding);
  return target;
}
