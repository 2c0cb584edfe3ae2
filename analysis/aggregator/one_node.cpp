#include "analysis/aggregator/one_node.hpp"

namespace pclscope::aggregator {

PipelineOptions OneNode::named(PipelineOptions options) {
  window_ns_ = options.window_ns;
  options.name_sites = [this](std::span<Message> messages) { call_sites_.table().translate(messages); };
  options.name_call_sites = [this](std::span<CollectiveCall> calls) { call_sites_.table().translate(calls); };
  return options;
}

void OneNode::found(collect::SegmentFile& segment) {
  pipeline_.set_tick_scale(clock_.scale());
  blocked_.set_tick_scale(clock_.scale());
  pipeline_.set_node(segment.rank(), segment.node());
  pipeline_.set_threads(segment.rank(), segment.header().threads == record::Threads::many);
  pipeline_.set_mpi(segment.mpi());
  call_sites_.table().add_process(segment.rank(), segment.header().pid, segment.executable());
}

void OneNode::rings_read(std::int64_t, bool all_found) {
  pipeline_.end_round(clock_.now_ns(), all_found);
  blocked_.round(BlockedWatch::Clock::now());
}

void OneNode::finish() {
  pipeline_.finish();
  blocked_.finish(in_order_);
}

void OneNode::fill(Snapshot& snapshot) {
  blocked_.fill(snapshot);
  call_sites_.describe(snapshot);
}

}  // namespace pclscope::aggregator
