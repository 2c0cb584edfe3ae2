// An MPI of a few ranks in one process: just enough for the library to stand on. A message's size is its serial number:
// the record shows which one a receive took. Sends return at once; messages of a pair of ranks do not overtake.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "tests/explore/explored_rank.hpp"

namespace explore {

class SimulatedMpi {
 public:
  static SimulatedMpi& the();
  void clear(int ranks);
  // The rank that the calling fiber is of: what the functions below cannot know otherwise.
  void set_caller(std::function<int()> caller) { caller_ = std::move(caller); }
  static void* function(const char* name);  // "MPI_Send": nullptr when there is none

  std::uint64_t sent() const { return next_serial_ - 1; }

  void send(int serial_of_sender, int destination, int tag);
  std::uintptr_t post(int source, int tag);
  bool finished(std::uintptr_t request, MPI_Status* status);
  bool take(int source, int tag, MPI_Status* status, std::uintptr_t& message);  // Improbe
  int caller() const { return caller_(); }
  // The size with which the next send of any rank is called.
  int next_serial() { return static_cast<int>(next_serial_++); }

 private:
  struct Arrived {
    int source, tag, serial;
  };
  struct Posted {
    int source, tag;
    bool done;
    Arrived message;
  };
  struct Rank {
    std::deque<Arrived> unexpected;
    std::deque<std::uintptr_t> waiting;  // posted, in order
  };
  static bool fits(const Posted& p, const Arrived& m);

  std::function<int()> caller_;
  std::vector<Rank> ranks_;
  std::vector<Posted> posted_;
  std::uint64_t next_serial_ = 1;
};

void fill(MPI_Status& status, int source, int tag, int bytes);

}  // namespace explore
