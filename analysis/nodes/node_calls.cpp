// Single MPI calls on their way to the root.
#include <algorithm>

#include "analysis/nodes/node.hpp"
#include "analysis/nodes/packing.hpp"

namespace pclscope::nodes {

namespace {
constexpr std::size_t single_calls_of_frame = 8192;
}  // namespace

// Those that returned before: all rings have been read so far.
void Node::send_calls(std::int64_t until_ns) {
  if (!call_log_) return;
  const TimeShare::Clock::time_point start = TimeShare::Clock::now();
  call_log_->shed(!calls_time_.allows(start));
  if (call_log_->take(until_ns) > 0) {
    call_log_->each_taken([this](std::span<MpiCall> calls) {
      for (MpiCall& call : calls)
        call.site = options_.site_of ? site_of_node(self_, options_.site_of(call.rank, call.site, call.function)) : 0;
      for (; !calls.empty(); calls = calls.subspan(std::min(calls.size(), single_calls_of_frame)))
        send_calls(calls.first(std::min(calls.size(), single_calls_of_frame)));
    });
    calls_time_.used(TimeShare::Clock::now() - start);
  }
  if (calls_left_out_ + call_log_->left_out() != told_calls_left_out_) send_calls(std::span<const MpiCall>());
}

// Without calls: how many are missing.
void Node::send_calls(std::span<const MpiCall> calls) {
  RawMessages raw;
  raw.node = self_;
  raw.window_ns = INT64_MIN;
  raw.calls.assign(calls.begin(), calls.end());
  raw.calls_left_out = calls_left_out_ + call_log_->left_out();
  raw.calls_shed = call_log_->shed();
  std::vector<std::byte> bytes = root_ ? std::vector<std::byte>() : pack(raw);
  if (!root_ && !calls.empty() && !options_.everything && !budget_.spare(bytes.size())) {
    calls_left_out_ += calls.size();
    return;
  }
  told_calls_left_out_ = raw.calls_left_out;
  if (root_) queued_raw_.push_back(std::move(raw));
  else send(0, std::move(bytes));
}

}  // namespace pclscope::nodes
