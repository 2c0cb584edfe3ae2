// Jobs of this user on this node that were only preloaded, and sessions: the intervals in which such a job records.
// No locks: two who attach at once are told apart by a compare-and-swap on the board. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/collect/board_file.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::collect {

struct DormantJob {
  std::string name;   // public: executable's base name and the pid of rank 0
  std::string token;  // secret: never to be printed
  std::string executable;
  std::string mpi;                 // "Open MPI v4.1.4"
  std::string first_node;          // host name where rank 0 runs
  std::vector<std::string> nodes;  // all host names, in order of their lowest rank; empty elsewhere than on first_node
  std::int32_t node_count = 0;     // of the job
  std::int32_t ranks = 0;          // of the job
  std::int32_t node_ranks = 0;     // of them on this node
  std::int64_t started_ns = 0;     // CLOCK_REALTIME
  std::uint32_t living = 0;        // processes of this node that still run
  std::uint32_t recording = 0;     // and that record now
  std::uint32_t aggregator = 0;    // pid of the one that is attached here, 0: dormant
};

// All of this node (or of the one with this key), sorted by name. Removes the files of jobs whose processes are all
// dead.
std::vector<DormantJob> dormant_jobs(const std::string& directory = "/dev/shm",
                                     std::uint32_t node = record::this_node_key());
// By name. Fails with not_found; when several have it (impossible on one node): the first.
Result<DormantJob> find_dormant(const std::string& name, const std::string& directory = "/dev/shm",
                                std::uint32_t node = record::this_node_key());
// The same as read from a board that is open. Nothing when it is of a job that `pclscope run` started.
bool describe(BoardFile& board, DormantJob& job);

// Becomes the aggregator of this node and asks its processes to record, each from its next MPI call on. Fails with
// in_use when another one is attached and alive. One that died is replaced.
Result<std::uint32_t> begin_session(BoardFile& board, std::uint32_t pid);  // returns the number of the session, odd
// The processes become dormant, each at its next MPI call. `number`: of the session to end; another one is left alone.
void end_session(BoardFile& board, std::uint32_t number);

// The same for an aggregator that died, by its pid: nothing when another one has begun a session meanwhile.
void end_session_of_dead(BoardFile& board, std::uint32_t pid);

// Says that the aggregator closed everything and leaves: after end_session, the last thing it does to the board.
void leave_session(BoardFile& board, std::uint32_t pid);

struct SessionProgress {
  std::uint32_t session = 0;     // odd: an aggregator is (or was, when it died) attached
  std::uint32_t recording = 0;   // processes of this node that record; a rank that calls no MPI is not among them
  std::uint32_t living = 0;      // processes of this node that run
  std::uint32_t aggregator = 0;  // pid, 0: none, or it died
  bool closed = false;           // the last one left by leave_session
};
SessionProgress progress(BoardFile& board);

}  // namespace pclscope::collect
