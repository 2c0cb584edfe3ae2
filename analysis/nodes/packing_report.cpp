// Reports. One template per type says its layout for writing and for reading. Numbers are varints, ids and times the
// difference from the last one of their list: lists in ascending order (as merge() leaves them) take least.
#include <string>

#include "analysis/density/packing.hpp"
#include "analysis/nodes/packing_bytes.hpp"
#include "analysis/nodes/packing_statuses.hpp"

namespace pclscope::nodes {

namespace {

using packing::pass_bools;
using packing::pass_statuses;
using packing::Reader;
using packing::Writer;

// One bit per field that is not the usual thing: what is zero, or as large as last time, takes no byte.
struct LastSize {
  std::uint64_t bytes = 0;  // per message, of the sums before
};

template <class Io, class S>
void pass_sums(Io& io, S& s, LastSize& last) {
  io.number(s.messages);
  const std::uint64_t usual = s.messages * last.bytes;
  std::uint8_t has = 0;
  if constexpr (Io::writing) {
    has = static_cast<std::uint8_t>((s.timed != s.messages) | (s.bytes != usual) << 1 | (s.delayed != 0) << 2 |
                                    (s.ratio != 0 || s.log_ratio != 0) << 3 | (s.transfer_ratio != 0) << 4 |
                                    (s.transfer_time_ns != 0) << 5 | (s.blocked != BlockedTime{}) << 6);
  } else {
    s.timed = s.messages;
    s.bytes = usual;
  }
  io.number(has);
  if (has & 1) io.number(s.timed);
  if (has & 2) io.number(s.bytes);
  if (has & 4) io.number(s.delayed);
  if (has & 8) {
    io.real8(s.ratio);
    io.real8(s.log_ratio);
  }
  if (has & 16) io.real8(s.transfer_ratio);
  if (has & 32) io.number(s.transfer_time_ns);
  if (has & 64) {
    io.number(s.blocked.late_sender);
    io.number(s.blocked.late_receiver);
    io.number(s.blocked.transfer_receiver);
    io.number(s.blocked.transfer_sender);
  }
  if (s.messages != 0) last.bytes = s.bytes / s.messages;
}

template <class Io, class W>
void pass_window(Io& io, W& w, std::int64_t& begin, LastSize& size) {
  io.step(w.begin_ns, begin);
  pass_sums(io, w.all, size);
  io.number(w.messages_left_out);
  std::int32_t region = 0;
  io.list(w.regions, 3, [&](auto& r) {
    io.step(r.region, region);
    pass_sums(io, r.sums, size);
  });
}

template <class Io, class T>
void pass_totals(Io& io, T& t) {
  for (const auto field : MessageTotals::fields) io.number(t.*field);
}

template <class Io, class P>
void pass_pairs(Io& io, P& pairs) {
  std::int32_t source = 0, destination = 0;
  LastSize size;
  io.list(pairs, 4, [&](auto& p) {
    io.step(p.source, source);
    io.step(p.destination, destination);
    pass_sums(io, p.sums, size);
  });
}

template <class Io, class P>
void pass_pair_times(Io& io, P& pairs) {
  std::int32_t source = 0, destination = 0;
  std::uint32_t bin = 0;
  io.list(pairs, 8, [&](auto& p) {
    io.step(p.source, source);
    io.step(p.destination, destination);
    pass_bools(io, p.inter_node);
    io.step(p.bin, bin);
    io.number(p.timed);
    io.number(p.time_ns);
    io.number(p.transfer_ns);
    io.number(p.log);
  });
}

template <class Io, class T>
void pass_times(Io& io, T& times) {
  std::uint32_t bin = 0, bucket = 0;
  io.list(times, 4, [&](auto& t) {
    pass_bools(io, t.inter_node, t.transfer);
    io.step(t.bin, bin);
    io.step(t.bucket, bucket);
    io.number(t.count);
  });
}

template <class Io, class S>
void pass_sites(Io& io, S& sites) {
  std::uint32_t send = 0, recv = 0;
  io.list(sites, 8, [&](auto& s) {
    io.step(s.send_site, send);
    io.step(s.recv_site, recv);
    io.number(s.messages);
    io.number(s.bytes);
    io.number(s.delayed);
    io.number(s.late_sender_ns);
    io.number(s.late_receiver_ns);
    io.number(s.transfer_ns);
  });
}

void put_density(Writer& out, const CallDensity& density) {
  const std::vector<std::uint8_t> bytes = density::pack(density);
  out.number(bytes.size());
  out.raw(bytes.data(), bytes.size());
}
void get_density(Reader& in, CallDensity& density) {
  std::vector<std::uint8_t> bytes(in.count(1));
  in.raw(bytes.data(), bytes.size());
  auto read = density::unpack(bytes);
  if (!read) return in.fail();
  density = std::move(*read);
}

// Ratios, then the messages.
void put_worst(Writer& out, const std::vector<RatedMessage>& worst) {
  std::vector<Message> messages;
  messages.reserve(worst.size());
  for (const RatedMessage& w : worst) messages.push_back(w.message);
  packing::put_messages(out, messages);
  for (const RatedMessage& w : worst) out.real(w.ratio);
}
void get_worst(Reader& in, std::vector<RatedMessage>& worst) {
  std::vector<Message> messages;
  packing::get_messages(in, messages);
  worst.assign(messages.size(), {});
  for (std::size_t i = 0; i < worst.size(); ++i) {
    worst[i].message = messages[i];
    in.real(worst[i].ratio);
  }
}

template <class Io, class R>
void pass_report(Io& io, R& r) {
  io.number(r.closed_through_ns);
  std::int64_t begin = r.closed_through_ns;
  LastSize size;
  io.list(r.windows, 5, [&](auto& w) { pass_window(io, w, begin, size); });
  pass_totals(io, r.totals);
  io.number(r.collectives_left_out);
  io.number(r.traffic_bytes);
  pass_pairs(io, r.pairs);
  pass_pair_times(io, r.pair_times);
  pass_times(io, r.times);
  pass_sites(io, r.sites);
  if constexpr (Io::writing) {
    put_density(io, r.density);
    put_worst(io, r.worst);
  } else {
    get_density(io, r.density);
    get_worst(io, r.worst);
  }
  io.number(r.newest_ns);
  RankPlace place;
  io.list(r.places, 2, [&](auto& p) {
    io.step(p.rank, place.rank);
    io.step(p.node, place.node);
  });
  io.list(r.names, 3, [&](auto& n) {
    io.number(n.node);
    io.text(n.name);
    io.text(n.mpi);
  });
  pass_statuses(io, r);
}

}  // namespace

std::vector<std::byte> pack(const Report& report) {
  Writer out(FrameKind::report,
             report.pairs.size() * 16 + report.pair_times.size() * 16 + report.times.size() * 5 + 1024);
  pass_report(out, report);
  return out.take();
}

bool unpack(std::span<const std::byte> frame, Report& report) {
  Reader in(frame, FrameKind::report);
  report = {};
  pass_report(in, report);
  return in.done();
}

}  // namespace pclscope::nodes
