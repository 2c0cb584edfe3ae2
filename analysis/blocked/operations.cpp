#include "analysis/blocked/operations.hpp"

#include <algorithm>

#include "analysis/blocked/call_kind.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope::blocked {

using record::Event;
using record::EventKind;

Operations::Operations(std::int32_t ranks) : lossy_(static_cast<std::size_t>(std::max(ranks, 0)), 0) {}

void Operations::add(std::int32_t rank, std::span<const Event> events) {
  if (rank < 0 || static_cast<std::size_t>(rank) >= lossy_.size()) return;
  for (const Event& e : events) {
    if (e.kind == EventKind::lost) lossy_[static_cast<std::size_t>(rank)] = 1;
    else if (e.kind == EventKind::rma_sync || e.kind == EventKind::file) take(rank, e);
  }
}

void Operations::take(std::int32_t rank, const Event& e) {
  switch (call_kind(e.function)) {
    case CallKind::make_window: count_one({e.comm, 0, Together::make_window}, rank, e.ordinal); break;
    case CallKind::open_file: count_one({e.comm, 0, Together::open_file}, rank, e.ordinal); break;
    case CallKind::free_window: epochs_.erase({{e.comm, e.tag}, rank}); [[fallthrough]];
    case CallKind::fence: count_one({e.comm, e.tag, Together::fence}, rank, e.ordinal); break;
    default:
      if (e.kind == EventKind::rma_sync) take_sync(rank, e);
  }
}

void Operations::take_sync(std::int32_t rank, const Event& e) {
  using F = record::Function;
  const Window window(e.comm, e.tag);
  const auto unlock = [&](std::int32_t target) {
    const auto at = locks_.find(window);
    if (at == locks_.end()) return;
    std::erase_if(at->second, [&](const Lock& l) { return l.holder == rank && l.target == target; });
    if (at->second.empty()) locks_.erase(at);
  };
  const auto begin = [&](std::vector<std::int32_t>& partners, std::map<std::int32_t, std::uint64_t>& counts,
                         bool& open) {
    if (!open) partners.clear();
    open = true;
    partners.push_back(e.peer);
    ++counts[e.peer];
  };
  if (epochs_.size() >= most_keys || locks_.size() >= most_keys) full_ = true;
  if (full_) return;
  switch (static_cast<F>(e.function)) {
    case F::Win_lock: locks_[window].push_back({rank, e.peer, e.bytes != 0}); break;
    case F::Win_lock_all: locks_[window].push_back({rank, record::any_source, false}); break;
    case F::Win_unlock: unlock(e.peer); break;
    case F::Win_unlock_all: unlock(record::any_source); break;
    case F::Win_start: {
      Epochs& o = epochs_[{window, rank}];
      begin(o.started, o.starts, o.open_start);
      break;
    }
    case F::Win_post: {
      Epochs& o = epochs_[{window, rank}];
      begin(o.posted, o.posts, o.open_post);
      break;
    }
    case F::Win_complete: epochs_[{window, rank}].open_start = false; break;
    case F::Win_wait:
    case F::Win_test: epochs_[{window, rank}].open_post = false; break;
    default: break;
  }
}

void Operations::count_one(const Key& key, std::int32_t rank, std::uint64_t number) {
  if (counts_.size() >= most_keys && !counts_.contains(key)) {
    full_ = true;
    return;
  }
  std::uint64_t& count = counts_[key][rank];
  count = std::max(count, number);
}

std::optional<std::uint64_t> Operations::count(Together what, std::uint64_t comm, std::int32_t index,
                                               std::int32_t rank) const {
  if (!certain(rank)) return std::nullopt;
  const auto key = counts_.find({comm, what == Together::fence ? index : 0, what});
  if (key == counts_.end()) return 0;
  const auto of_rank = key->second.find(rank);
  return of_rank == key->second.end() ? 0 : of_rank->second;
}

const Operations::Epochs* Operations::epochs(const Window& window, std::int32_t rank) const {
  const auto at = epochs_.find({window, rank});
  return at == epochs_.end() ? nullptr : &at->second;
}

std::span<const Operations::Lock> Operations::locks(const Window& window) const {
  const auto at = locks_.find(window);
  if (at == locks_.end()) return {};
  return at->second;
}

}  // namespace pclscope::blocked
