#include "analysis/pipeline/run_ratios.hpp"

namespace pclscope {

void RunRatios::refresh(const Measured& m, bool now) {
  const TimeShare::Clock::time_point start = TimeShare::Clock::now();
  if (!time_.allows(start) && !now) return;
  all = {};
  of_receiver.assign(static_cast<std::size_t>(m.application.ranks), {});
  of_nodes.clear();
  const std::vector<std::int32_t>& nodes = m.application.node_of_rank;
  for (std::size_t i = 0; i < m.pairs.size(); ++i) {
    const auto& [source, destination] = m.pairs.pair(i);
    const RatioSums sums = m.pairs.total_ratios(i, m.inverse());
    all += sums;
    of_receiver[static_cast<std::size_t>(destination)] += sums;
    const std::int32_t from = nodes[static_cast<std::size_t>(source)],
                       to = nodes[static_cast<std::size_t>(destination)];
    if (from != to && from >= 0 && to >= 0) of_nodes[{from, to}] += sums;
  }
  time_.used(TimeShare::Clock::now() - start);
}

}  // namespace pclscope
