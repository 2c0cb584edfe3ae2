#include "analysis/match/message_waits.hpp"

#include <algorithm>

#include "analysis/values/site_key.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope {

using record::Event;
using record::EventKind;
using record::Function;

namespace {

constexpr std::uint32_t most_threads = 1024;

bool is_probe(std::uint16_t function) {
  const auto f = static_cast<Function>(function);
  return (f == Function::Probe) | (f == Function::Iprobe);
}

// `message`: Message or MessageWaits::Kept.
CollectiveCall waited(const auto& call, const auto& message, std::int32_t rank, CollectiveShape shape) {
  CollectiveCall c;
  c.comm = message.comm;
  c.rank = rank;
  c.function = call.function;
  c.shape = shape;
  c.begin = call.begin;
  c.end = call.end;
  c.bytes = message.bytes;
  c.site = call.site;
  return c;
}

}  // namespace

void MessageWaits::add(std::int32_t rank, std::uint32_t thread, std::span<const Event> events, TickScale scale) {
  std::vector<Probe>& threads = probes_[static_cast<std::size_t>(rank)];
  thread = std::min(thread, most_threads);
  if (threads.size() <= thread) threads.resize(thread + 1);
  Probe& probe = threads[thread];
  // Mostly there is nothing to do: found out without a branch per event.
  bool any = probe.open;
  for (const Event& e : events)
    any |= ((e.flags & record::flag::matched_probe) != 0) | ((e.kind == EventKind::call) & is_probe(e.function));
  if (!any) return;
  const auto call_of = [&](const Event& e) {
    return Call{scale.to_ns(e.begin), scale.to_ns(e.end), site_key(e), e.function};
  };
  const auto remember = [&](const Event& receive, const Call& call) {
    probe_calls_.put(key_of(rank, static_cast<std::uint64_t>(scale.to_ns(receive.begin))), call);
  };
  for (const Event& e : events) {
    if (e.kind == EventKind::call) {
      if (!is_probe(e.function)) continue;
      probe = {call_of(e), e.comm, e.peer, e.tag, true};
      probe.call.any_source = (e.flags & record::flag::first_come) != 0;
    } else if (e.kind == EventKind::recv_post && e.flags & record::flag::matched_probe) {
      remember(e, call_of(e));
    } else if (probe.open && (e.kind == EventKind::recv_done || e.kind == EventKind::recv_post)) {
      // Of a wildcard it takes what it finds: mostly what was probed. Else the times tell nothing.
      const bool same = e.comm == probe.comm && (e.peer == probe.peer || e.peer == record::any_source) &&
                        (e.tag == probe.tag || e.tag == record::any_tag);
      if (e.kind == EventKind::recv_done && e.flags & record::flag::posted) continue;
      if (same) remember(e, probe.call);
      probe.open = false;
    }
  }
  probed_ = probe_calls_.size();
}

void MessageWaits::completed(std::int32_t rank, const Event& e, TickScale scale, bool away) {
  const std::uint64_t number = record::number_of(e.ordinal);
  const Call call{scale.to_ns(e.begin), scale.to_ns(e.end), away ? e.site : site_key(e), e.function};
  if (const Kept* ring = rings_[static_cast<std::size_t>(rank)].get()) {
    const Kept& kept = ring[number & ring_mask_];
    if (kept.number == number && kept.ends.destination == e.peer) return waited_for_receive(call, kept);
  }
  completions_.put(key_of(rank, number), call);
}

void MessageWaits::keep(const Message& m, std::uint64_t number) {
  if (!completions_.empty())
    if (const auto call = completions_.take(key_of(m.source, number)))
      return waited_for_receive(*call, {number, m.comm, m.bytes, m.recv_post, ends_of(m)});
  std::unique_ptr<Kept[]>& ring = rings_[static_cast<std::size_t>(m.source)];
  if (!ring) ring = std::make_unique<Kept[]>(ring_mask_ + 1);
  Kept& kept = ring[number & ring_mask_];  // field by field: a copy of a whole one would wait for its parts
  kept.number = number;
  kept.comm = m.comm;
  kept.bytes = m.bytes;
  kept.recv_post = m.recv_post;
  kept.ends.source = m.source;
  kept.ends.destination = m.destination;
  kept.ends.send_site = m.send_site;
  kept.ends.recv_site = m.recv_site;
}

void MessageWaits::look_for_probe(const Message& m) {
  const auto call = probe_calls_.take(key_of(m.destination, static_cast<std::uint64_t>(m.recv_post)));
  if (!call) return;
  if (!(m.flags & message_flag::no_latency)) waited_for_send(*call, m);
  probed_ = probe_calls_.size();
}

void MessageWaits::waited_for_receive(const Call& call, const Kept& kept) {
  const Awaited& ends = kept.ends;
  if (kept.recv_post <= call.begin || kept.recv_post > call.end || ends.source == ends.destination) return;
  CollectiveCall c = waited(call, kept, ends.source, CollectiveShape::send);
  c.awaited = ends.destination;
  c.awaited_begin = kept.recv_post;
  sink_(c, ends);
}

void MessageWaits::waited_for_send(const Call& call, const Message& m) {
  if (m.send_begin <= call.begin || m.source == m.destination) return;
  CollectiveCall c = waited(call, m, m.destination, CollectiveShape::probe);
  c.awaited = m.source;
  c.awaited_begin = std::min(m.send_begin, call.end);
  c.ordinal = call.any_source;
  sink_(c, ends_of(m));
}

}  // namespace pclscope
