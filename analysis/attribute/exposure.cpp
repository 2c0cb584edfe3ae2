#include "analysis/attribute/exposure.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "analysis/delay/calls_of_ranks.hpp"
#include "interpose/record/event.hpp"

namespace pclscope::attribute {
namespace {

// A blocking send of a message that MPI does not merely copy.
bool holds_sender(const Message& m) {
  namespace flag = record::flag;
  if (m.flags & (flag::nonblocking | flag::persistent | flag::partitioned | flag::buffered)) return false;
  return (m.flags & flag::synchronous) || m.bytes >= CallsOfRanks::eager_bytes;
}

}  // namespace

std::uint32_t Exposure::octave_of(std::uint64_t bytes) { return static_cast<std::uint32_t>(std::bit_width(bytes)); }

void Exposure::expose(Slices& slices, std::int64_t begin_ns, std::int64_t end_ns, const Call& where) {
  const double seconds = static_cast<double>(end_ns - begin_ns) * 1e-9;
  slices.spread(begin_ns, end_ns, [&](Slice& s, double share) {
    (where.from >= 0 ? s.cell(where.from, where.to, where.octave).exposed_s : s.intra_exposed_s) += share * seconds;
  });
}

void Exposure::close(Call& call, Slices& slices) {
  call.open = false;
  const std::int64_t from = std::max(call.wait_ns, call.ready_ns);
  if (call.end_ns > from) {
    expose(slices, from, call.end_ns, call);
    const double seconds = static_cast<double>(call.end_ns - from) * 1e-9;
    slices.spread(from, call.end_ns, [&](Slice& s, double share) {
      if (RankShare* row = Slices::row(s, call.source)) row->moved_s += share * seconds;
    });
  }
  look_for_stuck(call, slices);
  sample(call, slices);
}

// Even the last of its messages was long under way; nobody knows which of them were, too.
void Exposure::look_for_stuck(Call& call, Slices& slices) {
  std::int64_t ready = call.last_ready_ns;
  if (call.before_end_ns == call.end_ns) ready = std::max(ready, call.before_ready_ns);
  const std::int64_t waited = call.end_ns - std::max(ready, call.wait_ns);
  if (call.end_ns - ready >= long_ns && waited >= long_ns / 2 && waited >= call.end_ns - ready - waited) {
    if (call.long_ones.empty()) return;
    add_stuck(call, slices);
    call.stuck_end_ns = call.end_ns;
  } else if (call.stuck_end_ns == call.end_ns) {  // it waited for this message, not for those that were seen before
    slices.spread(call.end_ns - 1, call.end_ns, [&](Slice& s, double) {
      std::erase_if(s.stuck, [&](const StuckCall& c) { return c.rank == call.rank && c.end_ns == call.end_ns; });
    });
  }
}

void Exposure::add_stuck(const Call& call, Slices& slices) {
  StuckCall stuck{call.rank, call.last_ready_ns, call.end_ns, {}};
  for (const Line& line : call.long_ones) stuck.nodes.insert(stuck.nodes.end(), {line.from, line.to});
  std::sort(stuck.nodes.begin(), stuck.nodes.end());
  stuck.nodes.erase(std::unique(stuck.nodes.begin(), stuck.nodes.end()), stuck.nodes.end());
  slices.spread(call.end_ns - 1, call.end_ns, [&](Slice& s, double) {
    for (const Line& line : call.long_ones) {
      TransferCell& cell = s.cell(line.from, line.to, line.octave);
      if (line.transfer_ns <= cell.longest_ns) continue;
      cell.longest_ns = line.transfer_ns;
      cell.longest_end_ns = call.end_ns;
    }
    if (s.stuck.size() < StuckCall::most) s.stuck.push_back(stuck);
  });
}

void Exposure::sample(const Call& call, Slices& slices) {
  const std::int64_t transfer = call.end_ns - call.last_ready_ns;
  // The receiver was there at least half of the time: the end is when the message came.
  if (transfer <= 0 || call.end_ns - std::max(call.last_ready_ns, call.wait_ns) < transfer / 2) return;
  Usual& usual = usual_[call.last_inter][call.last_octave];
  if (!call.last_inter) return usual.add_if(true, static_cast<double>(transfer));
  const double log_ns = std::log(static_cast<double>(transfer));
  usual.add_log(log_ns);
  slices.spread(call.end_ns - 1, call.end_ns, [&](Slice& s, double) {
    TransferCell& cell = s.cell(call.last_from, call.last_to, call.last_octave);
    ++cell.samples;
    cell.log_sum += log_ns;
  });
}

void Exposure::flush(Slices& slices) {
  for (const std::int32_t rank : open_) {
    Call& call = calls_[static_cast<std::size_t>(rank)];
    if (call.open) close(call, slices);
    call.listed = false;
  }
  open_.clear();
}

void Exposure::add(const Message& m, std::span<const std::int32_t> node_of_rank, Slices& slices) {
  if (m.flags & message_flag::no_latency || m.source == m.destination) return;
  const auto to_rank = static_cast<std::size_t>(m.destination);
  const std::int64_t sent = CallsOfRanks::cut(m.send_begin), end = CallsOfRanks::cut(m.recv_end),
                     wait = CallsOfRanks::cut(m.recv_wait);
  const std::int64_t ready = std::max(sent, CallsOfRanks::cut(m.recv_post));
  const bool inter = (m.flags & message_flag::inter_node) != 0;
  const std::uint32_t octave = octave_of(m.bytes);
  Call& call = calls_[to_rank];
  if (call.open && (call.wait_ns != wait || call.end_ns != end)) close(call, slices);
  if (!call.open) {
    if (!call.listed) open_.push_back(m.destination);
    call.reopen(m.destination, wait, end, ready);
  }
  call.ready_ns = std::max(call.ready_ns, ready);
  if (call.source < 0 || m.bytes > call.bytes) {
    call.source = m.source;
    call.bytes = m.bytes;
  }
  if (ready >= call.last_ready_ns) {
    call.last_ready_ns = ready;
    call.last_inter = inter;
    call.last_octave = octave;
    call.last_from = inter ? node_of_rank[static_cast<std::size_t>(m.source)] : -1;
    call.last_to = inter ? node_of_rank[to_rank] : -1;
  }
  const std::int64_t transfer = end - ready;
  if (transfer <= 0 || !inter) return;
  const Usual& usual = usual_[inter][octave];
  const double log_ns = std::log(static_cast<double>(transfer));
  if (transfer >= long_ns)
    call.long_ones.push_back(
        {node_of_rank[static_cast<std::size_t>(m.source)], node_of_rank[to_rank], octave, transfer});
  Call line;
  line.from = node_of_rank[static_cast<std::size_t>(m.source)];
  line.to = node_of_rank[to_rank];
  line.octave = octave;
  slices.spread(end - 1, end, [&](Slice& s, double) {
    TransferCell& cell = s.cell(line.from, line.to, octave);
    ++cell.messages;
    cell.transfer_s += static_cast<double>(transfer) * 1e-9;
  });
  const double slowness = usual.samples == 0 ? 0 : log_ns - usual.mean_log();
  if (slowness > call.slowness) {
    call.from = line.from;
    call.to = line.to;
    call.octave = octave;
    call.slowness = slowness;
  }
  const std::int64_t sender_from = ready, sender_to = std::min(CallsOfRanks::cut(m.send_end), end);
  if (holds_sender(m) && sender_to > sender_from) expose(slices, sender_from, sender_to, line);
}

}  // namespace pclscope::attribute
