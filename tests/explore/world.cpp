#include "tests/explore/world.hpp"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "tests/explore/fake_handles.hpp"
#include "tests/explore/scheduler.hpp"
#include "tests/explore/simulated_mpi.hpp"

namespace explore {
namespace {

World* the_world = nullptr;
constexpr std::size_t memory_bytes = 16 << 20;

const ExploredRank* load(const std::string& library) {
  static int copies = 0;                                 // a name that was loaded once is not loaded again
  std::string folder = "/tmp/pclscope-explored-XXXXXX";  // a process number may be there twice, in two namespaces
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no folder for a copy of the library");
  const std::string copy = folder + "/" + std::to_string(++copies);
  std::filesystem::copy_file(library, copy);
  void* loaded = ::dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::filesystem::remove_all(folder);
  if (loaded == nullptr) throw std::runtime_error(::dlerror());
  void* offer = ::dlsym(loaded, "explored_rank");
  if (offer == nullptr) throw std::runtime_error(::dlerror());
  return reinterpret_cast<const ExploredRank* (*)()>(offer)();
}

template <class Function>
void find(const ExploredRank& rank, Function& function, const char* name) {
  function = reinterpret_cast<Function>(rank.wrapper(name));
  if (function == nullptr) throw std::runtime_error(std::string(name) + " is not wrapped");
}

}  // namespace

Calls::Calls(const ExploredRank& rank) {
  find(rank, send_, "MPI_Send");
  find(rank, receive_, "MPI_Recv");
  find(rank, post_, "MPI_Irecv");
  find(rank, wait_, "MPI_Wait");
  find(rank, probe_, "MPI_Mprobe");
  find(rank, receive_probed_, "MPI_Mrecv");
  find(rank, control_, "MPI_Pcontrol");
}

void Calls::send(int destination, int tag) const {
  send_(nullptr, SimulatedMpi::the().next_serial(), byte_handle(), destination, tag, world_handle());
}
void Calls::receive(int source, int tag) const {
  receive_(nullptr, 1 << 20, byte_handle(), source, tag, world_handle(), MPI_STATUS_IGNORE);
}
MPI_Request Calls::post(int source, int tag) const {
  MPI_Request request = request_of(0);
  post_(nullptr, 1 << 20, byte_handle(), source, tag, world_handle(), &request);
  return request;
}
void Calls::wait(MPI_Request request) const { wait_(&request, MPI_STATUS_IGNORE); }
void Calls::probe_and_receive(int source, int tag) const {
  MPI_Message message;
  probe_(source, tag, world_handle(), &message, MPI_STATUS_IGNORE);
  receive_probed_(nullptr, 1 << 20, byte_handle(), &message, MPI_STATUS_IGNORE);
}
void Calls::control(int level) const { control_(level); }

std::string World::own_token() {
  char token[33];
  std::snprintf(token, sizeof token, "%032x", static_cast<unsigned>(::getpid()));
  return token;
}

std::vector<std::string> World::own_files() {
  return pclscope::collect::files_with_prefix(
      "/dev/shm", pclscope::collect::shm_names(own_token(), pclscope::record::this_node_key()));
}

World::World(const std::string& library, const std::vector<RankKind>& ranks, bool attachable, std::uint64_t ring_events,
             std::uint64_t ring_limit)
    : memory_(memory_bytes) {
  the_world = this;
  token_ = own_token();
  SimulatedMpi::the().clear(static_cast<int>(ranks.size()));
  auto board = pclscope::collect::BoardFile::open(token_);
  if (!board) throw std::runtime_error(board.error().message);
  board_ = std::move(*board);
  for (const RankKind& kind : ranks) {
    const ExploredRank* api = load(library);
    if (!api->set_up({kind.rank, static_cast<int>(ranks.size()), kind.threads, attachable, token_.c_str(), ring_events,
                      ring_limit, &SimulatedMpi::function}))
      throw std::runtime_error("a rank cannot be set up");
    ranks_.push_back({api, Calls(*api), globals_of(reinterpret_cast<const void*>(api)), {}});
  }
  used_at_start_ = used_;
  memory_at_start_.assign(memory_.begin(), memory_.begin() + static_cast<std::ptrdiff_t>(used_));
  for (Rank& rank : ranks_)
    for (Range& range : rank.globals) range.kept.assign(range.begin, range.begin + range.bytes);
  started_ = true;
}

World::~World() {
  board_.reset();  // its file goes as well
  remove_files();
  the_world = nullptr;
}

World* World::current() { return the_world; }
std::uint32_t World::own_pid() const { return static_cast<std::uint32_t>(::getpid()); }

// The writable parts of the library that the address is in, without those that the loader made read-only.
std::vector<World::Range> World::globals_of(const void* address) {
  struct Search {
    std::uintptr_t address;
    std::vector<Range> ranges;
  } search{reinterpret_cast<std::uintptr_t>(address), {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        bool here = false;
        std::uintptr_t readonly_end = 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
          here |= part.p_type == PT_LOAD && s.address >= begin && s.address < begin + part.p_memsz;
          const auto page = static_cast<std::uintptr_t>(::getpagesize());
          if (part.p_type == PT_GNU_RELRO) readonly_end = (begin + part.p_memsz) / page * page;
        }
        if (!here) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) continue;
          const std::uintptr_t begin = std::max(info->dlpi_addr + part.p_vaddr, readonly_end);
          const std::uintptr_t end = info->dlpi_addr + part.p_vaddr + part.p_memsz;
          if (begin < end) s.ranges.push_back({reinterpret_cast<char*>(begin), end - begin, {}});
        }
        return 1;
      },
      &search);
  return search.ranges;
}

