#include "interpose/recorder/segments.hpp"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose/library/library.hpp"
#include "interpose/process/clock.hpp"
#include "interpose/process/notice.hpp"
#include "interpose/process/options.hpp"
#include "interpose/recorder/process.hpp"
#include "interpose/recorder/ring_file.hpp"
#include "interpose/recorder/room.hpp"

namespace pclscope {

namespace {

// Threads of this process now, 0 when the system does not tell.
std::uint32_t count_tasks() {
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return 0;
  std::uint32_t count = 0;
  while (const dirent* entry = readdir(tasks)) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

void fill_header(record::SegmentHeader* h, const RingFile& file, std::uint32_t thread, bool muted,
                 std::uint32_t session) {
  h->descriptor = file.nameless ? file.descriptor : -1;
  h->inode = file.inode;
  memcpy(h->magic, record::segment_magic, sizeof h->magic);
  h->version = record::segment_version;
  h->header_bytes = record::segment_header_bytes;
  h->capacity = file.capacity;
  h->growths = file.growths;
  h->world_rank = process.rank;
  h->world_size = process.size;
  h->pid = static_cast<std::uint32_t>(getpid());
  h->thread = thread;
  h->clock = clock_source;
  h->threads = process.multiple ? record::Threads::many : record::Threads::one_at_a_time;
  gethostname(h->node, sizeof h->node - 1);
  snprintf(h->mpi, sizeof h->mpi, "%s", library_version());
  // The file is new: whatever readlink leaves alone is zero.
  [[maybe_unused]] const ssize_t length = readlink("/proc/self/exe", h->executable, sizeof h->executable - 1);
  h->tasks = process.multiple && thread == 0 ? count_tasks() : 0;
  h->session = session;
  h->rings_bell = open_board() != nullptr;
  h->muted.store(muted, std::memory_order_relaxed);
  h->thread_count.store(thread == 0 ? 1 : 0, std::memory_order_relaxed);
  h->state.store(record::ProcessState::running, std::memory_order_release);  // all of the above is valid
}

using Path = char[160];
// Of each session others: a thread that is in MPI keeps the ring of the last one a little longer.
void name_segment(Path& path, std::uint32_t thread, std::uint32_t session) {
  int length =
      snprintf(path, sizeof path, "/dev/shm/%s%s-%08x-", record::shm_prefix, options().token, record::this_node_key());
  if (options().part > 0)
    length += snprintf(path + length, sizeof path - static_cast<std::size_t>(length), "p%u-", options().part);
  length += snprintf(path + length, sizeof path - static_cast<std::size_t>(length), "%d-%u", process.rank, thread);
  if (session != 0) snprintf(path + length, sizeof path - static_cast<std::size_t>(length), "-%u", session);
}

void complain(int reason) {
  if (!first_to_say(record::said_no_room)) return;
  const bool given = options().ring_directory[0] != 0;
  say("pclscope: rank %d cannot record: no room for a ring in %s: %s%s\n", process.rank,
      given ? options().ring_directory : "/dev/shm", strerror(reason),
      reason != ENOSPC ? ""
      : given          ? "; make room there"
                       : "; make room there, or give --ring-dir DIR");
}

}  // namespace

record::SegmentHeader* create_segment(std::uint32_t thread, bool muted, std::uint32_t session) {
  Path path;
  name_segment(path, thread, session);
  RingFile file = make_ring_file(path, session);
  if (file.descriptor < 0) {
    complain(errno);
    return nullptr;
  }
  record::SegmentHeader* header = map_ring_file(file);
  const int reason = errno;
  if (!file.nameless || header == nullptr) close(file.descriptor);
  if (header == nullptr) {
    unlink(path);
    complain(reason);
    return nullptr;
  }
  if (file.capacity < options().ring_events && first_to_say(record::said_no_room))
    say("pclscope: /dev/shm is short of room: rank %d records into a ring of %llu events instead of %llu\n",
        process.rank, static_cast<unsigned long long>(file.capacity),
        static_cast<unsigned long long>(options().ring_events));
  const std::uint64_t bytes = record::segment_bytes(file.capacity);
  (file.nameless ? note_taken_in_memory : note_taken_in_shm)(static_cast<std::int64_t>(bytes));
  fill_header(header, file, thread, muted, session);
  return header;
}

void remove_segment(record::SegmentHeader* segment) {
  if (segment->consumer.load(std::memory_order_acquire) == record::Consumer::expected) {
    const int saved = errno;
    Path path;
    name_segment(path, segment->thread, segment->session);
    unlink(path);
    errno = saved;
  }
  const bool nameless = segment->descriptor >= 0;
  if (nameless) close_nameless(segment->descriptor, segment->inode);
  (nameless ? note_taken_in_memory : note_taken_in_shm)(-static_cast<std::int64_t>(bytes_taken(segment)));
  munmap(segment, record::segment_bytes(segment->capacity, segment->growths));
}

}  // namespace pclscope
