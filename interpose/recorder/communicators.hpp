// What the recorder knows of each communicator: its id, equal on all members, and the world ranks of those whom a
// peer argument can name. Built once when the communicator is created (design.md, decision 6); nothing is translated
// or communicated per event.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/library/mpi.hpp"
#include "interpose/record/event.hpp"
#include "interpose/recorder/process.hpp"

namespace pclscope {

struct Communicator {
  std::uint64_t id;
  std::uint32_t flags;         // of its events: intercomm, foreign, unordered
  std::uint32_t peer_count;    // ranks of the remote group of an intercommunicator, else of the group
  const std::int32_t* peers;   // their world ranks; nullptr: the identity (the world itself)
  const std::int32_t* locals;  // the own group; the same as `peers` unless this is an intercommunicator
  std::uint32_t local_count;
  std::int32_t rank;        // own rank in the own group
  std::int32_t out_degree;  // of the topology; -1: not asked yet
  MPI_Comm handle;
  std::atomic<std::uint64_t> collectives;    // recorded collectives posted here so far
  std::atomic<std::int32_t> windows, files;  // made here so far, by MPI_Win_create ... and MPI_File_open
  std::uint32_t neighbours_told;             // session + 1 in which the topology's neighbours were told; 0: never
  std::atomic<std::int32_t> references;      // the handle's own and one per tracked request

  // World rank of a rank argument or status, or a special value of event.hpp.
  std::int32_t peer(int rank_in_comm) const {
    if (static_cast<unsigned>(rank_in_comm) < peer_count) [[likely]]
      return peers != nullptr ? peers[rank_in_comm] : rank_in_comm;
    return special(rank_in_comm);
  }
  static std::int32_t special(int rank_in_comm) {
    switch (rank_in_comm) {
      case MPI_ANY_SOURCE: return record::any_source;
      case MPI_PROC_NULL: return record::proc_null;
      case MPI_ROOT: return record::root_self;
      default: return record::unknown_rank;
    }
  }
};

inline std::int32_t tag_of(int tag) { return tag == MPI_ANY_TAG ? record::any_tag : tag; }

// The application's world, and what stands for a communicator that is none (MPI_COMM_NULL): id 0, no members.
extern Communicator world_communicator;
extern Communicator no_communicator;

// Sets up world and self. `world_group` of app_world is kept for translating. False without memory.
bool start_communicators();

// The entry of a communicator (already translated by app_comm). One that was made where we could not see it (by
// Fortran code, say) is taken in now, flagged `unordered`, as its id may differ between its members.
Communicator& find_communicator(MPI_Comm comm);

// Where a new communicator comes from decides what its id is made of.
enum class Origin { parent, dup, orphan };

// Takes in a communicator that was just created. `reserved_id`: see reserve_dup_id, else 0.
Communicator& register_communicator(MPI_Comm made, const Communicator* parent, Origin origin,
                                    std::uint64_t reserved_id = 0);
// The id of the duplicate that a nonblocking call will make: fixed at posting, as completions come in any order.
std::uint64_t reserve_dup_id(const Communicator& parent);
// A comm_created event of each that is known: `site` says how many collectives were posted on it so far. malloc'ed.
// False without memory.
bool tell_communicators(record::Event*& events, std::size_t& count);
// The handle is gone; the entry lives on while tracked requests refer to it.
void forget_communicator(MPI_Comm comm);

// The communicator that stands for one pair of partitioned requests, from `source` to `dest` (world ranks) on `c`: a
// new one for each request of a side, the same ids on both. Has no members and is in no table: only its id counts. The
// caller releases it. nullptr without memory.
Communicator* partitioned_channel(const Communicator& c, std::int32_t source, std::int32_t dest, int tag, bool sends);

inline void hold(Communicator* c) { add_to<std::int32_t>(c->references, 1); }
void destroy(Communicator* c);
inline void release(Communicator* c) {
  if (add_to<std::int32_t>(c->references, -1) == 1) [[unlikely]]
    destroy(c);
}

}  // namespace pclscope
