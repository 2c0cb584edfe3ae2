// Values of any kind for the packing tests, and whether two are the same to the last bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "analysis/nodes/packing.hpp"

namespace pclscope::nodes {

namespace test {

using Random = std::mt19937_64;

// Small and large, zero and the extremes.
template <class T = std::uint64_t>
T any(Random& random) {
  if constexpr (std::is_same_v<T, bool>) {
    return random() % 2 != 0;
  } else if constexpr (std::is_floating_point_v<T>) {
    const std::uint64_t choice = random() % 8;
    if (choice == 0) return 0;
    if (choice == 1) return std::numeric_limits<T>::max();
    if (choice == 2) return std::numeric_limits<T>::denorm_min();
    if (choice == 3) return static_cast<T>(static_cast<std::int64_t>(random() % 2000) - 1000);
    return std::ldexp(static_cast<T>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 80) - 90);
  } else {
    const std::uint64_t choice = random() % 16;
    if (choice == 0) return std::numeric_limits<T>::max();
    if (choice == 1) return std::numeric_limits<T>::min();
    const auto v = static_cast<T>(random() >> random() % 64);
    return random() % 4 == 0 ? static_cast<T>(~static_cast<std::uint64_t>(v)) : v;
  }
}
template <class... T>
void fill(Random& random, T&... fields) {
  ((fields = any<T>(random)), ...);
}
template <class T, class Make>
void fill_list(Random& random, std::vector<T>& list, std::size_t most, const Make& make) {
  list.resize(random() % (most + 1));
  for (T& v : list) v = make();
}
inline std::string any_text(Random& random) {
  std::string text(random() % 3 == 0 ? random() % 400 : random() % 8, 'x');
  for (char& c : text) c = static_cast<char>(random());
  return random() % 3 == 0 ? "/usr/lib/libsolver.so" : text;
}

// Either something quite different or the one before with a few fields changed, of a few ranks.
inline RankEvent any_event(Random& random, const RankEvent& before) {
  RankEvent h = before;
  record::Event& e = h.event;
  h.rank = random() % 4 ? static_cast<std::int32_t>(random() % 6) : any<std::int32_t>(random);
  if (random() % 3 == 0) {
    std::uint16_t kind;
    fill(random, h.thread, e.begin, e.end, e.site, e.comm, e.bytes, e.ordinal, e.peer, e.tag, kind, e.function,
         e.flags);
    e.kind = static_cast<record::EventKind>(random() % 3 ? random() % 23 : kind);
    return h;
  }
  e.begin += random() % 5000;
  e.end = e.begin + random() % 5000;
  e.ordinal += random() % 3;
  if (random() % 4 == 0) e.peer = static_cast<std::int32_t>(random() % 200);
  if (random() % 8 == 0) e.kind = record::EventKind::unrecorded_sends;
  if (random() % 8 == 0) e.kind = record::EventKind::send;
  if (random() % 8 == 0) e.ordinal = record::make_ordinal(random() % 1000, random() % 5);
  return h;
}
inline std::vector<RankEvent> any_events(Random& random, std::size_t most) {
  std::vector<RankEvent> list;
  RankEvent last{};
  fill_list(random, list, most, [&] { return last = any_event(random, last); });
  return list;
}

inline Message any_message(Random& random, const Message& before) {
  Message m = before;
  if (random() % 3 == 0) {
    fill(random, m.comm, m.source, m.destination, m.tag, m.flags, m.bytes, m.send_begin, m.send_end, m.recv_post,
         m.recv_wait, m.recv_end, m.send_site, m.recv_site, m.clock_error_ns);
    return m;
  }
  if (random() % 2) m.destination = static_cast<std::int32_t>(random() % 5);
  if (random() % 2) m.source = static_cast<std::int32_t>(random() % 150);
  const auto later = [&](std::int64_t t, std::uint64_t most) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(t) + random() % most);
  };
  m.send_begin = later(m.send_begin, 3000);
  if (random() % 2) m.recv_end = later(m.send_begin, 100'000);
  if (random() % 2) m.recv_wait = m.recv_post = m.send_begin;
  m.flags ^= random() % 2 ? message_flag::delayed : 0;
  return m;
}
inline std::vector<Message> any_messages(Random& random, std::size_t most) {
  std::vector<Message> list;
  Message last;
  last.destination = 2;
  fill_list(random, list, most, [&] { return last = any_message(random, last); });
  return list;
}

