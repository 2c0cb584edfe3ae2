// A job that was only preloaded: in MPI_Init its ranks agree on a token and a name, and each node's board tells of it,
// so that an aggregator can find it later. The only communication that the library ever does by itself: one Bcast,
// Gather and Scatter on MPI_COMM_WORLD, of the program's own processes, before the program can use it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pclscope {

// What rank 0 tells each rank.
struct Agreement {
  char token[33];       // "" : rank 0 could not make one, nobody is attachable
  char job[96];         // public name
  char first_node[64];  // host name of rank 0
  std::int32_t nodes;
  std::int32_t node_ranks;  // on the rank's own node
  std::int64_t started_ns;  // CLOCK_REALTIME
};

// Collective. True: `agreed` is valid.
bool agree(int rank, int size, Agreement& agreed);
// This process enters itself on its node's board, which it makes if it is the first; then it also removes what jobs
// left behind whose processes are all dead. False without room in /dev/shm.
bool appear(const Agreement& agreed, int size);
// In MPI_Finalize: the last process of the node removes the board.
void disappear();
// In any locale.
inline bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
// Of this process: its path.
void read_executable(char* path, std::size_t size);
// Of this job.
std::int32_t ranks_of_node();
// Of the board: whether an aggregator is attached (record::Board::session).
const std::atomic<std::uint32_t>* session_word();

}  // namespace pclscope
