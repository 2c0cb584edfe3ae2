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
    case F::Finalize: return CallKind::finalize;
    default: return CallKind::other;
  }
}

}  // namespace pclscope::blocked
