#include "analysis/window/call_log.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace pclscope {

using record::Event;
using record::EventKind;

namespace {

constexpr std::uint16_t most_functions = 1024;                 // numbers beyond are not believed
constexpr std::int64_t latest_ns = 4'000'000'000'000'000'000;  // windows of later calls have no end of their own

constexpr std::size_t most_spares = 4, batch_calls = 4096;

enum class Use : std::uint8_t { none, call, gap };

// By kind. A gap: what comes behind it does not follow upon what came before.
constexpr auto uses = [] {
  std::array<Use, 64> all{};
  for (const EventKind kind :
       {EventKind::call, EventKind::send, EventKind::recv_post, EventKind::recv_done, EventKind::recv_cancelled,
        EventKind::recv_freed, EventKind::send_cancel_request, EventKind::send_cancelled, EventKind::send_not_cancelled,
        EventKind::collective, EventKind::comm_created, EventKind::comm_freed, EventKind::init, EventKind::finalize,
        EventKind::rma, EventKind::rma_sync, EventKind::file, EventKind::control, EventKind::send_done})
    all[static_cast<std::size_t>(kind)] = Use::call;
  all[static_cast<std::size_t>(EventKind::lost)] = Use::gap;
  return all;
}();

Use use_of(const Event& e) {
  const auto kind = static_cast<std::size_t>(e.kind);
  const Use use = kind < uses.size() ? uses[kind] : Use::none;
  // An `entered` receive has not returned: another event follows when it has.
  constexpr std::uint32_t no_call = record::flag::unrecorded | record::flag::entered;
  if (use == Use::call && ((e.flags & no_call) != 0 || e.end < e.begin)) return Use::none;
  return use;
}

// It spans from the call that posted it to another one that completed it: the first is meant.
bool spans_calls(const Event& e) {
  return (e.kind == EventKind::collective || e.kind == EventKind::comm_created) &&
         (e.flags & record::flag::nonblocking) != 0;
}

// Of a message that this call sent, received or asked for; and of roots and targets.
bool has_bytes(const Event& e) {
  switch (e.kind) {
    case EventKind::send:
    case EventKind::recv_done:
    case EventKind::collective:
    case EventKind::rma:
    case EventKind::file: return e.bytes != ~std::uint64_t{0};
    default: return false;
  }
}
std::int32_t peer_of(const Event& e) {
  switch (e.kind) {
    case EventKind::send:
    case EventKind::recv_post:
    case EventKind::recv_done:
    case EventKind::collective:
    case EventKind::rma:
    case EventKind::rma_sync:
    case EventKind::call: return e.peer >= 0 ? e.peer : MpiCall::nobody;
    default: return MpiCall::nobody;
  }
}

}  // namespace

CallLog::CallLog(std::int32_t ranks, std::int64_t window_ns, std::size_t most)
    : ranks_(std::max(ranks, 1)),
      window_ns_(std::max<std::int64_t>(window_ns, 1)),
      most_(most),
      threads_(static_cast<std::size_t>(ranks_)) {}

CallLog::Thread* CallLog::thread_of(std::int32_t rank, std::uint32_t thread) {
  if (rank < 0 || rank >= ranks_) return nullptr;
  auto& threads = threads_[static_cast<std::size_t>(rank)];
  thread = std::min(thread, most_threads);
  if (threads.size() <= thread) threads.resize(thread + 1);
  Thread& t = threads[thread];
  if (!std::exchange(t.known, true)) {
    t.slot = slots_++;
    t.call.rank = rank;
    t.call.thread = static_cast<std::uint16_t>(thread);
  }
  return &t;
}

void CallLog::add(const MpiCall& call) {
  if (const Thread* t = thread_of(call.rank, call.thread)) keep(call, t->slot);
}

void CallLog::add(std::int32_t rank, std::uint32_t thread, std::span<const Event> events) {
  Thread* const here = thread_of(rank, thread);
  if (here == nullptr) return;
  Thread& t = *here;
  if (shedding_) return count_only(t, events);
  for (const Event& e : events) {
    const Use use = use_of(e);
    if (use == Use::none) continue;
    if (use == Use::gap) {
      t.follows = false;
    } else if (spans_calls(e)) {
      keep(posted(t, e), t.slot);
    } else if (e.begin == t.begin && e.function == t.call.function) {
      // One call may leave several events with the same interval (Waitall, Sendrecv).
      if (t.open) merge(t, e);
    } else {
      close(t);
      add(t, e);
    }
  }
}

// As add(), without a time: no call of these is kept.
void CallLog::count_only(Thread& t, std::span<const Event> events) {
  close(t);
  t.follows = false;
  std::uint64_t calls = 0;
  for (const Event& e : events) {
    if (use_of(e) != Use::call) continue;
    if (spans_calls(e)) {
      ++calls;
      continue;
    }
    if (e.begin == t.begin && e.function == t.call.function) continue;
    t.begin = e.begin;
    t.call.function = e.function < most_functions ? e.function : std::uint16_t{0};
    t.covered = std::max(t.covered, e.end);
    ++calls;
  }
  shed_ += calls;
  left_out_ += calls;
}

MpiCall CallLog::posted(const Thread& t, const Event& e) const {
  MpiCall c;
  c.comm = e.comm;
  c.rank = t.call.rank;
  c.thread = t.call.thread;
  c.function = e.function < most_functions ? e.function : std::uint16_t{0};
  c.ending = CallEnding::unseen;
  c.peer = peer_of(e);
  c.begin = c.end = scale_.to_ns(e.begin);
  c.bytes = has_bytes(e) ? e.bytes : 0;
  c.site = e.site;
  return c;
}

