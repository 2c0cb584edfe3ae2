// Bytes that this rank contributes to a collective, one function per family: bytes_FAMILY(recorder, communicator,
// the call's arguments without communicator and request). The table is in record/FORMAT.md. Arguments that MPI does
// not look at on this rank (MPI_IN_PLACE, arrays on ranks that are not the root) are not looked at here either.
// Called after MPI has accepted the arguments.
#pragma once

#include "interpose/recorder/recorder.hpp"
#include "interpose/wrap/topology.hpp"
#include "real_functions.hpp"

namespace pclscope {

inline bool is_inter(const Communicator& c) { return (c.flags & flag::intercomm) != 0; }
// Does this rank hand out the data of a rooted collective? Between groups the root says MPI_ROOT.
inline bool is_root(const Communicator& c, int root) { return is_inter(c) ? root == MPI_ROOT : root == c.rank; }
// Does this rank hand in data of a rooted collective? Between groups the root's side does not.
inline bool gives_to_root(const Communicator& c, int root) {
  return !is_inter(c) || (root != MPI_ROOT && root != MPI_PROC_NULL);
}

template <class Count>
std::uint64_t sum(const Count* counts, std::int64_t n) {
  std::uint64_t total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += static_cast<std::uint64_t>(counts[i]);
  return total;
}

inline std::uint64_t bytes_barrier(Recorder&, Communicator&) { return 0; }

template <class Count>
std::uint64_t bytes_bcast(Recorder& r, Communicator& c, const void*, Count count, MPI_Datatype type, int root) {
  return is_root(c, root) ? r.bytes(count, type) : 0;
}

template <class Count>
std::uint64_t bytes_gather(Recorder& r, Communicator& c, const void* send, Count count, MPI_Datatype type, const void*,
                           Count in_count, MPI_Datatype in_type, int root) {
  if (!gives_to_root(c, root)) return 0;
  return send == MPI_IN_PLACE ? r.bytes(in_count, in_type) : r.bytes(count, type);
}

template <class Count, class Displacement>
std::uint64_t bytes_gatherv(Recorder& r, Communicator& c, const void* send, Count count, MPI_Datatype type, const void*,
                            const Count* in_counts, const Displacement*, MPI_Datatype in_type, int root) {
  if (!gives_to_root(c, root)) return 0;
  return send == MPI_IN_PLACE ? r.bytes(in_counts[c.rank], in_type) : r.bytes(count, type);
}

template <class Count>
std::uint64_t bytes_scatter(Recorder& r, Communicator& c, const void*, Count count, MPI_Datatype type, const void*,
                            Count, MPI_Datatype, int root) {
  return is_root(c, root) ? c.peer_count * r.bytes(count, type) : 0;
}

template <class Count, class Displacement>
std::uint64_t bytes_scatterv(Recorder& r, Communicator& c, const void*, const Count* counts, const Displacement*,
                             MPI_Datatype type, const void*, Count, MPI_Datatype, int root) {
  return is_root(c, root) ? r.bytes(sum(counts, c.peer_count), type) : 0;
}

template <class Count>
std::uint64_t bytes_allgather(Recorder& r, Communicator&, const void* send, Count count, MPI_Datatype type, const void*,
                              Count in_count, MPI_Datatype in_type) {
  return send == MPI_IN_PLACE ? r.bytes(in_count, in_type) : r.bytes(count, type);
}

template <class Count, class Displacement>
std::uint64_t bytes_allgatherv(Recorder& r, Communicator& c, const void* send, Count count, MPI_Datatype type,
                               const void*, const Count* in_counts, const Displacement*, MPI_Datatype in_type) {
  return send == MPI_IN_PLACE ? r.bytes(in_counts[c.rank], in_type) : r.bytes(count, type);
}

template <class Count>
std::uint64_t bytes_alltoall(Recorder& r, Communicator& c, const void* send, Count count, MPI_Datatype type,
                             const void*, Count in_count, MPI_Datatype in_type) {
  return c.peer_count * (send == MPI_IN_PLACE ? r.bytes(in_count, in_type) : r.bytes(count, type));
}

template <class Count, class Displacement>
std::uint64_t bytes_alltoallv(Recorder& r, Communicator& c, const void* send, const Count* counts, const Displacement*,
                              MPI_Datatype type, const void*, const Count* in_counts, const Displacement*,
                              MPI_Datatype in_type) {
  const std::int64_t n = c.peer_count;
  return send == MPI_IN_PLACE ? r.bytes(sum(in_counts, n), in_type) : r.bytes(sum(counts, n), type);
}

// `Types`: an array of MPI_Datatype, or what converts one of Fortran's (fortran/arguments.hpp).
template <class Count, class Types>
std::uint64_t sum_typed(Recorder& r, const Count* counts, const Types& types, std::int64_t n) {
  std::uint64_t total = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (counts[i] != 0) total += r.bytes(counts[i], types[i]);
  }
  return total;
}

