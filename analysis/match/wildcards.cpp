#include "analysis/match/wildcards.hpp"

#include <algorithm>

#include "interpose/record/event.hpp"

namespace pclscope {

namespace {
constexpr std::size_t idle_queues = 1024;  // empty queues kept per communicator before they are dropped
constexpr std::size_t idle_comms = 64;
}  // namespace

void Wildcards::Queue::compact(const Pool& pool) {
  std::size_t kept = 0;
  for (std::size_t i = head; i < items.size(); ++i)
    if (is_open(items[i], pool)) items[kept++] = items[i];
  items.resize(kept);
  head = 0;
}

std::uint32_t Wildcards::Queue::first_before(std::uint64_t ordinal, const Pool& pool) {
  if (open == 0) return no_index;
  while (head < items.size() && !is_open(items[head], pool)) ++head;
  if (head == items.size() || items[head].ordinal >= ordinal) return no_index;
  return items[head].entry;
}

Wildcards::Queue& Wildcards::OfComm::queue(std::int32_t source, std::int32_t tag) {
  if (source != record::any_source) return by_source[source];
  return tag == record::any_tag ? any : by_tag[tag];
}

Wildcards::OfComm* Wildcards::find(std::uint64_t comm) {
  for (OfComm& of : comms_)
    if (of.comm == comm) return &of;
  return nullptr;
}

void Wildcards::post(std::uint64_t comm, std::int32_t source, std::int32_t tag, std::uint64_t ordinal,
                     std::uint32_t entry) {
  OfComm* of = find(comm);
  if (!of) {
    if (comms_.size() >= idle_comms) std::erase_if(comms_, [](const OfComm& c) { return c.open == 0; });
    of = &comms_.emplace_back();
    of->comm = comm;
  }
  for (auto* map : {&of->by_source, &of->by_tag})
    if (map->size() >= idle_queues) std::erase_if(*map, [](const auto& q) { return q.second.open == 0; });
  Queue& queue = of->queue(source, tag);
  if (queue.open == 0) {
    queue.items.clear();
    queue.head = 0;
  }
  queue.items.push_back({ordinal, entry});
  ++queue.open;
  ++of->open;
  ++open_;
}

void Wildcards::resolved(std::uint64_t comm, std::int32_t source, std::int32_t tag, const Pool& pool) {
  OfComm* of = find(comm);
  if (!of) return;
  Queue& queue = of->queue(source, tag);
  --queue.open;
  --of->open;
  --open_;
  if (queue.items.size() > 64 && queue.items.size() > 4 * queue.open) queue.compact(pool);
}

std::uint32_t Wildcards::blocker(std::uint64_t comm, std::int32_t source, std::int32_t tag, std::uint64_t ordinal,
                                 const Pool& pool) {
  OfComm* of = find(comm);
  if (!of || of->open == 0) return no_index;
  std::uint32_t first = no_index;
  const auto consider = [&](Queue& queue) {
    const std::uint32_t entry = queue.first_before(ordinal, pool);
    if (entry == no_index) return;
    first = entry;
    ordinal = record::number_of(pool[entry].ordinal);
  };
  consider(of->any);
  if (auto it = of->by_source.find(source); it != of->by_source.end()) consider(it->second);
  if (auto it = of->by_tag.find(tag); it != of->by_tag.end()) consider(it->second);
  return first;
}

void Wildcards::clear() {
  comms_.clear();
  open_ = 0;
}

}  // namespace pclscope
