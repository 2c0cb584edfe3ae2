#include "interpose/wrap/topology.hpp"

#include <cstdlib>

#include "real_functions.hpp"

namespace pclscope {

namespace {

constexpr int most_neighbours = 4096;

int topology_of(const Communicator& c) {
  int kind = MPI_UNDEFINED;
  real.Topo_test(c.handle, &kind);
  return kind;
}

// Those that this rank receives from; room for most_neighbours. Returns how many.
int sources_of(const Communicator& c, int* ranks) {
  int count = 0, out = 0, weighted = 0;
  switch (topology_of(c)) {
    case MPI_CART:
      if (real.Cartdim_get(c.handle, &count) != MPI_SUCCESS || count > most_neighbours / 2) return 0;
      for (int d = 0; d < count; ++d)
        if (real.Cart_shift(c.handle, d, 1, ranks + 2 * d, ranks + 2 * d + 1) != MPI_SUCCESS) return 0;
      return 2 * count;
    case MPI_GRAPH:
      if (real.Graph_neighbors_count(c.handle, c.rank, &count) != MPI_SUCCESS || count > most_neighbours) return 0;
      return real.Graph_neighbors(c.handle, c.rank, count, ranks) == MPI_SUCCESS ? count : 0;
    case MPI_DIST_GRAPH: {
      if (real.Dist_graph_neighbors_count(c.handle, &count, &out, &weighted) != MPI_SUCCESS) return 0;
      if (count > most_neighbours || out > most_neighbours) return 0;
      auto* rest = static_cast<int*>(malloc(3 * sizeof(int) * most_neighbours));
      if (rest == nullptr) return 0;
      const int result = real.Dist_graph_neighbors(c.handle, count, ranks, rest, out, rest + most_neighbours,
                                                   rest + 2 * most_neighbours);
      free(rest);
      return result == MPI_SUCCESS ? count : 0;
    }
    default: return 0;
  }
}

}  // namespace

std::int64_t out_degree(Communicator& c) {
  if (c.out_degree >= 0) return c.out_degree;
  int in = 0, out = 0, weighted = 0;
  const int kind = topology_of(c);
  if (kind == MPI_CART && real.Cartdim_get(c.handle, &out) == MPI_SUCCESS) out *= 2;
  if (kind == MPI_GRAPH) real.Graph_neighbors_count(c.handle, c.rank, &out);
  if (kind == MPI_DIST_GRAPH) real.Dist_graph_neighbors_count(c.handle, &in, &out, &weighted);
  c.out_degree = out;
  return out;
}

void tell_neighbours(Recorder& r, Communicator& c) {
  c.neighbours_told = r.session() + 1;
  auto* ranks = static_cast<int*>(malloc(sizeof(int) * most_neighbours));
  if (ranks == nullptr) return;
  const int count = sources_of(c, ranks);
  const std::uint64_t time = now();
  for (int i = 0; i < count; ++i)
    r.write(EventKind::neighbour, Function::none, time, time, 0, c.id, static_cast<std::uint64_t>(count),
            static_cast<std::uint64_t>(i), c.peer(ranks[i]), record::any_tag, c.flags);
  free(ranks);
}

}  // namespace pclscope
