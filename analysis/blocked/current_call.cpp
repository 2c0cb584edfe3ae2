#include "analysis/blocked/current_call.hpp"

#include <algorithm>

#include "analysis/blocked/call_kind.hpp"

namespace pclscope::blocked {
namespace {

constexpr int attempts = 4;

// Elsewhere the number of awaited requests is that of an earlier call.
bool awaits(std::uint16_t function) {
  const CallKind kind = call_kind(function);
  return kind == CallKind::wait_all || kind == CallKind::wait_any || kind == CallKind::exchange ||
         kind == CallKind::start || kind == CallKind::lock;
}

}  // namespace

void read_current_call(const record::SegmentHeader& header, CurrentCall& call) {
  // Acquire keeps the loads in this order, which undoes the writer's: a call stores `since` first and its function
  // last, and what it awaits before both; the end of a call clears the function. So a function read after `since` is no
  // earlier call's, and `since`, read again last of all, tells of every later one.
  constexpr auto acquire = std::memory_order_acquire;
  for (int i = 0; i < attempts; ++i) {
    call.since = header.call_since.load(acquire);
    call.function = static_cast<std::uint16_t>(header.call_function.load(acquire));
    call.awaited_count = 0;
    call.awaited.clear();
    call.awaited_comm.clear();
    if (call.function == 0) return;
    call.site = header.call_site.load(acquire);
    call.comm = header.call_comm.load(acquire);
    call.peer = header.call_peer.load(acquire);
    call.tag = header.call_tag.load(acquire);
    if (awaits(call.function)) {
      call.awaited_count = header.call_awaited.load(acquire);
      const std::uint32_t count = std::min(call.awaited_count, record::awaited_limit);
      for (std::uint32_t k = 0; k < count; ++k) {
        call.awaited.push_back(header.awaited[k].load(acquire));
        call.awaited_comm.push_back(header.awaited_comm[k].load(acquire));
      }
    }
    const std::uint32_t function = header.call_function.load(acquire);
    if (function == call.function && header.call_since.load(acquire) == call.since) return;
  }
  call = {};
}

Posted posted_on(const record::SegmentHeader& header, std::uint64_t comm) {
  constexpr auto acquire = std::memory_order_acquire;
  const record::SegmentHeader::Posted& place = header.posted[record::posted_place(comm)];
  const std::uint64_t before = place.comm.load(acquire);
  const std::uint64_t count = place.count.load(acquire);
  if (place.comm.load(acquire) != before) return {};
  if (before == comm) return {true, count};
  return {before == 0 && count == 0, 0};
}

}  // namespace pclscope::blocked
