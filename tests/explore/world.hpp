// What one schedule runs in: the ranks with their libraries as MPI_Init left them, an MPI without messages, an empty
// /dev/shm and a fresh board. Everything is put back between schedules.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/collect/board_file.hpp"
#include "tests/explore/explored_rank.hpp"

namespace explore {

struct RankKind {
  int rank = 0;
  bool threads = false;  // MPI_THREAD_MULTIPLE
};

// The application's calls, as a thread of a rank makes them.
class Calls {
 public:
  explicit Calls(const ExploredRank& rank);
  void send(int destination, int tag) const;
  void receive(int source, int tag) const;
  MPI_Request post(int source, int tag) const;
  void wait(MPI_Request request) const;
  void probe_and_receive(int source, int tag) const;
  void control(int level) const;

 private:
  decltype(&::MPI_Send) send_;
  decltype(&::MPI_Recv) receive_;
  decltype(&::MPI_Irecv) post_;
  decltype(&::MPI_Wait) wait_;
  decltype(&::MPI_Mprobe) probe_;
  decltype(&::MPI_Mrecv) receive_probed_;
  decltype(&::MPI_Pcontrol) control_;
};

class World {
 public:
  // `library` is loaded once per rank, from copies.
  World(const std::string& library, const std::vector<RankKind>& ranks, bool attachable, std::uint64_t ring_events,
        std::uint64_t ring_limit);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void renew();  // before each schedule
  const ExploredRank& rank(int r) const { return *ranks_[static_cast<std::size_t>(r)].api; }
  const Calls& calls(int r) const { return ranks_[static_cast<std::size_t>(r)].calls; }
  ThreadState first_thread(int r) const { return ranks_[static_cast<std::size_t>(r)].first; }
  int size() const { return static_cast<int>(ranks_.size()); }
  const std::string& token() const { return token_; }
  static std::string own_token();
  static std::vector<std::string> own_files();  // what this process has in /dev/shm now

  // Processes that look at others ask these.
  std::uint32_t own_pid() const;
  void set_dead(std::uint32_t pid) { dead_ = pid; }
  bool complained() const;  // a rank, of what it could not record

  // For the functions behind steps.hpp.
  static World* current();
  int look_for(std::uint32_t pid) const;  // as kill(pid, 0)
  void* allocate(std::size_t bytes);
  void* map(void* address, std::size_t bytes, int protection, int flags, int file, long offset);
  int unmap(void* address, std::size_t bytes);
  std::uint64_t ticks() { return ticks_ += 100; }  // of the time stamps: the same in every run of a schedule

 private:
  struct Range {
    char* begin;
    std::size_t bytes;
    std::vector<char> kept;
  };
  struct Rank {
    const ExploredRank* api;
    Calls calls;
    std::vector<Range> globals;
    ThreadState first{};
  };
  static std::vector<Range> globals_of(const void* address);
  void remove_files() const;

  std::string token_;
  std::vector<Rank> ranks_;
  std::unique_ptr<pclscope::collect::BoardFile> board_;
  std::vector<char> memory_;  // of the libraries, taken from its beginning
  std::size_t used_ = 0, used_at_start_ = 0;
  std::vector<char> memory_at_start_;
  std::vector<std::pair<void*, std::size_t>> mapped_;
  bool started_ = false;
  std::uint32_t dead_ = 0;
  std::uint64_t ticks_ = 0;
};

}  // namespace explore
