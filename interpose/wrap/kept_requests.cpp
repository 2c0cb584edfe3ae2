#include "interpose/wrap/kept_requests.hpp"

namespace pclscope {

KeptRequests::KeptRequests(Recorder& r, int count, const MPI_Request* requests, bool with_statuses)
    : recorder_(r), count_(static_cast<std::size_t>(count)) {
  if (count_ > limit && !borrow(with_statuses)) return;
  looked_up_ = process.multiple || count_ < limit ? count_ : limit;
  for (std::size_t i = 0; i < looked_up_; ++i) {
    requests_[i] = requests[i];
    used_ += requests[i] != handles.request_null;
    kept_[i].look_up(requests[i]);
  }
  for (std::size_t i = looked_up_; i < count_; ++i) {
    requests_[i] = requests[i];
    used_ += requests[i] != handles.request_null;
  }
  if (process.multiple) take_out();
  ready_ = true;
}

void KeptRequests::await() {
  if (recorder_.muted()) return;
  record::SegmentHeader& header = recorder_.header();
  std::size_t n = 0;
  for (std::size_t i = 0; i < count_ && n < record::awaited_limit; ++i) {
    if (requests_[i] == handles.request_null) continue;
    const TrackedRequest* entry = i < looked_up_ ? kept_[i].entry : nullptr;
    if (entry != nullptr && process.multiple) entry = &copies_[i];
    if (entry != nullptr && is_collective(entry->kind))
      header.awaited_comm[n].store(entry->comm_id, std::memory_order_relaxed);
    header.awaited[n++].store(entry != nullptr ? awaited_of(*entry) : 0, std::memory_order_relaxed);
  }
  header.call_awaited.store(static_cast<std::uint32_t>(used_), std::memory_order_relaxed);
}

bool KeptRequests::with_receives(bool completes_all) {
  for (std::size_t i = 0; completes_all && i < looked_up_ && !receives_; ++i)
    receives_ = kept_[i].entry != nullptr && is_receive(process.multiple ? copies_[i].kind : kept_[i].entry->kind);
  return receives_;
}

void KeptRequests::take_out() {
  for (std::size_t i = 0; i < count_; ++i) {
    if (kept_[i].entry == nullptr) continue;
    copies_[i] = *kept_[i].entry;
    if (!is_persistent(copies_[i].kind)) kept_[i].entry->kind = RequestKind::none;
  }
}

void KeptRequests::put_back() {
  for (std::size_t i = 0; process.multiple && ready_ && i < count_; ++i) {
    if (kept_[i].entry != nullptr && !is_persistent(copies_[i].kind)) kept_[i].entry->kind = copies_[i].kind;
  }
  if (memory_ != nullptr) recorder_.give_back();
}

bool KeptRequests::borrow(bool with_statuses) {
  const std::size_t copies = process.multiple ? count_ : 0;
  const std::size_t statuses = with_statuses ? count_ : 0;
  memory_ = recorder_.borrow(copies * sizeof(TrackedRequest) + count_ * sizeof(Kept) + count_ * sizeof(MPI_Request) +
                             statuses * sizeof(MPI_Status));
  if (memory_ == nullptr) return false;
  copies_ = static_cast<TrackedRequest*>(memory_);
  kept_ = reinterpret_cast<Kept*>(copies_ + copies);
  statuses_ = reinterpret_cast<MPI_Status*>(kept_ + count_);
  requests_ = reinterpret_cast<MPI_Request*>(statuses_ + statuses);
  return true;
}

}  // namespace pclscope
