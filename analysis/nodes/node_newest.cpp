// The newest single calls, while somebody asks the root for them.
#include <algorithm>

#include "analysis/nodes/job_ticks.hpp"
#include "analysis/nodes/node.hpp"
#include "analysis/nodes/packing.hpp"

namespace pclscope::nodes {

namespace {
constexpr std::size_t newest_of_frame = 8192;
}  // namespace

void Node::keep_newest(bool on) {
  if (on == newest_.has_value()) return;
  newest_.reset();
  newest_left_out_ = 0;
  told_newest_ = {};
  newest_of_nodes_.clear();
  if (!on) return;
  newest_.emplace(static_cast<std::int32_t>(here_.size()),
                  options_.analysis.keep == Keep::all ? 1 : NewestCalls::time_share);
  newest_->set_tick_scale(job_scale());
}

// Before an epoch ends: all rings here have been read so far. A frame without calls tells counts that have changed.
void Node::settle_newest() {
  if (!newest_) return;
  if (root_ && TimeShare::Clock::now() - newest_asked_ > NewestCalls::forgotten_after) {
    root_->want_calls(false);
    return keep_newest(false);
  }
  newest_->settle(read_until_ns_, [this](std::span<MpiCall> calls) {
    for (MpiCall& call : calls)
      call.site = options_.site_of ? site_of_node(self_, options_.site_of(call.rank, call.site, call.function)) : 0;
    for (; !calls.empty(); calls = calls.subspan(std::min(calls.size(), newest_of_frame)))
      send_newest(calls.first(std::min(calls.size(), newest_of_frame)));
  });
  if (newest_->whole_from_ns() != told_newest_.whole_from_ns ||
      newest_->left_out() + newest_left_out_ != told_newest_.left_out)
    send_newest({});
}

void Node::send_newest(std::span<const MpiCall> calls) {
  NewestOfNode newest{
      self_, newest_->whole_from_ns(), newest_->left_out() + newest_left_out_, {calls.begin(), calls.end()}};
  if (root_) {
    take_newest(newest);
  } else {
    std::vector<std::byte> bytes = pack(newest);
    if (!calls.empty() && !options_.everything && !budget_.spare(bytes.size())) {
      newest_left_out_ += calls.size();
      return;
    }
    send(0, std::move(bytes));
  }
  newest.calls.clear();
  told_newest_ = std::move(newest);
}

// The frame of a node that was told late to stop is of no use.
void Node::take_newest(const NewestOfNode& newest) {
  if (!newest_ || newest.node < 0 || newest.node >= link_.nodes()) return;
  newest_->keep(newest.calls);
  NewestOfNode& counts = newest_of_nodes_[newest.node];
  counts.whole_from_ns = newest.whole_from_ns;
  counts.left_out = std::max(counts.left_out, newest.left_out);
}

// An epoch is over: what nodes had read as of then has come.
void Node::newest_complete_until(std::int64_t read_until_ns) {
  if (!newest_) return;
  for (const auto& [node, counts] : newest_of_nodes_)
    if (counts.whole_from_ns != INT64_MAX) newest_->incomplete_before(counts.whole_from_ns);
  if (newest_->whole_from_ns() != INT64_MAX) newest_->complete_until(NewestCalls::settled_until(read_until_ns));
}

CallsPart Node::calls(const CallsQuestion& question, std::vector<MpiCall> running, std::int64_t now_ns) {
  if (!root_) return {};
  newest_asked_ = TimeShare::Clock::now();
  root_->want_calls(true);
  keep_newest(true);
  const auto is_here = [&](std::int32_t rank) {
    return rank >= 0 && static_cast<std::size_t>(rank) < here_.size() && here_[static_cast<std::size_t>(rank)];
  };
  for (MpiCall& call : running) call.site = root_->sites().id_of(site_of_node(self_, call.site));
  for (const MpiCall& call : root_->running_calls(now_ns))
    if (!is_here(call.rank)) running.push_back(call);
  CallsPart part = newest_->part(question, std::move(running), now_ns);
  // A site may be told after its first call.
  for (MpiCall& call : part.calls) call.site = root_->sites().id_of(static_cast<std::uint32_t>(call.site));
  for (const auto& [node, counts] : newest_of_nodes_) part.left_out += node == self_ ? 0 : counts.left_out;
  for (std::size_t rank = 0; rank < here_.size(); ++rank) {
    const auto told = newest_of_nodes_.find(node_of_rank_[rank]);
    if (told == newest_of_nodes_.end() || told->second.whole_from_ns == INT64_MAX)
      part.untold.push_back(static_cast<std::int32_t>(rank));
  }
  return part;
}

}  // namespace pclscope::nodes
