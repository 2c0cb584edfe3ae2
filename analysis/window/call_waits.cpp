#include "analysis/window/call_waits.hpp"

namespace pclscope {

namespace {
constexpr std::size_t kept_capacity = 1u << 16;  // calls; more is given back when a window needed much less
}  // namespace

CallWaits::Call& CallWaits::make(std::int32_t rank, std::int64_t begin, std::int64_t end, bool told) {
  Call& call = calls_.emplace_back();
  call.begin = begin;
  call.end = end;
  call.rank = rank;
  call.told = told;
  sendrecvs_ += !told;
  newest_end_ = std::max(newest_end_, end);
  if (calls_.size() * 2 > slots_.size()) {
    slots_.assign(slots_.size() * 2, {});
    --shift_;
    put_into_slots();
  }
  return calls_.back();
}

void CallWaits::put_into_slots() {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const std::uint64_t hashed = hash(calls_[i].rank, calls_[i].end);
    std::size_t at = hashed >> shift_;
    while (slots_[at].call != none) at = (at + 1) & mask;
    slots_[at] = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(hashed)};
  }
}

// The first `left` calls stay.
void CallWaits::keep(std::size_t left) {
  given_.swap(left_given_);
  left_given_.clear();
  if (calls_.empty()) return;
  const bool too_large = calls_.capacity() > kept_capacity && calls_.size() < calls_.capacity() / 8;
  calls_.resize(left);
  newest_end_ = never;
  sendrecvs_ = 0;
  for (const Call& call : calls_) {
    newest_end_ = std::max(newest_end_, call.end);
    sendrecvs_ += !call.told;
  }
  if (too_large) {
    calls_.shrink_to_fit();
    std::size_t slots = 256;
    for (shift_ = 64 - 8; slots < 4 * left; slots *= 2) --shift_;
    slots_ = std::vector<Slot>(slots);
  } else {
    std::fill(slots_.begin(), slots_.end(), Slot{});
  }
  put_into_slots();
}

void StoredCallWaits::add(const Message& m) {
  if (const BlockedTime told = calls_.add(m, sink_); told.sum() > 0) sink_(CallWaits::of(m), told);
  oldest_ = std::min(oldest_, m.recv_end);
  newest_ = std::max(newest_, m.recv_end);
  if (calls_.open() < most_open) return;
  // The older half of the time, then all: a damaged file may have most calls at one end.
  calls_.close(oldest_ / 2 + newest_ / 2, sink_);
  if (calls_.open() > most_open / 2)
    calls_.close(newest_ + (newest_ < std::numeric_limits<std::int64_t>::max()), sink_);
  oldest_ = newest_;
}

}  // namespace pclscope
