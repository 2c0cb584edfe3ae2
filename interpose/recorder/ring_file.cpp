#include "interpose/recorder/ring_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

// Whether the process may not have all the addresses that it likes: the application may need the rest.
bool addresses_are_limited() {
  rlimit limit = {};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

// Makes the file longer, without pages: by as many rings as there may be. A ring that is smaller than was asked for, or
// lies where the user wants it, stays as it is.
void make_room_to_grow(RingFile& made, std::uint32_t session) {
  if (options().ring_directory[0] != 0 && strcmp(options().ring_directory, "/dev/shm") != 0) return;
  if (made.capacity < options().ring_events || addresses_are_limited()) return;
  const std::uint64_t room = set_room_to_grow(session, made.nameless);
  std::uint32_t growths = 0;
  std::uint64_t taken = 0;
  while (growths < record::growths_limit && made.capacity << (growths + 1) <= options().ring_limit) {
    taken += (made.capacity << (growths + 1)) * sizeof(record::Event);
    if (taken > room || !record::may_have_bytes(record::segment_bytes(made.capacity, growths + 1))) break;
    ++growths;
  }
  if (growths == 0) return;
  const auto bytes = static_cast<off_t>(record::segment_bytes(made.capacity, growths));
  if (ftruncate(made.descriptor, bytes) == 0) made.growths = growths;
}

char* page_below(char* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return address - number % static_cast<std::uintptr_t>(getpagesize());
}

// All or none. Without MADV_POPULATE_WRITE (Linux before 5.14) there is no way that cannot end in a signal.
bool take_pages_between(char* begin, char* end) {
  char* const from = page_below(begin);
  const auto length = static_cast<std::size_t>(end - from);
  if (mprotect(from, length, PROT_READ | PROT_WRITE) != 0) return false;
  int failed;
  do failed = madvise(from, length, MADV_POPULATE_WRITE);
  while (failed != 0 && errno == EINTR);
  if (failed == 0) return true;
  char* const own = page_below(begin + getpagesize() - 1);  // the first may be that of a smaller ring as well
  if (own < end) madvise(own, static_cast<std::size_t>(end - own), MADV_REMOVE);
  return false;
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

static RingFile make_without_growth(const char* path, std::uint32_t session) {
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

RingFile make_ring_file(const char* path, std::uint32_t session) {
  RingFile made = make_without_growth(path, session);
  if (made.descriptor >= 0) make_room_to_grow(made, session);
  return made;
}

// Rings to come have addresses, and no access: whoever locks all his memory (mlockall) would take their pages, too.
record::SegmentHeader* map_ring_file(RingFile& file) {
  constexpr int access = PROT_READ | PROT_WRITE, first = MAP_SHARED | MAP_POPULATE;
  const std::uint64_t bytes = record::segment_bytes(file.capacity);
  const std::uint64_t all = record::segment_bytes(file.capacity, file.growths);
  void* memory = MAP_FAILED;
  if (file.growths > 0) {
    memory = mmap(nullptr, all, PROT_NONE, MAP_SHARED, file.descriptor, 0);
    if (memory == MAP_FAILED && ftruncate(file.descriptor, static_cast<off_t>(bytes)) == 0) file.growths = 0;
  }
  if (file.growths == 0) {
    memory = mmap(nullptr, bytes, access, first, file.descriptor, 0);
  } else if (memory != MAP_FAILED) {
    void* const place = memory;
    memory = mmap(place, bytes, access, first | MAP_FIXED, file.descriptor, 0);
    if (memory == MAP_FAILED) munmap(place, all);
  }
  return memory == MAP_FAILED ? nullptr : static_cast<record::SegmentHeader*>(memory);
}

bool take_ring(record::SegmentHeader* segment, std::uint32_t ring) {
  const int saved = errno;
  const bool nameless = segment->descriptor >= 0;
  const std::uint64_t bytes = (segment->capacity << ring) * sizeof(record::Event);
  char* const begin = reinterpret_cast<char*>(record::segment_ring(segment, segment->capacity, ring));
  bool taken = false;
  if (take_to_grow(nameless, bytes)) {
    taken = take_pages_between(begin, begin + bytes);
    if (!taken) (nameless ? note_taken_in_memory : note_taken_in_shm)(-static_cast<std::int64_t>(bytes));
  }
  errno = saved;
  return taken;
}

std::uint64_t bytes_taken(const record::SegmentHeader* segment) {
  std::uint32_t rings = 0;
  while (rings < segment->growths && segment->begins[rings].load(std::memory_order_relaxed) != 0) ++rings;
  return record::segment_bytes(segment->capacity, rings);
}

void close_nameless(int descriptor, ino_t inode) {
  const int saved = errno;
  struct stat found = {};
  if (fstat(descriptor, &found) == 0 && found.st_ino == inode && found.st_nlink == 0) close(descriptor);
  errno = saved;
}

}  // namespace pclscope
