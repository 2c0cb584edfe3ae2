#include "analysis/logical/stream.hpp"

#include "analysis/logical/layers.hpp"
#include "analysis/values/wait_state.hpp"

namespace pclscope::logical {

// What goes on from one advance() to the next.
struct Stream::State {
  explicit State(std::int32_t ranks) : layers(ranks), next_step(at(ranks)) {}
  Layers layers;
  std::vector<std::uint32_t> next_step;
};

Stream::Stream(std::int32_t ranks, std::size_t most_pending)
    : state_(std::make_unique<State>(std::max(ranks, 0))), pending_(ranks), most_pending_(most_pending) {}
Stream::~Stream() = default;

void Stream::same_lines(std::vector<std::uint32_t> line_of_site) { line_of_site_ = std::move(line_of_site); }

void Stream::add(std::span<const Message> messages) {
  for (const Message& m : messages) {
    const bool late =
        m.send_begin < until_ns_ || (!(m.flags & message_flag::unseen_completion) && m.recv_end < until_ns_);
    if (late) ++too_late_;
    else pending_.add(std::span(&m, 1));
  }
}

void Stream::add(std::span<const CollectiveCall> calls) {
  for (const CollectiveCall& c : calls) {
    if (c.end >= until_ns_) pending_.add(std::span(&c, 1));
    else too_late_ += group_of(c) == WaitGroup::collective;
  }
}

std::size_t Stream::pending() const { return pending_.messages() + pending_.collectives(); }

Result<LogicalTime> Stream::advance(std::int64_t until_ns) {
  until_ns_ = std::max(until_ns_, until_ns);
  return go_on(until_ns_);
}

Result<LogicalTime> Stream::finish() {
  until_ns_ = INT64_MAX;
  return go_on(INT64_MAX);
}

Result<LogicalTime> Stream::go_on(std::int64_t until_ns) {
  if (!pending_.fits()) return Records::too_many();
  Trace trace(pending_, true);
  Stepper stepper(trace.time(), state_->next_step);
  state_->layers.attach(trace.time(), stepper, line_of_site_);
  state_->layers.find(until_ns, pending() > most_pending_);
  trace.drop_before(state_->layers.open_phases(), pending_);
  sort_phases(trace.time());
  return std::move(trace.time());
}

}  // namespace pclscope::logical
