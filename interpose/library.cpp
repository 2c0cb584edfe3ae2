#include "interpose/library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/handles.hpp"
#include "interpose/notice.hpp"
#include "interpose/options.hpp"
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

pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;  // guards all below
void* mpi_library = nullptr;  // dlopen handle or RTLD_NEXT
bool found = false;
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

void* find_library() {
  if (dlsym(RTLD_NEXT, "PMPI_Get_library_version") != nullptr) return RTLD_NEXT;
  Candidates candidates;
  candidates.count = 0;
  dl_iterate_phdr(note_candidate, &candidates);
  for (int i = 0; i < candidates.count; ++i) {
    void* library = dlopen(candidates.path[i], RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr && dlsym(library, "PMPI_Get_library_version") != nullptr) return library;
  }
  return nullptr;
}

// Data may have been copied into the executable, which then is the only true place: the global scope comes first.
void* find_data(const char* name) {
  void* address = dlsym(RTLD_DEFAULT, name);
  return address != nullptr ? address : dlsym(mpi_library, name);
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
  const bool speak = board_available() ? count_on_board(&record::Board::refused) == 0 : first_of_node();
  if (!speak) return;
  const bool other = strncmp(version, other_mpi, sizeof other_mpi - 1) == 0;
  say("pclscope: %s was preloaded, but this program uses %s: nothing is recorded%s%s\n", our_name, version,
      other ? "; preload " : "", other ? other_name : "");
}

void fill_slots(bool wrapped) {
  auto* functions = reinterpret_cast<void**>(&real);
  char next_name[64];
  for (int slot = 0; slot < slot_count; ++slot) {
    const SlotEntry& entry = slot_entries[slot];
    void* target = functions[entry.real_index];
    if (!wrapped) {  // leave room for another tool after us
      strcpy(next_name, real_names[entry.real_index]);
      if (void* next = dlsym(mpi_library, next_name)) target = next;
    } else if (target != nullptr) {
      target = entry.wrapper;
    }
    if (target == nullptr) target = reinterpret_cast<void*>(&missing_function);
    __atomic_store_n(&pclscope_slots[slot], target, __ATOMIC_RELEASE);
  }
}

void resolve() {
  mpi_library = find_library();
  if (mpi_library == nullptr) return;
  auto* functions = reinterpret_cast<void**>(&real);
  char name[64] = "P";
  for (int i = 0; i < real_count; ++i) {
    strcpy(name + 1, real_names[i]);
    functions[i] = dlsym(mpi_library, name);
  }
  int length = 0;
  // Another implementation may write a longer text than ours promises: none writes more than 8192.
  static char longest[8192 + MPI_MAX_LIBRARY_VERSION_STRING];
  if (real.Get_library_version(longest, &length) == MPI_SUCCESS) shorten_version(longest);
  const bool ours = strncmp(version, our_mpi, sizeof our_mpi - 1) == 0 && find_handles(find_data);
  if (!ours) refuse();
  fill_slots(ours);
  found = true;
}

}  // namespace

void pass_everything_through() {
  pthread_mutex_lock(&finding);
  fill_slots(false);
  pthread_mutex_unlock(&finding);
}

const char* library_version() { return version; }

}  // namespace pclscope

// Called by the trampolines until the slots are filled. Returns where to go on.
extern "C" __attribute__((visibility("hidden"))) void* pclscope_first_call(unsigned slot) {
  using namespace pclscope;
  pthread_mutex_lock(&finding);
  if (!found) resolve();
  void* target = found ? __atomic_load_n(&pclscope_slots[slot], __ATOMIC_ACQUIRE)
                       : reinterpret_cast<void*>(&missing_function);  // no MPI here (yet)
  pthread_mutex_unlock(&finding);
  return target;
}