inline LatencySums any_sums(Random& random) {
  LatencySums s;
  fill(random, s.messages, s.timed, s.bytes, s.delayed, s.ratio, s.transfer_ratio, s.transfer_time_ns);
  if (random() % 2)
    fill(random, s.blocked.late_sender, s.blocked.late_receiver, s.blocked.transfer_receiver,
         s.blocked.transfer_sender);
  if (random() % 2) s.timed = s.messages;
  return s;
}
inline Deadlock any_deadlock(Random& random) {
  Deadlock d;
  fill(random, d.since_s, d.found_s, d.on_finished);
  fill_list(random, d.members, 4, [&] {
    DeadlockMember m;
    fill(random, m.rank, m.function, m.site, m.comm, m.tag, m.waits_for_any, m.since_s, m.called);
    fill_list(random, m.waits_for, 4, [&] { return any<std::int32_t>(random); });
    return m;
  });
  return d;
}
inline CallSite any_site(Random& random) {
  CallSite s;
  fill(random, s.offset, s.line, s.mpi_function, s.caller);
  s.module = any_text(random), s.function = any_text(random), s.file = any_text(random), s.build_id = any_text(random);
  return s;
}

inline Orders any_orders(Random& random, std::size_t most) {
  Orders o;
  fill(random, o.version, o.raw_bytes_per_s, o.calls);
  std::int32_t v = 0;
  const auto place = [&] {
    return v = random() % 3   ? static_cast<std::int32_t>(static_cast<std::uint32_t>(v) + 1)
               : random() % 3 ? v
                              : any<std::int32_t>(random);
  };
  fill_list(random, o.node_of_rank, most, place);
  fill_list(random, o.region_of_rank, most, [&] { return static_cast<std::int32_t>(random() % 3) - 1; });
  fill_list(random, o.criteria, most, [&] {
    Criterion c;
    fill(random, c.inter_node, c.bytes_low, c.bytes_high, c.count, c.median_s, c.transfer_median_s);
    if (random() % 2) c.bytes_low = random() % 256 * 50, c.bytes_high = c.bytes_low + 50;
    return c;
  });
  return o;
}

}  // namespace test

