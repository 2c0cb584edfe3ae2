#include "analysis/window/call_waits.hpp"

namespace pclscope {

namespace {
constexpr std::size_t kept_capacity = 1u << 12;  // calls; more is given back when a window needed much less
}  // namespace

CallWaits::Call& CallWaits::append(std::int32_t rank, std::int64_t begin, std::int64_t end) {
  InOrder& of = ranks_[static_cast<std::size_t>(rank)];
  if (of.calls.empty()) used_.push_back(rank);
  ++open_;
  of.last = of.calls.size();
  return of.calls.emplace_back(begin, end, rank);
}

// Somewhere among those in order, or not there.
CallWaits::Call& CallWaits::search(std::int32_t rank, std::int64_t begin, std::int64_t end) {
  InOrder& of = ranks_[static_cast<std::size_t>(rank)];
  if (Call& last = of.calls[of.last]; is(last, begin, end)) return last;
  if (of.calls.back().end < end) return append(rank, begin, end);
  const auto after_last = of.calls.begin() + static_cast<std::ptrdiff_t>(of.last + 1);
  const bool behind = (after_last - 1)->end < end;
  const auto found = std::lower_bound(behind ? after_last : of.calls.begin(), behind ? of.calls.end() : after_last, end,
                                      [](const Call& call, std::int64_t value) { return call.end < value; });
  of.last = static_cast<std::size_t>(found - of.calls.begin());
  return is(*found, begin, end) ? *found : find_other(rank, begin, end);
}

CallWaits::Call& CallWaits::find_other(std::int32_t rank, std::int64_t begin, std::int64_t end) {
  if (rank >= 0 && rank < most_ranks && static_cast<std::size_t>(rank) >= ranks_.size()) {
    ranks_.resize(static_cast<std::size_t>(rank) + 1);
    return append(rank, begin, end);
  }
  const std::uint64_t hashed = hash(rank, end);
  const auto tag = static_cast<std::uint32_t>(hashed);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hashed >> shift_;
  for (; slots_[at].call != none; at = (at + 1) & mask) {
    Call& call = others_[slots_[at].call];
    if (slots_[at].tag == tag && call.rank == rank && is(call, begin, end)) return call;
  }
  slots_[at] = {static_cast<std::uint32_t>(others_.size()), tag};
  ++open_;
  others_.emplace_back(begin, end, rank);
  if (others_.size() * 2 > slots_.size()) {
    slots_.assign(slots_.size() * 2, {});
    --shift_;
    put_into_slots();
  }
  return others_.back();
}

void CallWaits::put_into_slots() {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < others_.size(); ++i) {
    const std::uint64_t hashed = hash(others_[i].rank, others_[i].end);
    std::size_t at = hashed >> shift_;
    while (slots_[at].call != none) at = (at + 1) & mask;
    slots_[at] = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(hashed)};
  }
}

// The first `left` calls stay.
void CallWaits::keep(InOrder& of, std::size_t left) {
  const bool too_large = of.calls.capacity() > kept_capacity && of.calls.size() < of.calls.capacity() / 8;
  of.calls.erase(of.calls.begin() + static_cast<std::ptrdiff_t>(left), of.calls.end());
  if (too_large) of.calls.shrink_to_fit();
  of.last = 0;
}

void CallWaits::keep_others(std::size_t left) {
  const bool too_large = others_.capacity() > kept_capacity && others_.size() < others_.capacity() / 8;
  others_.erase(others_.begin() + static_cast<std::ptrdiff_t>(left), others_.end());
  if (too_large) {
    others_.shrink_to_fit();
    std::size_t slots = 256;
    for (shift_ = 64 - 8; slots < 4 * left; slots *= 2) --shift_;
    slots_ = std::vector<Slot>(slots);
  } else {
    std::fill(slots_.begin(), slots_.end(), Slot{});
  }
  put_into_slots();
}

void StoredCallWaits::add(const Message& m) {
  if (const BlockedTime told = calls_.add(m); told.sum() > 0) sink_(CallWaits::of(m), told);
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
