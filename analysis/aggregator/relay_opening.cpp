#include "analysis/aggregator/relay_opening.hpp"

#include <mpi.h>

#include <cstdio>

#include "analysis/aggregator/time_origin.hpp"

namespace pclscope::aggregator {
namespace {

// The tool's ranks are the last of the world. No rank of the application takes part.
MPI_Comm tool_ranks(int count) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Group world, tools;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int last[1][3] = {{size - count, size - 1, 1}};
  MPI_Group_range_incl(world, 1, last, &tools);
  MPI_Comm comm = MPI_COMM_NULL;
  constexpr int tag = 4711;  // any: of this call
  MPI_Comm_create_group(MPI_COMM_WORLD, tools, tag, &comm);
  MPI_Group_free(&tools);
  MPI_Group_free(&world);
  return comm;
}

}  // namespace

std::unique_ptr<Relay> open_relay(const Options& options, FrameSocket& socket, const collect::TickClock& clock,
                                  std::uint64_t first_ticks) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != options.aggregators + (options.attach ? 0 : options.ranks)) {
    socket.queue(FrameKind::lost);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == size - 1)
      std::fprintf(stderr,
                   "pclscope: MPI started %d processes, which is not what was asked for: the nodes are not analysed "
                   "together; start the job by `pclscope run`\n",
                   size);
    return nullptr;
  }
  MPI_Comm tools = tool_ranks(options.aggregators);
  const std::uint64_t origin_ticks = agree_on_origin(tools, clock, first_ticks);
  auto relay = std::make_unique<Relay>(tools, socket, origin_ticks, options.per_node);
  MPI_Comm_free(&tools);
  return relay;
}

}  // namespace pclscope::aggregator
