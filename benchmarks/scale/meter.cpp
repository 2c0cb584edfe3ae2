#include "benchmarks/scale/meter.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace {

int owner_now = 0;
std::int64_t live[pclscope::benchmark::most_owners] = {};

}  // namespace

namespace pclscope::benchmark {

Owner::Owner(int owner) : before_(owner_now) { owner_now = owner; }
Owner::~Owner() { owner_now = before_; }
std::int64_t live_bytes(int owner) { return live[owner]; }

void MeteredLink::send(int node, std::vector<std::byte> bytes) {
  if (node != self()) cost.sent.add(bytes);
  if (keep_reports && nodes::kind_of(bytes) == nodes::FrameKind::report) {
    const Owner nobody(0);
    nodes::Report report;
    if (nodes::unpack(bytes, report) && report.closed_through_ns != INT64_MIN) reports.push_back(std::move(report));
  }
  link_.send(node, std::move(bytes));
}

bool MeteredLink::next(nodes::LinkEvent& event) {
  if (!link_.next(event)) return false;
  if (event.kind == nodes::LinkEvent::Kind::message && event.node != self()) cost.received.add(event.bytes);
  return true;
}

}  // namespace pclscope::benchmark

#ifndef PCLSCOPE_UNDER_SANITIZER

namespace {

struct Header {
  std::int64_t size;
  std::int64_t owner;
};
constexpr std::size_t least = alignof(std::max_align_t);
static_assert(sizeof(Header) <= least);

void* take(std::size_t size, std::size_t align) {
  align = align < least ? least : align;
  const std::size_t whole = (size + align + align - 1) / align * align;
  auto* base = static_cast<char*>(align == least ? std::malloc(whole) : std::aligned_alloc(align, whole));
  if (base == nullptr) throw std::bad_alloc();
  const Header header{static_cast<std::int64_t>(size), owner_now};
  std::memcpy(base + align - sizeof(Header), &header, sizeof header);
  live[owner_now] += header.size;
  return base + align;
}

void give_back(void* memory, std::size_t align) noexcept {
  if (memory == nullptr) return;
  align = align < least ? least : align;
  auto* at = static_cast<char*>(memory);
  Header header{};
  std::memcpy(&header, at - sizeof(Header), sizeof header);
  live[header.owner] -= header.size;
  std::free(at - align);
}

}  // namespace

void* operator new(std::size_t size) { return take(size, least); }
void* operator new(std::size_t size, std::align_val_t align) { return take(size, static_cast<std::size_t>(align)); }
void operator delete(void* memory) noexcept { give_back(memory, least); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory, least); }
void operator delete(void* memory, std::align_val_t align) noexcept {
  give_back(memory, static_cast<std::size_t>(align));
}
void operator delete(void* memory, std::size_t, std::align_val_t align) noexcept {
  give_back(memory, static_cast<std::size_t>(align));
}

#endif