template <class Count, class Displacement, class Types>
std::uint64_t bytes_alltoallw(Recorder& r, Communicator& c, const void* send, const Count* counts, const Displacement*,
                              const Types& types, const void*, const Count* in_counts, const Displacement*,
                              const Types& in_types) {
  const std::int64_t n = c.peer_count;
  return send == MPI_IN_PLACE ? sum_typed(r, in_counts, in_types, n) : sum_typed(r, counts, types, n);
}

template <class Count>
std::uint64_t bytes_reduce(Recorder& r, Communicator& c, const void*, const void*, Count count, MPI_Datatype type,
                           MPI_Op, int root) {
  return gives_to_root(c, root) ? r.bytes(count, type) : 0;
}

template <class Count>
std::uint64_t bytes_allreduce(Recorder& r, Communicator&, const void*, const void*, Count count, MPI_Datatype type,
                              MPI_Op) {
  return r.bytes(count, type);
}

// The vector that is reduced has a part for each member of the own group.
template <class Count>
std::uint64_t bytes_reduce_scatter(Recorder& r, Communicator& c, const void*, const void*, const Count* counts,
                                   MPI_Datatype type, MPI_Op) {
  return r.bytes(sum(counts, c.local_count), type);
}

template <class Count>
std::uint64_t bytes_reduce_scatter_block(Recorder& r, Communicator& c, const void*, const void*, Count count,
                                         MPI_Datatype type, MPI_Op) {
  return c.local_count * r.bytes(count, type);
}

// Neighbourhoods: allgather and allgatherv give one block to all neighbours, counted once.
template <class Count, class... Rest>
std::uint64_t bytes_neighbor_allgather(Recorder& r, Communicator& c, const void*, Count count, MPI_Datatype type,
                                       Rest...) {
  note_neighbours(r, c);
  return r.bytes(count, type);
}

template <class Count, class... Rest>
std::uint64_t bytes_neighbor_alltoall(Recorder& r, Communicator& c, const void*, Count count, MPI_Datatype type,
                                      Rest...) {
  note_neighbours(r, c);
  return static_cast<std::uint64_t>(out_degree(c)) * r.bytes(count, type);
}

template <class Count, class Displacement, class... Rest>
std::uint64_t bytes_neighbor_alltoallv(Recorder& r, Communicator& c, const void*, const Count* counts,
                                       const Displacement*, MPI_Datatype type, Rest...) {
  note_neighbours(r, c);
  return r.bytes(sum(counts, out_degree(c)), type);
}

template <class Count, class Types, class... Rest>
std::uint64_t bytes_neighbor_alltoallw(Recorder& r, Communicator& c, const void*, const Count* counts, const MPI_Aint*,
                                       const Types& types, Rest...) {
  note_neighbours(r, c);
  return sum_typed(r, counts, types, out_degree(c));
}

}  // namespace pclscope
