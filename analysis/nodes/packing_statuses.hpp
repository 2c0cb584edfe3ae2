// The part of a report that says how ranks and nodes are now: statuses, new call sites, deadlocks, conditions, markers,
// clocks. As in packing_report.cpp, one template per type says its layout for writing and for reading.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/nodes/packing_bytes.hpp"

namespace pclscope::nodes::packing {

// Up to eight bools in a byte.
template <class Io, class... Bools>
void pass_bools(Io& io, Bools&... bools) {
  std::uint8_t byte = 0;
  unsigned at = 0;
  if constexpr (Io::writing) ((byte = static_cast<std::uint8_t>(byte | bools << at++)), ...);
  io.number(byte);
  if constexpr (!Io::writing) {
    if (byte >> sizeof...(bools) != 0) io.fail();
    ((bools = byte >> at++ & 1), ...);
  }
}

template <class Io, class... Reals>
void pass_reals(Io& io, Reals&... reals) {
  (io.real(reals), ...);
}

template <class Io, class V>
void pass_ranks_list(Io& io, V& ranks) {
  std::int32_t last = 0;
  io.list(ranks, 1, [&](auto& r) { io.step(r, last); });
}

template <class Io, class W>
void pass_wait(Io& io, W& w, CommNumbers& comms) {
  pass_bools(io, w.blocked, w.all_taken_known);
  if (!w.blocked) return;
  io.number(w.node);
  io.number(w.since_ns);
  io.number(w.looked_ns);
  io.number(w.read_ns);
  const auto patterns = [&](auto& list) {
    io.list(list, 3, [&](auto& p) {
      io.number(p.peer);
      io.number(p.tag);
      comms.pass(io, p.comm);
    });
  };
  patterns(w.receives);
  patterns(w.sends);
  patterns(w.sending);
  patterns(w.takes);
  io.list(w.collectives, 3, [&](auto& c) {
    comms.pass(io, c.comm);
    io.number(c.number);
    pass_bools(io, c.every);
  });
  io.list(w.begun, 3, [&](auto& b) {
    comms.pass(io, b.comm);
    io.number(b.members);
    io.number(b.count);
  });
}

template <class Io, class R>
void pass_rank(Io& io, R& r, RankStatus& last, CommNumbers& comms) {
  io.step(r.rank, last.rank);
  pass_bools(io, r.finalized, r.waits_for_any);
  io.number(r.collectives);
  io.number(r.dropped_events);
  io.number(r.buffer.held_up_ns);
  io.number(r.buffer.events);
  io.number(r.mpi_ns);
  io.number(r.init_ns);
  io.number(r.before_init_ns);
  io.number(r.one_sided_ns);
  io.number(r.file_ns);
  io.step(r.begin_ns, last.begin_ns);
  io.step(r.end_ns, last.end_ns);
  io.number(r.threads);
  io.number(r.function);
  io.number(r.peer);
  io.number(r.tag);
  comms.pass(io, r.comm);
  io.step(r.site, last.site);
  io.number(r.inside_ns);
  pass_ranks_list(io, r.waits_for);
  io.number(r.cores.observed_ns);
  io.number(r.cores.running_ns);
  io.number(r.cores.off_core_ns);
  io.number(r.cores.off_computing_ns);
  io.number(r.cores.off_computing_least_ns);
  io.number(r.cores.off_computing_most_ns);
  io.real(r.cores.other_load);
  io.step(r.cores_until_ns, last.cores_until_ns);
  io.step(r.read_until_ns, last.read_until_ns);
  pass_wait(io, r.wait, comms);
}

// Shares of time: many are zero. A bit for each, then those that are not.
inline void put_shares(Writer& out, const std::vector<float>& shares) {
  const auto bits_of = [](float v) { return std::bit_cast<std::uint32_t>(std::isfinite(v) ? v : 0.0f); };
  out.varint(shares.size());
  for (std::size_t i = 0; i < shares.size(); i += 8) {
    unsigned has = 0;
    const std::size_t n = std::min<std::size_t>(8, shares.size() - i);
    for (std::size_t k = 0; k < n; ++k) has |= (bits_of(shares[i + k]) != 0 ? 1u : 0u) << k;
    out.fixed(has, 1);
    for (std::size_t k = 0; k < n; ++k) {
      if (has >> k & 1) out.fixed(bits_of(shares[i + k]), 4);
    }
  }
}
inline void get_shares(Reader& in, std::vector<float>& shares) {
  const std::uint64_t size = in.varint();
  shares.clear();
  if (size > in.left() * 8) return in.fail();
  shares.reserve(static_cast<std::size_t>(size));
  while (shares.size() < size && in.ok()) {
    const std::uint64_t has = in.fixed(1);
    const std::size_t n = std::min<std::size_t>(8, static_cast<std::size_t>(size) - shares.size());
    if (has >> n != 0) return in.fail();
    for (std::size_t k = 0; k < n; ++k) {
      shares.push_back(has >> k & 1 ? std::bit_cast<float>(static_cast<std::uint32_t>(in.fixed(4))) : 0.0f);
      if (!std::isfinite(shares.back())) return in.fail();
    }
  }
}

template <class Io, class F>
void pass_function(Io& io, F& f, FunctionStatus& last) {
  io.step(f.node, last.node);
  io.number(f.function);
  io.number(f.calls);
  io.real(f.inside_s);
  io.number(f.ranks_inside);
  io.step(f.last_window, last.last_window);
  if constexpr (Io::writing) {
    put_shares(io, f.history_share);
  } else {
    get_shares(io, f.history_share);
  }
}

template <class Io, class S>
void pass_site(Io& io, S& s, std::uint32_t& last_id, CallSite& last) {
  io.step(s.id, last_id);
  // Modules and files come again and again; short ones only, so that few bytes do not become many.
  const auto again = [&](auto& text, std::string& before) {
    std::uint8_t same = 0;
    if constexpr (Io::writing) same = text == before && text.size() <= 256;
    io.number(same);
    if constexpr (!Io::writing) {
      if (same > 1 || (same == 1 && before.size() > 256)) return io.fail();
      if (same == 1) text = before;
    }
    if (same == 0) io.text(text);
    before = text;
  };
  again(s.site.module, last.module);
  io.number(s.site.offset);
  io.text(s.site.function);
  again(s.site.file, last.file);
  io.number(s.site.line);
  io.number(s.site.mpi_function);
  io.number(s.site.caller);
  again(s.site.build_id, last.build_id);
}

template <class Io, class D>
void pass_deadlock(Io& io, D& d, CommNumbers& comms) {
  io.real(d.since_s);
  io.real(d.found_s);
  pass_bools(io, d.on_finished);
  std::int32_t rank = 0;
  io.list(d.members, 8, [&](auto& m) {
    io.step(m.rank, rank);
    io.number(m.function);
    io.number(m.called);
    io.number(m.site);
    comms.pass(io, m.comm);
    io.number(m.tag);
    pass_ranks_list(io, m.waits_for);
    pass_bools(io, m.waits_for_any);
    io.real(m.since_s);
  });
}

template <class Io, class C>
void pass_condition(Io& io, C& c) {
  io.number(c.node);
  if constexpr (Io::writing) {
    io.number(static_cast<std::uint8_t>(c.kind));
  } else {
    std::uint8_t kind = 0;
    io.number(kind);
    if (kind > static_cast<std::uint8_t>(ConditionKind::own_threads)) return io.fail();
    c.kind = static_cast<ConditionKind>(kind);
  }
  io.number(c.ranks_met);
  pass_ranks_list(io, c.ranks);
  io.number(c.core);
  io.number(c.cores);
  pass_bools(io, c.open);
  pass_reals(io, c.begin_s, c.end_s, c.active_s, c.cost_s, c.in_mpi_s, c.quota_cores, c.throttled_share, c.load,
             c.process_load);
  io.number(c.pid);
  io.text(c.process);
  io.number(c.key);
}

template <class Io, class T>
void pass_hardware_thread(Io& io, T& t, HardwareThread& last) {
  io.step(t.os, last.os);
  io.step(t.package, last.package);
  io.step(t.numa, last.numa);
  io.step(t.l3, last.l3);
  io.step(t.l2, last.l2);
  io.step(t.core, last.core);
}

template <class Io, class M>
void pass_marker(Io& io, M& m) {
  io.text(m.name);
  io.number(m.ranks);
  io.number(m.lowest_rank);
  io.number(m.highest_rank);
  io.number(m.inside);
  pass_reals(io, m.begin_s, m.end_s, m.time_s, m.mpi_s, m.most_s, m.most_useful_s);
  io.number(m.times);
  io.number(m.iterations);
  io.number(m.lowest_iteration);
  io.number(m.highest_iteration);
  io.number(m.cut);
  io.number(m.most_useful_rank);
  pass_bools(io, m.threads);
}

template <class Io, class C>
void pass_clock(Io& io, C& c, NodeClock& last) {
  io.step(c.node, last.node);
  io.step(c.at_ns, last.at_ns);
  io.real(c.offset_ns);
  io.real(c.drift);
  io.real(c.error_ns);
}

template <class Io, class C>
void pass_correction(Io& io, C& c, NodeCorrection& last) {
  io.step(c.node, last.node);
  io.step(c.at_ns, last.at_ns);
  io.real(c.correction_ns);
  io.real(c.error_ns);
}

template <class Io, class R>
void pass_statuses(Io& io, R& r) {
  CommNumbers comms;
  RankStatus rank;
  io.list(r.ranks, 19, [&](auto& s) { pass_rank(io, s, rank, comms); });
  FunctionStatus function;
  io.list(r.functions, 7, [&](auto& f) { pass_function(io, f, function); });
  std::uint32_t id = 0;
  io.list(r.site_times, 3, [&](auto& s) {
    io.step(s.site, id);
    io.number(s.calls);
    io.real(s.inside_s);
  });
  id = 0;
  CallSite site;
  io.list(r.new_sites, 9, [&](auto& s) { pass_site(io, s, id, site); });
  io.list(r.deadlocks, 2, [&](auto& d) {
    io.number(d.node);
    io.list(d.standing, 4, [&](auto& one) { pass_deadlock(io, one, comms); });
  });
  io.list(r.conditions, 2, [&](auto& n) {
    io.number(n.node);
    io.list(n.list, 17, [&](auto& one) { pass_condition(io, one); });
  });
  io.list(r.machines, 2, [&](auto& n) {
    io.number(n.node);
    HardwareThread thread;
    io.list(n.machine.threads, 6, [&](auto& t) { pass_hardware_thread(io, t, thread); });
  });
  std::int32_t bound = 0;
  io.list(r.bindings, 3, [&](auto& b) {
    io.step(b.rank, bound);
    io.number(b.changes);
    std::int32_t last = 0;
    io.list(b.ranges, 2, [&](auto& range) {
      io.step(range.first, last);
      io.step(range.last, last);
    });
  });
  io.list(r.markers, 2, [&](auto& n) {
    io.number(n.node);
    io.list(n.list, 17, [&](auto& one) { pass_marker(io, one); });
  });
  NodeClock clock;
  io.list(r.clocks, 5, [&](auto& c) { pass_clock(io, c, clock); });
  NodeCorrection correction;
  io.list(r.corrections, 4, [&](auto& c) { pass_correction(io, c, correction); });
  pass_ranks_list(io, r.dead_nodes);
}

}  // namespace pclscope::nodes::packing
