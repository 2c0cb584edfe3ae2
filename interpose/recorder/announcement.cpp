#include "interpose/recorder/announcement.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "interpose/library/library.hpp"
#include "interpose/record/board.hpp"
#include "interpose/record/shared_folder.hpp"

namespace pclscope {
namespace {

using Word = std::atomic<std::uint32_t>;

enum State : std::uint32_t { nowhere, waiting, written, taken_back };
Word state{nowhere};  // futex: the thread waits for it to change
Word finished{0};     // futex: counts threads that ended
pid_t owner = 0;      // the process that announced, not one it forked

// All that the threads use: composed before they begin.
char above[1024];   // "" or the directory in which the shared one is to be
char shared[1024];  // the shared directory
char jobs[1040], path[1304], draft[1304];
char text[2048];

void wait_for(Word& word, std::uint32_t seen, int milliseconds) {
  timespec end, now;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += milliseconds / 1000;
  end.tv_nsec += milliseconds % 1000 * 1000000L;
  while (word.load() == seen) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    const long long left = (end.tv_sec - now.tv_sec) * 1000000000LL + end.tv_nsec - now.tv_nsec;
    if (left <= 0) return;
    const timespec rest{static_cast<time_t>(left / 1000000000), static_cast<long>(left % 1000000000)};
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, &rest, nullptr, 0);
  }
}

void wake(Word& word) { syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 0x7fffffff, nullptr, nullptr, 0); }

// What it is put into is JSON.
template <std::size_t Size>
void put(char (&to)[Size], const char* value) {
  snprintf(to, Size, "%s", value != nullptr ? value : "");
  for (char* c = to; *c != 0; ++c)
    if (*c < ' ' || *c == 127 || *c == '"' || *c == '\\' || static_cast<unsigned char>(*c) > 127) *c = '_';
}

bool read_boot(char (&boot)[40]) {
  const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  const ssize_t length = file >= 0 ? read(file, boot, sizeof boot - 1) : -1;
  if (file >= 0) close(file);
  if (length < 36) return false;
  boot[36] = 0;
  return true;
}

bool find_folder() {
  const char* given = getenv(record::shared_variable);
  const char* home = getenv("HOME");
  const bool is_given = given != nullptr && *given != 0;
  const int length = is_given
                         ? snprintf(shared, sizeof shared, "%s", given)
                         : snprintf(shared, sizeof shared, "%s/%s", home != nullptr ? home : "", record::shared_name);
  if (shared[0] != '/' || length >= static_cast<int>(sizeof shared)) return false;
  for (std::size_t end = strlen(shared); end > 1 && shared[end - 1] == '/';) shared[--end] = 0;
  snprintf(above, sizeof above, "%.*s", static_cast<int>(strrchr(shared, '/') - shared + 1), shared);
  snprintf(jobs, sizeof jobs, "%s/jobs", shared);
  return shared[1] != 0;
}

bool compose(const Agreement& agreed, int size) {
  char boot[40], host[256] = "", command[256], mpi[64], batch_job[32], cluster[64];
  if (!find_folder() || !read_boot(boot)) return false;
  gethostname(host, sizeof host - 1);
  char executable[256];
  read_executable(executable, sizeof executable);
  put(command, executable);
  put(mpi, library_version());
  put(batch_job, getenv("SLURM_JOB_ID"));
  put(cluster, getenv("SLURM_CLUSTER_NAME"));
  char safe_host[256];
  snprintf(safe_host, sizeof safe_host, "%s", host);
  for (char* c = safe_host; *c != 0; ++c)
    if (!is_letter_or_digit(*c) && *c != '-' && *c != '.') *c = '_';
  const int length = snprintf(
      text, sizeof text,
      "{\"name\": \"%s\", \"host\": \"%s\", \"boot_id\": \"%s\", \"ranks\": %d, \"nodes\": %d, \"command\": \"%s\", "
      "\"mpi\": \"%s\", \"batch_job\": \"%s\", \"cluster\": \"%s\", \"started_realtime_ns\": %lld}\n",
      agreed.job, safe_host, boot, size, static_cast<int>(agreed.nodes), command, mpi, batch_job, cluster,
      static_cast<long long>(agreed.started_ns));
  char name[256];
  const int named = snprintf(name, sizeof name, "%s@%s.%.8s%s", agreed.job, safe_host, boot, record::dormant_suffix);
  snprintf(path, sizeof path, "%s/%s", jobs, name);
  snprintf(draft, sizeof draft, "%s/.%s", jobs, name);
  return length < static_cast<int>(sizeof text) && named < 240;
}

// As analysis/discovery makes and trusts it. Readers see the whole file or none.
void write_file() {
  struct stat found = {};
  if (!record::may_have_bytes(sizeof text)) return;
  if (stat(above, &found) != 0 || !record::can_hold_shared(found)) return;
  if (record::make_private(shared) != record::Made::good) return;
  if (mkdir(jobs, 0700) != 0 && errno != EEXIST) return;
  const int file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return;
  const auto length = static_cast<ssize_t>(strlen(text));
  const bool whole = fchmod(file, 0600) == 0 && write(file, text, static_cast<std::size_t>(length)) == length;
  if (close(file) != 0 || !whole || rename(draft, path) != 0) unlink(draft);
}

void* write_later(void*) {
  wait_for(state, waiting, announced_after_ms);
  if (state.load() == waiting) {
    write_file();
    std::uint32_t expected = waiting;
    if (!state.compare_exchange_strong(expected, written)) unlink(path);
  }
  finished.store(1);
  wake(finished);
  return nullptr;
}

void* remove_file(void*) {
  unlink(path);
  finished.store(1);
  wake(finished);
  return nullptr;
}

// With little memory and without the program's signals.
bool start_thread(void* (*body)(void*)) {
  finished.store(0);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 128 << 10);
  pthread_t thread;
  int failed = pthread_create(&thread, &attributes, body, nullptr);
  if (failed == EINVAL) {  // a program with much thread-local storage, which lies there, too
    pthread_attr_destroy(&attributes);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    failed = pthread_create(&thread, &attributes, body, nullptr);
  }
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return failed == 0;
}

}  // namespace

void announce_elsewhere(const Agreement& agreed, int size) {
  const int saved = errno;
  if (compose(agreed, size)) {
    owner = getpid();
    state.store(waiting);
    if (!start_thread(write_later)) state.store(nowhere);
  }
  errno = saved;
}

void withdraw_elsewhere() {
  if (state.load() == nowhere || owner != getpid()) return;
  const int saved = errno;
  const bool there = state.exchange(taken_back) == written;
  wake(state);
  if (!there || start_thread(remove_file)) wait_for(finished, 0, 20);
  errno = saved;
}

}  // namespace pclscope