// Found by their arguments' namespace.
inline bool same(const RankEvent& a, const RankEvent& b) {
  return a.rank == b.rank && a.thread == b.thread && std::memcmp(&a.event, &b.event, sizeof a.event) == 0;
}
inline auto fields(const LatencySums& s) {
  return std::tie(s.messages, s.timed, s.bytes, s.delayed, s.ratio, s.transfer_ratio, s.transfer_time_ns,
                  s.blocked.late_sender, s.blocked.late_receiver, s.blocked.transfer_receiver,
                  s.blocked.transfer_sender);
}
inline bool same(const LatencySums& a, const LatencySums& b) { return fields(a) == fields(b); }
inline bool same(const RegionSums& a, const RegionSums& b) { return a.region == b.region && same(a.sums, b.sums); }
inline bool same(const PairSums& a, const PairSums& b) {
  return a.source == b.source && a.destination == b.destination && same(a.sums, b.sums);
}
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const T& x, const T& y) { return same(x, y); });
}
inline bool same(const WindowPart& a, const WindowPart& b) {
  return a.begin_ns == b.begin_ns && a.messages_left_out == b.messages_left_out && same(a.all, b.all) &&
         same(a.regions, b.regions);
}
template <class T, class Fields>
bool same_fields(const T& a, const T& b, const Fields& of) {
  return of(a) == of(b);
}
inline bool same(const TimeCount& a, const TimeCount& b) {
  return same_fields(a, b, [](const auto& t) { return std::tie(t.inter_node, t.transfer, t.bin, t.bucket, t.count); });
}
inline bool same(const SitePairSums& a, const SitePairSums& b) {
  return same_fields(a, b, [](const auto& s) {
    return std::tie(s.send_site, s.recv_site, s.messages, s.bytes, s.delayed, s.late_sender_ns, s.late_receiver_ns,
                    s.transfer_ns);
  });
}
inline bool same(const RatedMessage& a, const RatedMessage& b) { return a.ratio == b.ratio && a.message == b.message; }
inline bool same(const RankPlace& a, const RankPlace& b) { return a.rank == b.rank && a.node == b.node; }
inline bool same(const NodeName& a, const NodeName& b) {
  return a.node == b.node && a.name == b.name && a.mpi == b.mpi;
}
inline bool same(const RankStatus& a, const RankStatus& b) {
  return same_fields(a, b, [](const auto& r) {
    return std::tie(r.rank, r.collectives, r.dropped_events, r.buffer, r.mpi_ns, r.one_sided_ns, r.file_ns, r.begin_ns,
                    r.end_ns, r.threads, r.finalized, r.function, r.peer, r.tag, r.comm, r.site, r.inside_ns,
                    r.waits_for, r.waits_for_any, r.cores, r.cores_until_ns, r.read_until_ns, r.wait);
  });
}
inline bool same(const FunctionStatus& a, const FunctionStatus& b) {
  return same_fields(a, b, [](const auto& f) {
    return std::tie(f.node, f.function, f.calls, f.inside_s, f.ranks_inside, f.history_share, f.last_window);
  });
}
inline bool same(const NodeSite& a, const NodeSite& b) { return a.id == b.id && a.site == b.site; }
inline bool same(const NodeDeadlock& a, const NodeDeadlock& b) { return a.node == b.node && a.standing == b.standing; }
inline bool same(const NodeMarkers& a, const NodeMarkers& b) { return a.node == b.node && a.list == b.list; }
inline bool same(const NodeMachine& a, const NodeMachine& b) { return a.node == b.node && a.machine == b.machine; }
inline bool same(const NodeConditions& a, const NodeConditions& b) { return a.node == b.node && a.list == b.list; }
inline bool same(const NodeClock& a, const NodeClock& b) {
  return same_fields(a, b, [](const auto& c) { return std::tie(c.node, c.at_ns, c.offset_ns, c.drift, c.error_ns); });
}
inline bool same(const NodeCorrection& a, const NodeCorrection& b) {
  return same_fields(a, b, [](const auto& c) { return std::tie(c.node, c.at_ns, c.correction_ns, c.error_ns); });
}
inline bool same(const Report& a, const Report& b) {
  return a.closed_through_ns == b.closed_through_ns && same(a.windows, b.windows) && a.totals == b.totals &&
         a.collectives_left_out == b.collectives_left_out && a.traffic_bytes == b.traffic_bytes &&
         same(a.pairs, b.pairs) && same(a.times, b.times) && same(a.sites, b.sites) && a.density == b.density &&
         same(a.worst, b.worst) && a.newest_ns == b.newest_ns && same(a.places, b.places) && same(a.names, b.names) &&
         same(a.ranks, b.ranks) && same(a.functions, b.functions) && a.site_times == b.site_times &&
         same(a.new_sites, b.new_sites) && same(a.deadlocks, b.deadlocks) && same(a.conditions, b.conditions) &&
         same(a.machines, b.machines) && a.bindings == b.bindings && same(a.markers, b.markers) &&
         same(a.clocks, b.clocks) && same(a.corrections, b.corrections) && a.dead_nodes == b.dead_nodes;
}

namespace test {

inline CallDensity any_density(Random& random, std::size_t most) {
  CallDensity d;
  const auto below = [&](unsigned limit) { return static_cast<std::uint32_t>(random() % limit); };
  for (std::size_t i = random() % (most + 1); i > 0; --i)
    d.inside.push_back({static_cast<std::int32_t>(below(3)) - 1, static_cast<std::uint16_t>(below(4)), below(50),
                        1 + any<std::uint64_t>(random) / 1000});
  for (std::size_t i = random() % (most + 1); i > 0; --i)
    d.calls.push_back({static_cast<std::uint16_t>(below(4)), below(50), static_cast<std::uint16_t>(below(376)),
                       1 + any<std::uint64_t>(random) / 1000, below(9)});
  const auto tidy = [](auto& list) {
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.place() < b.place(); });
    list.erase(
        std::unique(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.place() == b.place(); }),
        list.end());
  };
  tidy(d.inside);
  tidy(d.calls);
  if (d.empty()) return d;
  d.inside_shift = d.calls_shift = static_cast<std::uint8_t>(20 + below(3));
  return d;
}

