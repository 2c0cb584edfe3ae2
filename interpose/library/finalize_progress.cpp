// Part of the preloaded library for MPICH, and of the tool's own rank for MPICH. libc only.
#include "interpose/library/finalize_progress.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

extern "C" ssize_t __read(int file, void* out, size_t bytes);  // the C library's own name of read

namespace pclscope {

namespace {

using Progress = unsigned (*)(void* worker);
using Create = std::int8_t (*)(void* context, const void* parameters, void** worker);  // ucs_status_t is packed

constexpr unsigned workers_limit = 64;  // MPICH has one for each of its virtual interfaces, one if not told otherwise
std::atomic<unsigned> worker_count{0};
std::atomic<void*> workers[workers_limit];

std::atomic<int> answers{-1};  // the process manager's descriptor, while this process is in MPI_Finalize
Progress progress = nullptr;

// MPI, and UCX with it, may have been loaded with local scope.
void* find_in_ucx(const char* name) {
  if (void* found = dlsym(RTLD_NEXT, name)) return found;
  void* ucx = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
  return ucx != nullptr ? dlsym(ucx, name) : nullptr;
}

// Others may use UCX, too: in threads of their own.
bool called_by_mpi(const void* site) {
  Dl_info caller;
  if (dladdr(site, &caller) == 0 || caller.dli_fname == nullptr) return false;
  const char* slash = strrchr(caller.dli_fname, '/');
  return strncmp(slash != nullptr ? slash + 1 : caller.dli_fname, "libmpi", 6) == 0;
}

bool switched_off() {
  const char* word = getenv("PCLSCOPE_FINALIZE_PROGRESS");
  return word != nullptr && strcmp(word, "off") == 0;
}

// -1: none.
int process_manager() {
  const char* text = getenv("PMI_FD");
  if (text == nullptr) return -1;
  char* end = nullptr;
  const long number = strtol(text, &end, 10);
  return end == text || *end != 0 || number < 0 || number > 1 << 20 ? -1 : static_cast<int>(number);
}

void drive_until_readable(int file) {
  const int saved = errno;
  const unsigned count = worker_count.load(std::memory_order_acquire);
  for (bool busy = false;;) {
    pollfd wanted = {file, POLLIN, 0};
    const int found = poll(&wanted, 1, busy ? 0 : 1);
    if (found > 0 || (found < 0 && errno != EINTR)) break;  // an error is read's to tell
    busy = false;
    for (unsigned i = 0; i < count && i < workers_limit; ++i) {
      void* worker = workers[i].load(std::memory_order_relaxed);
      if (worker != nullptr) busy |= progress(worker) != 0;
    }
  }
  errno = saved;
}

}  // namespace

void begin_finalize_progress() {
  if (worker_count.load() == 0 || switched_off()) return;
  progress = reinterpret_cast<Progress>(find_in_ucx("ucp_worker_progress"));
  if (progress != nullptr) answers.store(process_manager());
}

void end_finalize_progress() { answers.store(-1); }

}  // namespace pclscope

#pragma GCC visibility push(default)

extern "C" std::int8_t ucp_worker_create(void* context, const void* parameters, void** worker) {
  using namespace pclscope;
  const auto create = reinterpret_cast<Create>(find_in_ucx("ucp_worker_create"));
  if (create == nullptr) return -12;  // UCS_ERR_NO_ELEM: nobody could have called us
  const std::int8_t status = create(context, parameters, worker);
  const bool noted = status == 0 && called_by_mpi(__builtin_return_address(0));
  const unsigned place = noted ? worker_count.fetch_add(1) : workers_limit;
  if (place < workers_limit) workers[place].store(*worker);
  return status;
}

extern "C" void ucp_worker_destroy(void* worker) {
  using namespace pclscope;
  const unsigned count = worker_count.load();
  for (unsigned i = 0; i < count && i < workers_limit; ++i) {
    void* expected = worker;
    workers[i].compare_exchange_strong(expected, nullptr);
  }
  if (const auto destroy = reinterpret_cast<void (*)(void*)>(find_in_ucx("ucp_worker_destroy"))) destroy(worker);
}

extern "C" ssize_t read(int file, void* out, size_t bytes) {
  if (file >= 0 && file == pclscope::answers.load(std::memory_order_relaxed)) [[unlikely]]
    pclscope::drive_until_readable(file);
  return __read(file, out, bytes);
}

#pragma GCC visibility pop
