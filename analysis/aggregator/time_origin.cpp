#include "analysis/aggregator/time_origin.hpp"

#include <algorithm>

#include "analysis/aggregator/resting.hpp"

namespace pclscope::aggregator {
namespace {

// Clocks of nodes differ in speed, and the estimates of their offsets have errors.
constexpr std::int64_t margin_ns = 1'000'000;

}  // namespace

// Nobody's clock is known to the others yet. But the others look at theirs after the root has looked at its own: what
// was so long ago by theirs was no longer ago, counted from the root's look.
std::uint64_t agree_on_origin(MPI_Comm tools, const collect::TickClock& clock, std::uint64_t first_ticks) {
  const Resting resting;
  int node = 0;
  MPI_Comm_rank(tools, &node);
  MPI_Barrier(tools);  // all are here: the next one is short
  const std::uint64_t before = collect::read_ticks(clock.source());
  MPI_Barrier(tools);
  const std::uint64_t looked = node == 0 ? before : collect::read_ticks(clock.source());
  const std::int64_t mine = first_ticks == 0 ? 0 : clock.ticks_to_ns(looked) - clock.ticks_to_ns(first_ticks);
  std::int64_t longest = mine;
  MPI_Allreduce(&mine, &longest, 1, MPI_INT64_T, MPI_MAX, tools);
  if (node != 0) return first_ticks;
  const double ago_ns = static_cast<double>(std::max<std::int64_t>(longest, 0) + margin_ns);
  return looked - static_cast<std::uint64_t>(ago_ns / clock.scale().ns_per_tick);
}

}  // namespace pclscope::aggregator
