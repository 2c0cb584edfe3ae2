#include "interpose/recorder/room.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>

#include "interpose/process/notice.hpp"
#include "interpose/process/options.hpp"
#include "interpose/record/shm_needs.hpp"
#include "interpose/recorder/agreement.hpp"
#include "interpose/recorder/process.hpp"

namespace pclscope {

namespace {

#ifdef OPEN_MPI
constexpr record::ShmNeeds needs = record::openmpi_needs;
#else
constexpr record::ShmNeeds needs = record::mpich_needs;
#endif
constexpr std::uint64_t mpi_needs = needs.of_rank, tool_needs = needs.of_tool;
constexpr std::uint64_t part_of_memory = 64;

std::atomic<std::int64_t> taken_in_shm{0}, taken_in_memory{0};
std::atomic<std::uint64_t> most_in_shm{0}, most_in_all{0};  // that growing may make of them

std::uint64_t number(const char* text) {
  char* end = nullptr;
  const long long value = strtoll(text, &end, 10);
  return end == text || value < 0 ? 0 : static_cast<std::uint64_t>(value);
}

// Of the application, on this node; the world's where no launcher tells.
std::uint64_t node_ranks() {
  const auto all = static_cast<std::uint64_t>(process.size > 0 ? process.size : 1);
  std::uint64_t here = 0;
  if (process.attachable) {
    here = static_cast<std::uint64_t>(ranks_of_node());
  } else {
    for (const char* variable : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
      if (const char* text = getenv(variable)) here = number(text);
    }
  }
  return here == 0 || here > all ? all : here;
}

std::uint64_t left(std::uint64_t share, std::int64_t taken) {
  if (taken <= 0) return share;
  return static_cast<std::uint64_t>(taken) < share ? share - static_cast<std::uint64_t>(taken) : 0;
}

// The first word of a file; 0 when it is none ("max").
std::uint64_t read_number(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[32];
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  text[length > 0 ? length : 0] = 0;
  return number(text);
}

constexpr std::uint64_t plenty = 16;  // parts of /dev/shm that is free, of which one may be ours without a word

// This process' share.
std::uint64_t share_of_shm(std::uint32_t session, std::uint64_t part) {
  record::Board* board = open_board();
  const std::uint64_t free = board != nullptr ? record::free_at_start(*board, session) : record::free_now();
  const std::uint64_t ranks = node_ranks(),
                      needed = ranks * mpi_needs + (options().tool_ranks > 0 ? options().aggregators * tool_needs : 0);
  return free > needed ? (free - needed) / part / ranks : 0;
}

std::uint64_t share_of_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return 0;
  std::uint64_t memory = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  for (const char* limit : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const std::uint64_t bytes = read_number(limit);
    if (bytes != 0 && bytes < memory) memory = bytes;
  }
  return memory / part_of_memory / node_ranks();
}

}  // namespace

std::uint64_t room_in_shm(std::uint32_t session, bool plentiful) {
  return left(share_of_shm(session, plentiful ? plenty : 2), taken_in_shm);
}
std::uint64_t room_in_memory() { return left(share_of_memory(), taken_in_memory); }

std::uint64_t set_room_to_grow(std::uint32_t session, bool nameless) {
  const std::uint64_t part = process.multiple ? 2 : 1;  // threads to come are to find some
  most_in_shm = share_of_shm(session, plenty) / part;
  most_in_all = share_of_memory() / part;
  const std::uint64_t all = left(most_in_all, taken_in_shm + taken_in_memory), here = left(most_in_shm, taken_in_shm);
  return nameless || all < here ? all : here;
}

bool take_to_grow(bool nameless, std::uint64_t bytes) {
  std::atomic<std::int64_t>& taken = nameless ? taken_in_memory : taken_in_shm;
  const auto more = static_cast<std::int64_t>(bytes);
  taken += more;
  const bool all_right = static_cast<std::uint64_t>(taken_in_shm + taken_in_memory) <= most_in_all;
  const bool here_right =
      nameless || (static_cast<std::uint64_t>(taken_in_shm) <= most_in_shm && bytes <= record::free_now() / plenty);
  if (all_right && here_right) return true;
  taken -= more;
  return false;
}

void note_taken_in_shm(std::int64_t bytes) { taken_in_shm += bytes; }
void note_taken_in_memory(std::int64_t bytes) { taken_in_memory += bytes; }

}  // namespace pclscope
