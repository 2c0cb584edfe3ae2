#include "analysis/blocked/call_kind.hpp"

#include "interpose/record/functions.hpp"

namespace pclscope::blocked {

// Who is needed for certain decides: Alltoallv, Allgatherv and their like need nobody who gives or takes nothing.
CallKind call_kind(std::uint16_t function) {
  using F = record::Function;
  switch (static_cast<F>(function)) {
    case F::Test:
    case F::Testall:
    case F::Testany:
    case F::Testsome:
    case F::Iprobe:
    case F::Improbe:
    case F::Request_get_status:
    case F::Parrived: return CallKind::polling;
    case F::Recv:
    case F::Recv_c:
    case F::Probe:
    case F::Mprobe: return CallKind::receive;
    case F::Send:
    case F::Send_c:
    case F::Ssend:
    case F::Ssend_c:
    case F::Rsend:
    case F::Rsend_c: return CallKind::send;
    case F::Sendrecv:
    case F::Sendrecv_c:
    case F::Sendrecv_replace:
    case F::Sendrecv_replace_c: return CallKind::exchange;
    case F::Wait:
    case F::Waitall: return CallKind::wait_all;
    case F::Waitany:
    case F::Waitsome: return CallKind::wait_any;
    case F::Barrier:
    case F::Allreduce:
    case F::Allreduce_c:
    case F::Allgather:
    case F::Allgather_c:
    case F::Alltoall:
    case F::Alltoall_c:
    case F::Reduce_scatter_block:
    case F::Reduce_scatter_block_c: return CallKind::all_of_all;
    case F::Bcast:
    case F::Bcast_c:
    case F::Scatter:
    case F::Scatter_c: return CallKind::root_to_all;
    case F::Reduce:
    case F::Reduce_c:
    case F::Gather:
    case F::Gather_c: return CallKind::all_to_root;
    case F::Gatherv:
    case F::Gatherv_c:
    case F::Scatterv:
    case F::Scatterv_c:
    case F::Allgatherv:
    case F::Allgatherv_c:
    case F::Alltoallv:
    case F::Alltoallv_c:
    case F::Alltoallw:
    case F::Alltoallw_c:
    case F::Reduce_scatter:
    case F::Reduce_scatter_c:
    case F::Scan:
    case F::Scan_c:
    case F::Exscan:
    case F::Exscan_c:
    case F::Neighbor_allgather:
    case F::Neighbor_allgather_c:
    case F::Neighbor_allgatherv:
    case F::Neighbor_allgatherv_c:
    case F::Neighbor_alltoall:
    case F::Neighbor_alltoall_c:
    case F::Neighbor_alltoallv:
    case F::Neighbor_alltoallv_c:
    case F::Neighbor_alltoallw:
    case F::Neighbor_alltoallw_c: return CallKind::some_of_all;
    case F::Comm_dup:
    case F::Comm_dup_with_info:
    case F::Comm_create:
    case F::Comm_split:
    case F::Comm_split_type:
    case F::Cart_create:
    case F::Cart_sub:
    case F::Graph_create:
    case F::Dist_graph_create:
    case F::Dist_graph_create_adjacent:
    case F::Intercomm_merge: return CallKind::creation;
    case F::Win_fence: return CallKind::fence;
    case F::Win_free: return CallKind::free_window;
    case F::Win_create:
    case F::Win_create_c:
    case F::Win_allocate:
    case F::Win_allocate_c:
    case F::Win_allocate_shared:
    case F::Win_allocate_shared_c:
    case F::Win_create_dynamic: return CallKind::make_window;
    case F::Win_start: return CallKind::start;
    case F::Win_complete: return CallKind::complete;
    case F::Win_post: return CallKind::post;
    case F::Win_wait: return CallKind::wait_post;
    case F::Win_lock: return CallKind::lock;
    case F::File_open: return CallKind::open_file;
    case F::Finalize: return CallKind::finalize;
    default: return CallKind::other;
  }
}

CallKind nonblocking_kind(std::uint16_t function) {
  using F = record::Function;
  switch (static_cast<F>(function)) {
    case F::Ibarrier:
    case F::Iallreduce:
    case F::Iallreduce_c:
    case F::Iallgather:
    case F::Iallgather_c:
    case F::Ialltoall:
    case F::Ialltoall_c:
    case F::Ireduce_scatter_block:
    case F::Ireduce_scatter_block_c:
    case F::Barrier_init:
    case F::Allreduce_init:
    case F::Allreduce_init_c:
    case F::Allgather_init:
    case F::Allgather_init_c:
    case F::Alltoall_init:
    case F::Alltoall_init_c:
    case F::Reduce_scatter_block_init:
    case F::Reduce_scatter_block_init_c: return CallKind::all_of_all;
    default: return CallKind::some_of_all;
  }
}

}  // namespace pclscope::blocked
