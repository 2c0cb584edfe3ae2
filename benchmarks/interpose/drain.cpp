// Drains the rings of one job as the aggregator would, and does nothing with the events but to count them and to check
// that they come whole: begin <= end, known kind, ordinals of sends and posted receives dense.
//   drain TOKEN RANKS [later]   until every rank's ring says `finalizing`; prints events and drops
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "interpose/record/board.hpp"
#include "interpose/record/ring.hpp"

namespace {

using namespace pclscope::record;

struct Ring {
  SegmentHeader* header;
  RingReader reader;
  std::uint64_t events = 0, sends = 0, wrong = 0;
};

// Says that somebody will read: recorders then wait for us when their rings fill up before we have found them.
bool announce(const std::string& prefix) {
  const int file = open(("/dev/shm/" + prefix + "board").c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0 || posix_fallocate(file, 0, sizeof(Board)) != 0) return false;
  void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return false;
  static_cast<Board*>(memory)->aggregator = static_cast<std::uint32_t>(getpid());
  return true;
}

void discover(const std::string& prefix, std::vector<Ring>& rings) {
  DIR* directory = opendir("/dev/shm");
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (name.rfind(prefix, 0) != 0 || name.find("-board") != std::string::npos) continue;
    const std::string path = "/dev/shm/" + name;
    const int file = open(path.c_str(), O_RDWR);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) continue;
    const auto bytes = static_cast<std::uint64_t>(status.st_size);
    void* memory =
        bytes > segment_header_bytes ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    close(file);
    if (memory == MAP_FAILED) continue;
    auto* header = static_cast<SegmentHeader*>(memory);
    if (header->state == ProcessState::starting || segment_bytes(header->capacity, header->growths) != bytes) {
      munmap(memory, bytes);
      continue;
    }
    header->consumer_pid = static_cast<std::uint32_t>(getpid());
    header->consumer.store(Consumer::attached, std::memory_order_release);
    unlink(path.c_str());
    rings.push_back({header, RingReader(header, header->capacity, header->growths)});
  }
  closedir(directory);
}

std::uint64_t drain(Ring& ring) {
  const auto events = ring.reader.peek(4096);
  for (const Event& e : events) {
    ring.wrong += e.begin > e.end || e.kind == EventKind::none ||
                  (e.kind > EventKind::lost_number && e.kind != EventKind::call_path);
    if (e.kind == EventKind::send) ring.wrong += number_of(e.ordinal) != ring.sends++;
    if (e.kind == EventKind::lost_number && (e.flags & flag::of_receives) == 0) ring.sends += e.bytes;
  }
  ring.events += events.size();
  ring.reader.release(events.size());
  return events.size();
}

}  // namespace

int main(int argc, char** argv) {
  const bool later = argc == 4 && strcmp(argv[3], "later") == 0;  // reads a ring when its rank has finished
  if (argc != 3 && !later) return 2;
  char node[9];
  write_node_key(this_node_key(), node);
  const std::string prefix = std::string(shm_prefix) + argv[1] + "-" + node + "-";
  const auto ranks = static_cast<std::size_t>(atoi(argv[2]));
  std::vector<Ring> rings;
  if (!announce(prefix)) return 2;
  std::puts("ready");
  std::fflush(stdout);
  for (;;) {
    if (rings.size() < ranks) discover(prefix, rings);
    std::uint64_t moved = 0;
    std::size_t over = 0;
    for (Ring& ring : rings) {
      const bool last = ring.header->state.load(std::memory_order_acquire) == ProcessState::finalizing;
      const std::uint64_t n = later && !last ? 0 : drain(ring);
      moved += n;
      over += last && n == 0;
    }
    if (over == ranks) break;
    if (moved == 0) usleep(500);
  }
  std::uint64_t events = 0, wrong = 0, dropped = 0;
  for (Ring& ring : rings) {
    events += ring.events;
    wrong += ring.wrong;
    dropped += ring.header->dropped;
  }
  std::printf("%llu events %llu dropped %llu wrong\n", static_cast<unsigned long long>(events),
              static_cast<unsigned long long>(dropped), static_cast<unsigned long long>(wrong));
  return wrong == 0 ? 0 : 1;
}
