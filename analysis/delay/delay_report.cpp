#include "analysis/delay/delay_report.hpp"

namespace pclscope {

DelayReport delays_of(std::int32_t ranks, std::span<const Message> messages,
                      std::span<const CollectiveCall> collectives, const DelayQuestion& question) {
  DelayOptions options;
  options.from_ns = question.from_ns;
  options.to_ns = question.to_ns;
  options.ranks = question.ranks;
  Delays delays(ranks, std::move(options));
  delays.add(messages, collectives, INT64_MAX);
  delays.finish();
  DelayReport report;
  report.origins = delays.list(question.most);
  report.totals = delays.totals();
  return report;
}

}  // namespace pclscope