// All lists short, but together any of them.
inline Report any_report(Random& random, std::size_t most) {
  Report r;
  MessageTotals& t = r.totals;
  const auto rank = [&] { return any<std::int32_t>(random); };
  fill(random, r.closed_through_ns, r.collectives_left_out, r.traffic_bytes, r.newest_ns, t.matched, t.unmatched_sends,
       t.unmatched_receives, t.ambiguous, t.dropped_events, t.bytes, t.delayed, t.clock_violations, t.foreign, t.events,
       t.half_recorded, t.clock_unclear);
  fill_list(random, r.windows, most, [&] {
    WindowPart w{any<std::int64_t>(random), any_sums(random), {}, any(random)};
    fill_list(random, w.regions, 4, [&] { return RegionSums{rank(), any_sums(random)}; });
    return w;
  });
  fill_list(random, r.pairs, most, [&] { return PairSums{rank(), rank(), any_sums(random)}; });
  fill_list(random, r.times, most, [&] {
    TimeCount c;
    fill(random, c.inter_node, c.transfer, c.bin, c.bucket, c.count);
    return c;
  });
  fill_list(random, r.sites, most, [&] {
    SitePairSums s;
    fill(random, s.send_site, s.recv_site, s.messages, s.bytes, s.delayed, s.late_sender_ns, s.late_receiver_ns,
         s.transfer_ns);
    return s;
  });
  r.density = any_density(random, most);
  for (const Message& m : any_messages(random, most)) r.worst.push_back({any<double>(random), m});
  fill_list(random, r.places, most, [&] { return RankPlace{rank(), rank()}; });
  fill_list(random, r.names, most, [&] { return NodeName{rank(), any_text(random), any_text(random)}; });
  fill_list(random, r.ranks, most, [&] {
    RankStatus s;
    fill(random, s.rank, s.collectives, s.dropped_events, s.buffer.held_up_ns, s.buffer.events, s.mpi_ns, s.init_ns,
         s.before_init_ns, s.one_sided_ns, s.file_ns, s.threads, s.finalized, s.function, s.peer, s.tag, s.comm, s.site,
         s.inside_ns, s.waits_for_any, s.read_until_ns, s.cores.observed_ns, s.cores.running_ns, s.cores.off_core_ns,
         s.cores.off_computing_ns, s.cores.off_computing_least_ns, s.cores.off_computing_most_ns, s.cores.other_load,
         s.cores_until_ns, s.begin_ns, s.end_ns);
    fill_list(random, s.waits_for, 3, rank);
    s.wait.blocked = random() % 2 == 0;
    if (s.wait.blocked) {
      RankWait& w = s.wait;
      fill(random, w.all_taken_known, w.node, w.since_ns, w.looked_ns, w.read_ns);
      for (auto* list : {&w.receives, &w.sends, &w.sending, &w.takes})
        fill_list(random, *list, 3, [&] { return MessagePattern{rank(), rank(), any<std::uint64_t>(random)}; });
      fill_list(random, w.collectives, 3, [&] {
        return CollectiveNeed{any<std::uint64_t>(random), any<std::uint64_t>(random), random() % 2 == 0};
      });
      fill_list(random, w.begun, 3, [&] {
        return CollectivesBegun{any<std::uint64_t>(random), any<std::uint64_t>(random), any<std::uint64_t>(random)};
      });
    }
    return s;
  });
  fill_list(random, r.functions, most, [&] {
    FunctionStatus f;
    fill(random, f.node, f.function, f.calls, f.inside_s, f.ranks_inside, f.last_window);
    fill_list(random, f.history_share, 20, [&] { return any<float>(random); });
    return f;
  });
  fill_list(random, r.site_times, most, [&] {
    return SiteStatus{any<std::uint32_t>(random), any<std::uint64_t>(random), static_cast<double>(random() % 1000)};
  });
  fill_list(random, r.new_sites, most, [&] { return NodeSite{any<std::uint32_t>(random), any_site(random)}; });
  fill_list(random, r.deadlocks, most, [&] {
    NodeDeadlock d{rank(), {}};
    fill_list(random, d.standing, 3, [&] { return any_deadlock(random); });
    return d;
  });
  fill_list(random, r.conditions, most, [&] {
    NodeConditions n{rank(), {}};
    fill_list(random, n.list, 3, [&] {
      Condition c;
      c.kind = static_cast<ConditionKind>(random() % 4);
      fill(random, c.node, c.ranks_met, c.core, c.cores, c.begin_s, c.end_s, c.open, c.active_s, c.cost_s, c.in_mpi_s,
           c.quota_cores, c.throttled_share, c.load, c.process_load, c.pid, c.key);
      fill_list(random, c.ranks, 4, rank);
      c.process = any_text(random);
      return c;
    });
    return n;
  });
  fill_list(random, r.machines, most, [&] {
    NodeMachine n{rank(), {}};
    fill_list(random, n.machine.threads, 9, [&] {
      HardwareThread t;
      fill(random, t.os, t.package, t.numa, t.l3, t.l2, t.core);
      return t;
    });
    return n;
  });
  fill_list(random, r.bindings, most, [&] {
    RankBinding b;
    fill(random, b.rank, b.changes);
    fill_list(random, b.ranges, 4, [&] { return ThreadRange{rank(), rank()}; });
    return b;
  });
  fill_list(random, r.markers, most, [&] {
    NodeMarkers n{rank(), {}};
    fill_list(random, n.list, 3, [&] {
      Marker m;
      fill(random, m.ranks, m.lowest_rank, m.highest_rank, m.inside, m.begin_s, m.end_s, m.times, m.iterations,
           m.lowest_iteration, m.highest_iteration, m.cut, m.time_s, m.mpi_s, m.most_s, m.most_useful_s,
           m.most_useful_rank, m.threads);
      m.name = any_text(random);
      return m;
    });
    return n;
  });
  fill_list(random, r.clocks, most, [&] {
    NodeClock c;
    fill(random, c.node, c.at_ns, c.offset_ns, c.drift, c.error_ns);
    return c;
  });
  fill_list(random, r.corrections, most, [&] {
    NodeCorrection c;
    fill(random, c.node, c.at_ns, c.correction_ns, c.error_ns);
    return c;
  });
  fill_list(random, r.dead_nodes, most, rank);
  return r;
}