void CallLog::add(Thread& t, const Event& e) {
  MpiCall& c = t.call;
  c.comm = e.comm;
  c.function = e.function < most_functions ? e.function : std::uint16_t{0};
  c.ending = e.kind == EventKind::finalize ? CallEnding::unseen : CallEnding::returned;
  c.peer = peer_of(e);
  c.begin = scale_.to_ns(std::min(std::max(e.begin, t.covered), e.end));
  c.outside = t.follows ? std::max<std::int64_t>(c.begin - c.end, 0) : -1;
  c.end = scale_.to_ns(e.end);
  c.bytes = has_bytes(e) ? e.bytes : 0;
  c.site = e.site;
  t.begin = e.begin;
  t.open = true;
  t.covered = std::max(t.covered, e.end);
  t.follows = true;
}

void CallLog::merge(Thread& t, const Event& e) {
  MpiCall& c = t.call;
  if (c.comm == 0) c.comm = e.comm;
  if (const std::int32_t peer = peer_of(e); peer >= 0 && peer != c.peer)
    c.peer = c.peer == MpiCall::nobody ? peer : MpiCall::several;
  if (has_bytes(e)) c.bytes += e.bytes;
  if (e.end <= t.covered) return;
  t.covered = e.end;
  c.end = scale_.to_ns(e.end);
}

void CallLog::close(Thread& t) {
  if (std::exchange(t.open, false)) keep(t.call, t.slot);
}

void CallLog::keep(const MpiCall& call, std::uint32_t slot) {
  if (shedding_) ++shed_;
  if (shedding_ || waiting_ >= most_) {
    ++left_out_;
    return;
  }
  Window& window = window_of(call.end);
  if (slot >= window.size()) window.resize(slots_);
  window[slot].append(call);
  ++waiting_;
}

CallLog::Window& CallLog::window_of(std::int64_t end_ns) {
  if (at_ != nullptr && end_ns >= at_begin_ns_ && end_ns - at_begin_ns_ < window_ns_) return *at_;
  const std::int64_t at = std::clamp(std::max(end_ns, taken_until_ns_), -latest_ns, latest_ns);
  const std::int64_t number = at >= 0 ? at / window_ns_ : -((-(at + 1)) / window_ns_) - 1;
  const auto [window, added] = windows_.try_emplace(number);
  if (added && !spare_.empty()) {
    window->second = std::move(spare_.back());
    spare_.pop_back();
  }
  at_ = &window->second;
  at_begin_ns_ = number * window_ns_;
  return *at_;
}

void CallLog::reuse(Window& window) {
  if (spare_.size() >= most_spares) return;
  for (PackedCalls& calls : window) {
    // Bursts are not paid for ever.
    if (calls.bytes() > std::max<std::size_t>(8 * calls.used(), 4096)) calls = {};
    calls.clear();
  }
  spare_.push_back(std::move(window));
}

std::uint64_t CallLog::take(std::int64_t end_ns) {
  for (auto& threads : threads_)
    for (Thread& t : threads)
      if (t.open && t.call.end < end_ns) close(t);
  for (Window& window : taken_) reuse(window);
  taken_.clear();
  taken_calls_ = 0;
  while (!windows_.empty()) {
    const auto oldest = windows_.begin();
    if (oldest->first * window_ns_ >= end_ns) break;
    const bool whole = oldest->first * window_ns_ + (window_ns_ - 1) < end_ns;
    take_window(oldest->second, whole ? INT64_MAX : end_ns);
    if (!whole) break;
    windows_.erase(oldest);
  }
  at_ = nullptr;
  taken_until_ns_ = std::max(taken_until_ns_, std::min(end_ns, latest_ns));
  waiting_ -= taken_calls_;
  return taken_calls_;
}

// Leaves what is later.
void CallLog::take_window(Window& window, std::int64_t end_ns) {
  if (end_ns == INT64_MAX) {
    for (const PackedCalls& calls : window) taken_calls_ += calls.count();
    taken_.push_back(std::move(window));
    return;
  }
  Window earlier(window.size()), later(window.size());
  for (std::size_t slot = 0; slot < window.size(); ++slot) {
    window[slot].each([&](const MpiCall& call) { (call.end < end_ns ? earlier : later)[slot].append(call); });
    taken_calls_ += earlier[slot].count();
  }
  window = std::move(later);
  taken_.push_back(std::move(earlier));
}

void CallLog::each_taken(const Sink& sink) {
  const auto before = [](const MpiCall& a, const MpiCall& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  };
  batch_.clear();
  for (const auto& threads : threads_)
    for (const Thread& t : threads) {
      if (!t.known) continue;
      of_thread_.clear();
      for (const Window& window : taken_)
        if (t.slot < window.size()) window[t.slot].each([&](const MpiCall& call) { of_thread_.push_back(call); });
      // They come in order, but for those that posted nonblocking collectives.
      if (!std::is_sorted(of_thread_.begin(), of_thread_.end(), before))
        std::stable_sort(of_thread_.begin(), of_thread_.end(), before);
      batch_.insert(batch_.end(), of_thread_.begin(), of_thread_.end());
      if (batch_.size() < batch_calls) continue;
      sink(batch_);
      batch_.clear();
    }
  if (!batch_.empty()) sink(batch_);
}

}  // namespace pclscope
