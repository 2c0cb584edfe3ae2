#include "interpose/recorder/agreement.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "interpose/library/handles.hpp"
#include "interpose/library/library.hpp"
#include "interpose/process/clock.hpp"
#include "interpose/process/notice.hpp"
#include "interpose/process/options.hpp"
#include "interpose/recorder/process.hpp"
#include "real_functions.hpp"

namespace pclscope {

void read_executable(char* path, std::size_t size) {
  const ssize_t length = readlink("/proc/self/exe", path, size - 1);
  path[length > 0 ? length : 0] = 0;
}

namespace {

constexpr char directory[] = "/dev/shm";
using HostName = char[64];
std::int32_t node_ranks = 0;  // of this job on this node

// Letters, digits and "_-.", at most 62: a name that words and files can have.
void name_job(Agreement& a) {
  char path[256];
  read_executable(path, sizeof path);
  const char* slash = strrchr(path, '/');
  snprintf(a.job, sizeof a.job, "%.50s-%d", slash != nullptr ? slash + 1 : path, static_cast<int>(getpid()));
  for (char* c = a.job; *c != 0; ++c) {
    const bool inside = *c == '-' || *c == '.';
    if (!is_letter_or_digit(*c) && (!inside || c == a.job)) *c = '_';
  }
}

bool make_token(Agreement& a) {
  unsigned char bits[16];
  if (getrandom(bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) return false;
  for (std::size_t i = 0; i < sizeof bits; ++i) snprintf(a.token + 2 * i, 3, "%02x", bits[i]);
  return true;
}

// One line per node.
void write_nodes(const char* token, const HostName* hosts, const std::int32_t* firsts, std::int32_t nodes) {
  char path[160];
  snprintf(path, sizeof path, "%s/%s%s-%08x-nodes", directory, record::shm_prefix, token, record::this_node_key());
  const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return;
  fchmod(file, 0600);
  for (std::int32_t i = 0; i < nodes; ++i) {
    char line[66];
    const int length = snprintf(line, sizeof line, "%s\n", hosts[firsts[i]]);
    if (write(file, line, static_cast<std::size_t>(length)) != length)
      break;  // a node list cut off is of no use, no harm
  }
  close(file);
}

// Numbers the nodes in order of their lowest ranks: node_of[rank]. `firsts`: the lowest rank of each. Ranks of a node
// usually follow each other. Returns how many there are.
std::int32_t number_nodes(const HostName* hosts, int size, std::int32_t* node_of, std::int32_t* firsts,
                          std::int32_t* table, std::uint32_t mask) {
  std::int32_t nodes = 0;
  for (int rank = 0; rank < size; ++rank) {
    if (rank > 0 && strcmp(hosts[rank], hosts[rank - 1]) == 0) {
      node_of[rank] = node_of[rank - 1];
      continue;
    }
    std::uint32_t slot = record::node_key(hosts[rank]) & mask;
    while (table[slot] != 0 && strcmp(hosts[firsts[table[slot] - 1]], hosts[rank]) != 0) slot = (slot + 1) & mask;
    if (table[slot] == 0) {
      firsts[nodes] = rank;
      table[slot] = ++nodes;
    }
    node_of[rank] = table[slot] - 1;
  }
  return nodes;
}

// Rank 0: what each rank is told. False without memory.
bool fill(Agreement* told, const HostName* hosts, int size) {
  std::uint32_t slots = 16;
  while (slots < 2u * static_cast<std::uint32_t>(size)) slots *= 2;
  const auto ranks = static_cast<std::size_t>(size);
  auto* memory = static_cast<std::int32_t*>(calloc(3 * ranks + slots, sizeof(std::int32_t)));
  Agreement common{};
  if (memory == nullptr || !make_token(common)) {
    free(memory);
    return false;
  }
  std::int32_t *node_of = memory, *firsts = memory + ranks, *counts = memory + 2 * ranks;
  common.nodes = number_nodes(hosts, size, node_of, firsts, memory + 3 * ranks, slots - 1);
  name_job(common);
  memcpy(common.first_node, hosts[0], sizeof common.first_node);
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  common.started_ns = static_cast<std::int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
  for (int i = 0; i < size; ++i) ++counts[node_of[i]];
  for (int i = 0; i < size; ++i) {
    told[i] = common;
    told[i].node_ranks = counts[node_of[i]];
  }
  write_nodes(common.token, hosts, firsts, common.nodes);
  free(memory);
  return true;
}

// --- the board ---

// Ended, whether reaped or not.
bool is_dead(std::uint32_t pid) {
  if (pid == 0) return false;  // about to be written
  if (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return true;
  char path[40], text[256];
  snprintf(path, sizeof path, "/proc/%u/stat", pid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return false;
  text[length] = 0;
  const char* end_of_name = strrchr(text, ')');
  return end_of_name != nullptr && end_of_name[1] == ' ' && (end_of_name[2] == 'Z' || end_of_name[2] == 'X');
}

// Of a job that was only preloaded and has no process any more.
bool is_abandoned(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  struct stat found = {};
  if (file < 0) return false;
  const bool ours = fstat(file, &found) == 0 && found.st_uid == geteuid() &&
                    static_cast<std::size_t>(found.st_size) == sizeof(record::Board);
  void* memory = ours ? mmap(nullptr, sizeof(record::Board), PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
  close(file);
  if (memory == MAP_FAILED) return false;
  const auto* b = static_cast<const record::Board*>(memory);
  bool abandoned = b->described.load(std::memory_order_acquire) == 2;
  const std::uint32_t started = b->started.load();
  for (std::uint32_t i = 0; abandoned && i < started && i < record::board_pids; ++i)
    abandoned = is_dead(b->pid[i].load());
  munmap(memory, sizeof(record::Board));
  return abandoned;
}

template <class Visit>
void for_each_file(const char* beginning, const char* ending, Visit visit) {
  DIR* listing = opendir(directory);
  if (listing == nullptr) return;
  const std::size_t head = strlen(beginning), tail = strlen(ending);
  while (const dirent* entry = readdir(listing)) {
    const std::size_t length = strlen(entry->d_name);
    if (length >= 160 || length < head + tail || strncmp(entry->d_name, beginning, head) != 0 ||
        strcmp(entry->d_name + length - tail, ending) != 0)
      continue;
    char path[192];
    if (snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) >= static_cast<int>(sizeof path)) continue;
    visit(path, entry->d_name);
  }
  closedir(listing);
}

void remove_abandoned() {
  char ending[16];
  snprintf(ending, sizeof ending, "-%08x-board", record::this_node_key());
  for_each_file(record::shm_prefix, ending, [](const char* path, const char* name) {
    if (!is_abandoned(path)) return;
    char beginning[160];
    snprintf(beginning, sizeof beginning, "%.*s", static_cast<int>(strlen(name) - strlen("board")), name);
    for_each_file(beginning, "", [](const char* of_job, const char*) { unlink(of_job); });
  });
}

void remove_own_files(const record::Board& b) {
  char beginning[160];
  snprintf(beginning, sizeof beginning, "%s%s-%08x-", record::shm_prefix, options().token, record::this_node_key());
  const std::uint32_t aggregator = b.aggregator.load();
  if (aggregator == 0 || is_dead(aggregator))  // it may have died before it found the rings: nobody will any more
    for_each_file(beginning, "", [](const char* path, const char*) { unlink(path); });
  for (const char* ending : {"board", "nodes"})
    for_each_file(beginning, ending, [](const char* path, const char*) { unlink(path); });
}

void describe_job(record::Board& b, const Agreement& a, int size) {
  std::uint32_t nobody = 0;
  if (!b.described.compare_exchange_strong(nobody, 1)) return;
  b.version = record::board_version;
  b.ranks = size;
  b.node_ranks = a.node_ranks;
  b.nodes = a.nodes;
  b.clock = static_cast<std::int32_t>(clock_source);
  b.started_ns = a.started_ns;
  snprintf(b.job, sizeof b.job, "%s", a.job);
  read_executable(b.executable, sizeof b.executable);
  snprintf(b.mpi, sizeof b.mpi, "%s", library_version());
  snprintf(b.node, sizeof b.node, "%s", a.first_node);
  b.described.store(2, std::memory_order_release);
  remove_abandoned();
}

}  // namespace

bool agree(int rank, int size, Agreement& agreed) {
  HostName mine = "";
  gethostname(mine, sizeof mine - 1);
  const auto ranks = static_cast<std::size_t>(size);
  auto* hosts = rank == 0 ? static_cast<HostName*>(malloc(ranks * sizeof(HostName))) : nullptr;
  auto* told = rank == 0 ? static_cast<Agreement*>(calloc(ranks, sizeof(Agreement))) : nullptr;
  HostName nowhere;
  Agreement nothing{};
  char ready = rank != 0 || (hosts != nullptr && told != nullptr);
  if (real.Bcast(&ready, 1, handles.byte, 0, handles.world) != MPI_SUCCESS || !ready) {
    free(hosts);
    free(told);
    return false;
  }
  const bool gathered = real.Gather(mine, sizeof mine, handles.byte, rank == 0 ? *hosts : nowhere, sizeof mine,
                                    handles.byte, 0, handles.world) == MPI_SUCCESS;
  if (gathered && rank == 0 && !fill(told, hosts, size)) memset(static_cast<void*>(told), 0, ranks * sizeof(Agreement));
  const bool scattered = real.Scatter(rank == 0 ? told : &nothing, sizeof agreed, handles.byte, &agreed, sizeof agreed,
                                      handles.byte, 0, handles.world) == MPI_SUCCESS;
  free(hosts);
  free(told);
  return gathered && scattered && agreed.token[0] != 0;
}

bool appear(const Agreement& agreed, int size) {
  adopt_token(agreed.token);
  record::Board* b = open_board();
  if (b == nullptr) return false;
  node_ranks = agreed.node_ranks;
  const std::uint32_t index = b->started.fetch_add(1);
  if (index < record::board_pids) b->pid[index].store(static_cast<std::uint32_t>(getpid()));
  count_on_board(&record::Board::initializing);
  describe_job(*b, agreed, size);
  return true;
}

void disappear() {
  record::Board* b = open_board();
  if (b != nullptr && b->finalizing.load() >= static_cast<std::uint32_t>(node_ranks)) remove_own_files(*b);
}

std::int32_t ranks_of_node() { return node_ranks; }

const std::atomic<std::uint32_t>* session_word() { return &open_board()->session; }

}  // namespace pclscope