inline SendRecords any_send_records(Random& random, std::size_t most) {
  SendRecords h{any<std::uint32_t>(random), any_events(random, most), {}};
  fill_list(random, h.senders, most / 4, [&] {
    SenderState s;
    fill(random, s.rank, s.next_send, s.told_sends, s.latest_send_begin, s.several, s.owes, s.lossy, s.finalized);
    return s;
  });
  return h;
}
inline std::vector<MpiCall> any_calls(Random& random, std::size_t most) {
  std::vector<MpiCall> calls;
  for (std::size_t i = static_cast<std::size_t>(random() % (most + 1)); i > 0; --i) {
    MpiCall& c = calls.emplace_back();
    c.comm = any<std::uint64_t>(random);
    c.rank = any<std::int32_t>(random);
    c.thread = any<std::uint16_t>(random);
    c.function = any<std::uint16_t>(random);
    c.ending = random() % 2 ? CallEnding::unseen : CallEnding::returned;
    c.peer = any<std::int32_t>(random);
    c.begin = any<std::int64_t>(random);
    c.end = any<std::int64_t>(random);
    c.outside = any<std::int64_t>(random);
    c.bytes = any<std::uint64_t>(random);
    c.site = any<std::uint64_t>(random);
  }
  return calls;
}
inline NewestOfNode any_newest(Random& random, std::size_t most) {
  return {any<std::int32_t>(random), any<std::int64_t>(random), any<std::uint64_t>(random), any_calls(random, most)};
}
inline RawMessages any_raw(Random& random, std::size_t most) {
  return {any<std::int32_t>(random), any<std::int64_t>(random),  any_messages(random, most), any_events(random, most),
          any_calls(random, most),   any<std::uint64_t>(random), any<std::uint64_t>(random)};
}

}  // namespace test

}  // namespace pclscope::nodes
