#include "interpose/wrap/wrap_rma.hpp"

#include <cstdlib>

namespace pclscope {

GroupRanks::GroupRanks(MPI_Group group, MPI_Win window, const Communicator& c) {
  MPI_Group all;
  if (real.Group_size(group, &size_) != MPI_SUCCESS || size_ <= 0 || real.Win_get_group(window, &all) != MPI_SUCCESS)
    return;
  const auto count = static_cast<std::size_t>(size_);
  ranks_ = static_cast<int*>(malloc(2 * count * sizeof(int)));
  for (int i = 0; ranks_ != nullptr && i < size_; ++i) ranks_[i] = i;
  if (ranks_ != nullptr && real.Group_translate_ranks(group, size_, ranks_, all, ranks_ + count) != MPI_SUCCESS) {
    free(ranks_);
    ranks_ = nullptr;
  }
  real.Group_free(&all);
  for (int i = 0; ranks_ != nullptr && i < size_; ++i) ranks_[i] = c.peer(ranks_[size_ + i]);
}

GroupRanks::~GroupRanks() { free(ranks_); }

void GroupRanks::await(Recorder& r) const {
  record::SegmentHeader& header = r.header();
  const auto count = ranks_ != nullptr ? static_cast<std::uint32_t>(size_) : 0;
  for (std::uint32_t i = 0; i < count && i < record::awaited_limit; ++i)
    header.awaited[i].store(record::awaited_member | static_cast<std::uint32_t>(ranks_[i]), std::memory_order_relaxed);
  header.call_awaited.store(count, std::memory_order_relaxed);
}

void GroupRanks::record(CallScope& call, const WindowOrigin& origin) const {
  const Communicator& c = *origin.comm;
  const auto tell = [&](std::int32_t peer) {
    call.record(EventKind::rma_sync, c.id, static_cast<std::uint64_t>(size_), origin.number, peer, origin.index,
                c.flags);
  };
  if (ranks_ == nullptr) return tell(record::any_source);
  for (int i = 0; i < size_; ++i) tell(ranks_[i]);
}

}  // namespace pclscope
