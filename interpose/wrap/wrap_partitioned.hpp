// Partitioned communication is matched when the requests are made: the k-th MPI_Psend_init of a communicator, target
// and tag belongs to the k-th MPI_Precv_init there. Each such pair gets a communicator of its own in the record, of
// which both sides know the id, so that every start is an ordinary persistent send or receive there.
#pragma once

#include "interpose/wrap/wrap_start.hpp"

namespace pclscope {

enum class Side { sender, receiver };

template <Function F, Side Mine, class Count, class Call>
int make_partitioned(Caller caller, int partitions, Count count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                     MPI_Request* request, Call real_call) {
  comm = app_comm(comm);
  Recorder* r = tracking_recorder();
  if (r == nullptr) return real_call(comm);
  Communicator& c = r->communicator(comm);
  const std::int32_t peer = c.peer(rank);
  CallScope call(*r, F, caller, c.id, peer, tag);
  const int result = real_call(comm);
  call.returned();
  if (result != MPI_SUCCESS) return result;
  const std::uint64_t bytes = static_cast<std::uint64_t>(partitions) * r->bytes(count, type);
  const std::uint32_t flags = flag::persistent | flag::partitioned | c.flags;
  call.record(EventKind::call, c.id, bytes, 0, peer, tag, flags);
  const bool sends = Mine == Side::sender;
  Communicator* channel = peer < 0 ? nullptr
                          : sends  ? partitioned_channel(c, process.rank, peer, tag, true)
                                   : partitioned_channel(c, peer, process.rank, tag, false);
  if (channel != nullptr)
    call.record(EventKind::comm_created, channel->id, peer == process.rank ? 1 : 2, c.id, 0, record::any_tag,
                flag::partitioned | c.flags);
  Communicator& home = channel != nullptr ? *channel : c;
  track_request(call, *request,
                {.comm = &home,
                 .ordinal = 0,
                 .begin = 0,
                 .bytes = bytes,
                 .site = 0,
                 .peer = peer,
                 .tag = tag,
                 .function = F,
                 .kind = sends ? RequestKind::persistent_send : RequestKind::persistent_receive,
                 .active = false,
                 .untold = channel != nullptr,
                 .flags = channel != nullptr ? flags : flags & ~flag::partitioned});
  if (channel != nullptr) release(channel);  // the request holds it now
  return result;
}

template <Function F, class Real, class Count>
int wrap_psend_init(Caller caller, Real real_init, const void* buffer, int partitions, Count count, MPI_Datatype type,
                    int dest, int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return make_partitioned<F, Side::sender>(caller, partitions, count, type, dest, tag, comm, request, [&](MPI_Comm c) {
    return real_init(buffer, partitions, count, type, dest, tag, c, info, request);
  });
}

template <Function F, class Real, class Count>
int wrap_precv_init(Caller caller, Real real_init, void* buffer, int partitions, Count count, MPI_Datatype type,
                    int source, int tag, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return make_partitioned<F, Side::receiver>(
      caller, partitions, count, type, source, tag, comm, request,
      [&](MPI_Comm c) { return real_init(buffer, partitions, count, type, source, tag, c, info, request); });
}

}  // namespace pclscope