void World::remove_files() const {
  for (const std::string& name : own_files())
    if (started_ && (this->board_ == nullptr || !name.ends_with("-board"))) std::filesystem::remove("/dev/shm/" + name);
}

void World::renew() {
  for (const auto& [address, bytes] : mapped_) ::munmap(address, bytes);
  mapped_.clear();
  remove_files();
  for (Rank& rank : ranks_)
    for (Range& range : rank.globals) std::memcpy(range.begin, range.kept.data(), range.bytes);
  std::memcpy(memory_.data(), memory_at_start_.data(), used_at_start_);
  used_ = used_at_start_;
  dead_ = 0;
  ticks_ = 0;
  SimulatedMpi::the().clear(size());
  auto& board = board_->board();
  std::memset(static_cast<void*>(&board), 0, sizeof board);
  board.started = static_cast<std::uint32_t>(size());
  for (int r = 0; r < size(); ++r) board.pid[r] = own_pid();
  for (Rank& rank : ranks_) {
    rank.api->set_thread({});
    if (!rank.api->begin()) throw std::runtime_error("a rank cannot record");
    rank.first = rank.api->thread();
  }
}

bool World::complained() const { return board_->board().said != 0; }

int World::look_for(std::uint32_t pid) const {
  if (pid != dead_) return 0;
  errno = ESRCH;
  return -1;
}

void* World::allocate(std::size_t bytes) {
  const std::size_t room = (bytes + 63) / 64 * 64;
  if (used_ + room + 64 > memory_.size()) return nullptr;
  const auto base = reinterpret_cast<std::uintptr_t>(memory_.data());
  void* memory = memory_.data() + (used_ + (64 - base % 64) % 64);
  used_ += room;
  return memory;
}

void* World::map(void* address, std::size_t bytes, int protection, int flags, int file, long offset) {
  void* memory = ::mmap(address, bytes, protection, flags, file, offset);
  if (memory != MAP_FAILED && started_) mapped_.emplace_back(memory, bytes);
  return memory;
}

int World::unmap(void* address, std::size_t bytes) {
  std::erase_if(mapped_, [&](const auto& one) { return one.first == address; });
  return ::munmap(address, bytes);
}

}  // namespace explore

extern "C" {
int explore_kill(int pid, int signal) {
  auto* world = explore::World::current();
  return world != nullptr ? world->look_for(static_cast<std::uint32_t>(pid)) : ::kill(pid, signal);
}
int explore_gettime(timespec* time) {
  const std::int64_t ms = explore::Scheduler::the().milliseconds();
  *time = {static_cast<time_t>(ms / 1000), static_cast<long>(ms % 1000 * 1'000'000)};
  return 0;
}
unsigned long long explore_ticks() {
  auto* world = explore::World::current();
  return world != nullptr ? world->ticks() : 0;
}
void* explore_allocate(unsigned long bytes) { return explore::World::current()->allocate(bytes); }
void* explore_map(void* address, unsigned long bytes, int protection, int flags, int file, long offset) {
  auto* world = explore::World::current();
  return world != nullptr ? world->map(address, bytes, protection, flags, file, offset)
                          : ::mmap(address, bytes, protection, flags, file, offset);
}
int explore_unmap(void* address, unsigned long bytes) {
  auto* world = explore::World::current();
  return world != nullptr ? world->unmap(address, bytes) : ::munmap(address, bytes);
}
}
