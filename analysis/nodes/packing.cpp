#include "analysis/nodes/packing.hpp"

#include "analysis/criteria/size_bins.hpp"
#include "analysis/nodes/packing_bytes.hpp"

namespace pclscope::nodes {

namespace {

using packing::Reader;
using packing::Writer;

template <class Io, class S>
void pass_sender(Io& io, S& s, SenderState& last) {
  io.step(s.rank, last.rank);
  std::uint8_t flags = 0;
  if constexpr (Io::writing) {
    flags = static_cast<std::uint8_t>(s.several | s.owes << 1 | s.lossy << 2 | s.finalized << 3);
  }
  io.number(flags);
  if constexpr (!Io::writing) {
    s.several = flags & 1, s.owes = flags & 2, s.lossy = flags & 4, s.finalized = flags & 8;
    if (flags > 15) io.fail();
  }
  io.number(s.next_send);
  std::uint64_t from = s.next_send;
  io.step(s.told_sends, from);
  io.step(s.latest_send_begin, last.latest_send_begin);
}

// Runs of at most 64 values that stay the same or go up one by one: one byte, and the first value's distance from the
// last of the run before. Short ones, so that a frame cannot claim more than 64 values with two bytes; placements by
// blocks of ranks and round robin both become runs.
constexpr std::size_t longest_run = 64;

std::int32_t up(std::int32_t v, std::size_t by) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(v) + static_cast<std::uint32_t>(by));
}

void put_runs(Writer& out, const std::vector<std::int32_t>& values) {
  out.varint(values.size());
  std::int32_t last = 0;
  for (std::size_t i = 0; i < values.size();) {
    const auto run = [&](std::size_t slope) {
      std::size_t n = 1;
      while (n < longest_run && i + n < values.size() && values[i + n] == up(values[i], n * slope)) ++n;
      return n;
    };
    const std::size_t flat = run(0), rising = run(1), n = std::max(flat, rising);
    out.fixed((n - 1) << 1 | (rising > flat), 1);
    out.step(values[i], last);
    last = values[i + n - 1];
    i += n;
  }
}

void get_runs(Reader& in, std::vector<std::int32_t>& values) {
  values.clear();
  const std::uint64_t size = in.varint();
  if (size > in.left() / 2 * longest_run) return in.fail();
  values.reserve(static_cast<std::size_t>(size));
  std::int32_t last = 0;
  while (in.ok() && values.size() < size) {
    const std::uint64_t head = in.fixed(1);
    const std::size_t n = (head >> 1) + 1;
    if (n > longest_run || n > size - values.size()) return in.fail();
    std::int32_t first = 0;
    in.step(first, last);
    for (std::size_t k = 0; k < n; ++k) values.push_back(up(first, k * (head & 1)));
    last = values.back();
  }
}

// Sizes are a bin of size_bins, almost always.
template <class Io, class C>
void pass_criterion(Io& io, C& c, std::uint32_t& last_bin) {
  std::uint32_t bin = 0;
  std::uint8_t head = 0;
  if constexpr (Io::writing) {
    bin = size_bins::bin_of(c.bytes_low);
    const bool exact = size_bins::low_of(bin) == c.bytes_low && size_bins::low_of(bin + 1) == c.bytes_high;
    head = static_cast<std::uint8_t>(c.inter_node | exact << 1);
  }
  io.number(head);
  if constexpr (!Io::writing) {
    c.inter_node = head & 1;
    if (head > 3) io.fail();
  }
  if (head & 2) {
    io.step(bin, last_bin);
    if constexpr (!Io::writing) {
      if (bin >= size_bins::count) return io.fail();
      c.bytes_low = size_bins::low_of(bin), c.bytes_high = size_bins::low_of(bin + 1);
    }
  } else {
    io.number(c.bytes_low);
    io.number(c.bytes_high);
  }
  io.number(c.count);
  io.real(c.median_s);
  io.real(c.transfer_median_s);
}

}  // namespace

std::optional<FrameKind> kind_of(std::span<const std::byte> frame) {
  if (frame.size() < 2 || frame[1] != std::byte{packing::version}) return std::nullopt;
  if (frame[0] > static_cast<std::byte>(FrameKind::calls)) return std::nullopt;
  return static_cast<FrameKind>(frame[0]);
}

