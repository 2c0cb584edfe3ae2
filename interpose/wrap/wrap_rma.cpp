#include "interpose/wrap/wrap_rma.hpp"

#include <cstdlib>

namespace pclscope {

void record_group(CallScope& call, MPI_Group group, MPI_Win window, const WindowOrigin& origin) {
  const Communicator& c = *origin.comm;
  int size = 0;
  const auto tell = [&](std::int32_t peer) {
    call.record(EventKind::rma_sync, c.id, static_cast<std::uint64_t>(size), origin.number, peer, origin.index,
                c.flags);
  };
  MPI_Group all;
  int* ranks = nullptr;
  if (real.Group_size(group, &size) == MPI_SUCCESS && size > 0 && real.Win_get_group(window, &all) == MPI_SUCCESS) {
    ranks = static_cast<int*>(malloc(2 * static_cast<std::size_t>(size) * sizeof(int)));
    for (int i = 0; ranks != nullptr && i < size; ++i) ranks[i] = i;
    if (ranks != nullptr && real.Group_translate_ranks(group, size, ranks, all, ranks + size) != MPI_SUCCESS) {
      free(ranks);
      ranks = nullptr;
    }
    real.Group_free(&all);
  }
  if (ranks == nullptr) return tell(record::any_source);
  for (int i = 0; i < size; ++i) tell(c.peer(ranks[size + i]));
  free(ranks);
}

}  // namespace pclscope
