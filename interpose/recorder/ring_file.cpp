#include "interpose/recorder/ring_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interpose/process/notice.hpp"
#include "interpose/process/options.hpp"
#include "interpose/record/segment.hpp"
#include "interpose/recorder/process.hpp"
#include "interpose/recorder/room.hpp"

namespace pclscope {

namespace {

constexpr std::uint64_t smallest_ring = 1024;  // that is made instead of a larger one
constexpr int high_descriptor = 768;           // the application's numbers stay as they were

std::uint64_t smallest() { return options().ring_events < smallest_ring ? options().ring_events : smallest_ring; }

// The largest power of two, at most what was asked for, whose ring finds `room`; 0: not even the smallest does.
std::uint64_t capacity_in(std::uint64_t room) {
  // Threads come one by one, and each is to find some room.
  if (process.multiple) room /= 2;
  std::uint64_t capacity = options().ring_events;
  const auto fits = [&] {
    return record::segment_bytes(capacity) <= room && record::may_have_bytes(record::segment_bytes(capacity));
  };
  while (capacity > smallest() && !fits()) capacity /= 2;
  return fits() ? capacity : 0;
}

// Takes the pages now, so that what is full is an error here and not a SIGBUS in the middle of the run. Where there is
// less room than `capacity` needs, half as many events and so on. 0 and errno when nothing helps.
std::uint64_t take_pages(int file, std::uint64_t capacity) {
  for (;;) {
    int reason;
    do reason = posix_fallocate(file, 0, static_cast<off_t>(record::segment_bytes(capacity)));
    while (reason == EINTR);
    if (reason == 0) return capacity;
    [[maybe_unused]] const int cut = ftruncate(file, 0);
    errno = reason;
    if (reason != ENOSPC || capacity <= smallest()) return 0;
    capacity /= 2;
  }
}

RingFile in_shm(const char* path, std::uint64_t capacity) {
  RingFile made;
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return made;
  fchmod(file, 0600);  // whatever the umask is, the consumer is to open it
  made.capacity = take_pages(file, capacity);
  if (made.capacity == 0) {
    const int reason = errno;
    close(file);
    unlink(path);
    errno = reason;
    return made;
  }
  made.descriptor = file;
  return made;
}

// The consumer opens our descriptor: it must see our processes' numbers as we do, and be allowed to.
bool consumer_can_follow() {
  if (prctl(PR_GET_DUMPABLE) != 1) return false;
  record::Board* board = open_board();
  return board != nullptr && record::same_process_ids(*board);
}

// Nobody else can open such a file by a name, and none stays when we die.
int open_nameless() {
  const char* directory = options().ring_directory;
  if (directory[0] == 0) return memfd_create("pclscope-ring", MFD_CLOEXEC);
  const int file = open(directory, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
  if (file >= 0 || errno == ENOENT || errno == EACCES) return file;
  char path[sizeof options().ring_directory + 32];  // not every file system knows O_TMPFILE
  snprintf(path, sizeof path, "%s/pclscope-ring-XXXXXX", directory);
  const int named = mkostemp(path, O_CLOEXEC);
  if (named >= 0) unlink(path);
  return named;
}

RingFile elsewhere(const char* path, std::uint64_t capacity) {
  RingFile made;
  int file = open_nameless();
  if (file < 0) return made;
  if (const int high = fcntl(file, F_DUPFD_CLOEXEC, high_descriptor); high >= 0) {
    close(file);
    file = high;
  }
  made.capacity = take_pages(file, capacity);
  char link[64];
  snprintf(link, sizeof link, "/proc/%d/fd/%d", static_cast<int>(getpid()), file);
  struct stat found = {};
  if (made.capacity == 0 || fstat(file, &found) != 0 || symlink(link, path) != 0) {
    const int reason = errno;
    close(file);
    errno = reason;
    return RingFile{};
  }
  made.descriptor = file;
  made.nameless = true;
  made.inode = found.st_ino;
  return made;
}

}  // namespace

RingFile make_ring_file(const char* path, std::uint32_t session) {
  const bool directory_given = options().ring_directory[0] != 0;
  const bool only_shm = directory_given && strcmp(options().ring_directory, "/dev/shm") == 0;
  const std::uint64_t most = capacity_in(std::uint64_t{1} << 62);
  if (directory_given && !only_shm && most != 0) return elsewhere(path, most);
  const std::uint64_t here = capacity_in(room_in_shm(session, false));
  const bool plenty = capacity_in(room_in_shm(session, true)) == most;
  if (!plenty && !only_shm && consumer_can_follow()) {
    const std::uint64_t there = capacity_in(room_in_memory());
    const RingFile made = there != 0 && there >= here ? elsewhere(path, there) : RingFile{};
    if (made.descriptor >= 0) return made;
  }
  if (here != 0) return in_shm(path, here);
  errno = ENOSPC;
  return RingFile{};
}

void close_nameless(int descriptor, ino_t inode) {
  const int saved = errno;
  struct stat found = {};
  if (fstat(descriptor, &found) == 0 && found.st_ino == inode && found.st_nlink == 0) close(descriptor);
  errno = saved;
}

}  // namespace pclscope