std::vector<std::byte> pack(const SendRecords& sends) {
  Writer out(FrameKind::sends, sends.events.size() * 8);
  out.number(sends.clock_error_ns);
  packing::put_events(out, sends.events);
  SenderState last;
  out.list(sends.senders, 5, [&](const SenderState& s) { pass_sender(out, s, last); });
  return out.take();
}

bool unpack(std::span<const std::byte> frame, SendRecords& sends) {
  Reader in(frame, FrameKind::sends);
  in.number(sends.clock_error_ns);
  packing::get_events(in, sends.events);
  SenderState last;
  in.list(sends.senders, 5, [&](SenderState& s) { pass_sender(in, s, last); });
  return in.done();
}

std::vector<std::byte> pack(const RawMessages& raw) {
  Writer out(FrameKind::raw, raw.messages.size() * 14 + raw.collectives.size() * 8 + raw.calls.size() * 16);
  out.number(raw.node);
  out.number(raw.window_ns);
  packing::put_messages(out, raw.messages);
  packing::put_events(out, raw.collectives);
  packing::put_calls(out, raw.calls);
  out.number(raw.calls_left_out);
  out.number(raw.calls_shed);
  return out.take();
}

bool unpack(std::span<const std::byte> frame, RawMessages& raw) {
  Reader in(frame, FrameKind::raw);
  in.number(raw.node);
  in.number(raw.window_ns);
  packing::get_messages(in, raw.messages);
  packing::get_events(in, raw.collectives);
  packing::get_calls(in, raw.calls);
  in.number(raw.calls_left_out);
  in.number(raw.calls_shed);
  return in.done();
}

std::vector<std::byte> pack(const Orders& orders) {
  Writer out(FrameKind::orders, orders.criteria.size() * 24);
  out.number(orders.version);
  put_runs(out, orders.node_of_rank);
  put_runs(out, orders.region_of_rank);
  std::uint32_t bin = 0;
  out.list(orders.criteria, 5, [&](const Criterion& c) { pass_criterion(out, c, bin); });
  out.number(orders.raw_bytes_per_s);
  out.number(std::uint32_t{orders.calls});
  return out.take();
}

bool unpack(std::span<const std::byte> frame, Orders& orders) {
  Reader in(frame, FrameKind::orders);
  in.number(orders.version);
  get_runs(in, orders.node_of_rank);
  get_runs(in, orders.region_of_rank);
  std::uint32_t bin = 0;
  in.list(orders.criteria, 5, [&](Criterion& c) { pass_criterion(in, c, bin); });
  in.number(orders.raw_bytes_per_s);
  std::uint32_t calls = 0;
  in.number(calls);
  orders.calls = calls != 0;
  return in.done();
}

std::vector<std::byte> pack(const NewestOfNode& newest) {
  Writer out(FrameKind::calls, newest.calls.size() * 16);
  out.number(newest.node);
  out.number(newest.whole_from_ns);
  out.number(newest.left_out);
  packing::put_calls(out, newest.calls);
  return out.take();
}

bool unpack(std::span<const std::byte> frame, NewestOfNode& newest) {
  Reader in(frame, FrameKind::calls);
  in.number(newest.node);
  in.number(newest.whole_from_ns);
  in.number(newest.left_out);
  packing::get_calls(in, newest.calls);
  return in.done();
}

}  // namespace pclscope::nodes

namespace pclscope::nodes::packing {

void CommNumbers::put(Writer& out, std::uint64_t comm) {
  for (std::size_t back = 0; back < std::min(searched, known_.size()); ++back) {
    if (known_[known_.size() - 1 - back] == comm) return out.varint(back + 1);
  }
  out.varint(0);
  out.fixed(comm, 8);
  known_.push_back(comm);
}

std::uint64_t CommNumbers::get(Reader& in) {
  const std::uint64_t back = in.varint();
  if (back > known_.size()) return in.fail(), 0;
  if (back != 0) return known_[known_.size() - back];
  known_.push_back(in.fixed(8));
  return in.ok() ? known_.back() : 0;
}

}  // namespace pclscope::nodes::packing
