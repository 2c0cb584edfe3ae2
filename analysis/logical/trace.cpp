#include "analysis/logical/trace.hpp"

#include <cmath>
#include <tuple>

#include "analysis/logical/layers.hpp"
#include "analysis/values/wait_state.hpp"

namespace pclscope::logical {
namespace {

constexpr std::size_t most_records = std::size_t{1} << 30;  // Trace::Piece
constexpr std::uint32_t most_partners = (1u << 27) - 1;

std::int64_t cut(std::int64_t time) {
  constexpr std::int64_t limit = std::int64_t{1} << 61;  // +-73 years: no difference overflows
  return std::clamp(time, -limit, limit);
}
std::uint32_t bytes_of(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, most_bytes));
}

// Of a call from `begin` to `end` that waited for what came at `moment`, ns (docs/methods.md, "Wait states").
float wait_until(std::int64_t moment, std::int64_t begin, std::int64_t end) {
  return end > begin ? static_cast<float>(std::clamp(cut(moment), begin, end) - begin) : 0;
}
// As "Blocked time" has it: of a blocking send, for its receive. Below 0: a Sendrecv's, of which what its receive
// waited is to be taken off; to another node none is told.
float wait_of_send(const Message& m) {
  if (m.flags & message_flag::no_latency || !blocks_sender(m.flags)) return 0;
  const std::int64_t begin = cut(m.send_begin);
  const float wait = wait_until(m.recv_post, begin, cut(m.send_end));
  if (!(m.flags & message_flag::sendrecv_send)) return wait;
  return m.flags & message_flag::inter_node ? 0 : -wait;
}
float wait_of_receive(const Message& m) {
  if (m.flags & message_flag::no_latency) return 0;
  return wait_until(m.send_begin, std::min(cut(m.recv_wait), cut(m.recv_end)), cut(m.recv_end));
}

std::uint32_t site_id(std::uint64_t site) { return site > UINT32_MAX ? 0 : static_cast<std::uint32_t>(site); }

}  // namespace

Records::Records(std::int32_t ranks) : ranks_(std::max(ranks, 0)) {}

void Records::add(std::span<const Message> messages) {
  const auto known = [&](std::int32_t rank) { return rank >= 0 && rank < ranks_; };
  for (const Message& m : messages) {
    if (!known(m.source) || !known(m.destination)) {
      ++left_out_;
      continue;
    }
    const std::int64_t sent = cut(m.send_begin), wait = cut(m.recv_wait);
    messages_.push_back({sent, std::max(cut(m.send_end), sent), std::min(wait, cut(m.recv_end)), cut(m.recv_end),
                         m.source, m.destination, site_id(m.send_site), site_id(m.recv_site), wait_of_send(m),
                         wait_of_receive(m), bytes_of(m.bytes), !(m.flags & message_flag::unseen_completion)});
  }
}

void Records::add(std::span<const CollectiveCall> calls) {
  for (const CollectiveCall& c : calls) {
    if (group_of(c) != WaitGroup::collective) continue;
    if (c.rank < 0 || c.rank >= ranks_) {
      ++left_out_;
      continue;
    }
    const std::int64_t end = cut(c.end);  // as CollectiveCall::wait_begin(), of any times
    const std::int64_t begin = c.nonblocking ? std::max(cut(c.begin), end - cut(c.completing)) : cut(c.begin);
    const std::int64_t from = std::min(begin, end);
    const float wait = c.awaited < 0 ? 0 : wait_until(c.awaited_begin, from, end);
    collectives_.push_back({c.comm, c.ordinal, from, end, c.rank, site_id(c.site), wait, bytes_of(c.bytes)});
  }
}

bool Records::fits() const { return messages_.size() <= most_records && collectives_.size() <= most_records; }
Error Records::too_many() {
  return {ErrorCode::bad_argument, "too many messages for one logical time: ask for a shorter period"};
}

Result<LogicalTime> Records::logical_time() && {
  if (!fits()) return too_many();
  Trace trace(*this, false);
  std::vector<std::uint32_t> next_step(static_cast<std::size_t>(ranks_));
  Stepper stepper(trace.time(), next_step);
  Layers layers(ranks_);
  layers.attach(trace.time(), stepper, line_of_site_);
  layers.find(INT64_MAX, false);
  sort_phases(trace.time());
  return std::move(trace.time());
}

// A send, a receive or a collective call on its way into its rank's program order: sends by their entry, what completes
// by its return (as in order/event_order.hpp, which says why no chain of messages returns to where it began). Clocks
// tick in steps (of 10 ns on some virtual machines), so a send may be entered at the very moment at which the call
// before it returned: what completed then comes first, if its call had begun before. No chain returns within one step.
struct Trace::Piece {
  std::int64_t begin = 0, end = 0;
  std::uint32_t what : 30 = 0;  // message, or collective call
  Kind kind : 2 = Kind::send;
  std::uint32_t site = 0;
  float wait = 0;
  std::uint32_t bytes = 0;

  Piece() = default;
  Piece(Kind of, std::uint32_t number, std::int64_t from, std::int64_t to, std::uint32_t where, float waited,
        std::uint32_t size)
      : begin(from), end(to), what(number & (most_records - 1)), kind(of), site(where), wait(waited), bytes(size) {}
  std::int64_t moment() const { return kind == Kind::send ? begin : end; }
  int at_moment() const { return kind == Kind::send ? 2 : begin < end ? 1 : 3; }  // of those with the same
  // One call: what nothing recorded tells apart.
  bool same_call(const Piece& o) const {
    return kind == o.kind && kind != Kind::collective && begin == o.begin && (kind == Kind::send || end == o.end);
  }
};

Trace::Trace(Records& records, bool keeps_messages) {
  time_.left_out = records.left_out_;
  time_.first.assign(static_cast<std::size_t>(records.ranks_) + 1, 0);
  make_operations(records.collectives_);
  make_events(records.messages_, records.collectives_, keeps_messages);
  tie();
}

void Trace::make_operations(std::vector<Records::Called>& calls) {
  const auto earlier = [](const Records::Called& a, const Records::Called& b) {
    return std::tie(a.comm, a.ordinal, a.rank, a.begin, a.end, a.site) <
           std::tie(b.comm, b.ordinal, b.rank, b.begin, b.end, b.site);
  };
  std::sort(calls.begin(), calls.end(), earlier);
  operation_of_.resize(calls.size());
  std::uint32_t operation = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i > 0 && (calls[i].comm != calls[i - 1].comm || calls[i].ordinal != calls[i - 1].ordinal)) ++operation;
    operation_of_[i] = operation;
  }
  time_.first_member.assign(calls.empty() ? 1 : operation + 2, 0);
}

void Trace::make_events(std::vector<Records::Sent>& messages, const std::vector<Records::Called>& calls, bool keeps) {
  const std::size_t ranks = time_.first.size() - 1;
  // Two rows per rank, as each is nearly in order already: what sends, and what completes.
  std::vector<std::uint32_t> row(2 * ranks + 1, 0);
  const auto row_of = [](std::int32_t rank, bool completes) { return 2 * static_cast<std::size_t>(rank) + completes; };
  for (const Records::Sent& m : messages) {
    ++row[row_of(m.source, false) + 1];
    if (m.seen) ++row[row_of(m.destination, true) + 1];
  }
  for (const Records::Called& c : calls) ++row[row_of(c.rank, true) + 1];
  std::partial_sum(row.begin(), row.end(), row.begin());
  std::vector<Piece> pieces(row.back());
  std::vector<std::uint32_t> next(row.begin(), row.end() - 1);
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    const Records::Sent& m = messages[i];
    pieces[next[row_of(m.source, false)]++] = {Kind::send,  i,           m.send_begin, m.send_end,
                                               m.send_site, m.send_wait, m.bytes};
    if (m.seen)
      pieces[next[row_of(m.destination, true)]++] = {Kind::receive,  i,      m.recv_wait, m.recv_end, m.recv_site,
                                                     m.recv_wait_ns, m.bytes};
  }
  for (std::uint32_t i = 0; i < calls.size(); ++i)
    pieces[next[row_of(calls[i].rank, true)]++] = {
        Kind::collective, i, calls[i].begin, calls[i].end, calls[i].site, calls[i].wait, calls[i].bytes};

  const auto earlier = [this](const Piece& a, const Piece& b) {
    if (a.moment() != b.moment()) return a.moment() < b.moment();
    if (a.at_moment() != b.at_moment()) return a.at_moment() < b.at_moment();
    if (a.kind != b.kind) return a.kind < b.kind;
    if (a.begin != b.begin) return a.begin < b.begin;
    return a.kind == Kind::collective && operation_of_[a.what] < operation_of_[b.what];
  };
  for (std::size_t r = 0; r < 2 * ranks; ++r)
    if (!std::is_sorted(pieces.begin() + row[r], pieces.begin() + row[r + 1], earlier))
      std::sort(pieces.begin() + row[r], pieces.begin() + row[r + 1], earlier);

  send_event_.assign(messages.size(), none);
  receive_event_.assign(messages.size(), none);
  call_event_.assign(calls.size(), none);
  if (!keeps) std::vector<Records::Sent>().swap(messages);  // the largest of all
  time_.events.reserve(pieces.size());
  time_.rank_of.reserve(pieces.size());
  const Piece* last = nullptr;
  const auto append = [&](std::size_t rank, const Piece& p) {
    if (last == nullptr || !last->same_call(p)) {
      Event& e = time_.events.emplace_back();
      e.begin = p.begin, e.end = p.end, e.site = p.site, e.kind = p.kind;
      if (p.kind == Kind::collective) e.partner = operation_of_[p.what];
      time_.rank_of.push_back(static_cast<std::int32_t>(rank));
    }
    Event& e = time_.events.back();
    e.end = std::max(e.end, p.end);
    // One call waits once, for what came last.
    if (std::fabs(p.wait) > std::fabs(e.wait_ns)) e.wait_ns = p.wait;
    e.bytes = most_bytes - e.bytes > p.bytes ? e.bytes + p.bytes : most_bytes;
    if (e.site == 0 || (p.site != 0 && p.site < e.site)) e.site = p.site;
    last = &p;
    const auto index = static_cast<std::uint32_t>(time_.events.size() - 1);
    if (p.kind == Kind::collective) ++time_.first_member[e.partner + 1], call_event_[p.what] = index;
    else (p.kind == Kind::send ? send_event_ : receive_event_)[p.what] = index;
  };
  for (std::size_t r = 0; r < ranks; ++r) {
    std::size_t sends = row[2 * r], completions = row[2 * r + 1];
    last = nullptr;
    while (sends < row[2 * r + 1] || completions < row[2 * r + 2]) {
      const bool completes =
          sends == row[2 * r + 1] || (completions < row[2 * r + 2] && earlier(pieces[completions], pieces[sends]));
      append(r, pieces[completes ? completions++ : sends++]);
    }
    time_.first[r + 1] = static_cast<std::uint32_t>(time_.events.size());
    settle_sendrecvs(std::span(time_.events).subspan(time_.first[r]));
  }
}

// A Sendrecv is one call: first it waits for what it receives, and then for the receive of what it sends, as far as
// that was posted later.
void Trace::settle_sendrecvs(std::span<Event> events) {
  constexpr std::size_t most_between = 64;  // events of other threads
  for (std::size_t i = 0; i < events.size(); ++i) {
    Event& send = events[i];
    if (send.wait_ns >= 0) continue;
    float received = 0;
    for (std::size_t k = i + 1; k < std::min(events.size(), i + most_between); ++k) {
      if (events[k].kind != Kind::receive || events[k].begin != send.begin || events[k].end != send.end) continue;
      received = events[k].wait_ns;
      break;
    }
    send.wait_ns = std::max(0.f, -send.wait_ns - received);
  }
}

void Trace::tie() {
  std::vector<Event>& events = time_.events;
  for (std::size_t i = 0; i < send_event_.size(); ++i) {
    Event& send = events[send_event_[i]];
    if (receive_event_[i] == none) {
      send.unpaired = 1;
      continue;
    }
    Event& receive = events[receive_event_[i]];
    if (send.count < most_partners) ++send.count;
    if (receive.count < most_partners) ++receive.count;
    send.partner = receive_event_[i];
    receive.partner = send_event_[i];
  }
  tie_several();
  std::vector<std::uint32_t>& first = time_.first_member;
  std::partial_sum(first.begin(), first.end(), first.begin());
  time_.members.resize(first.back());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (std::uint32_t e = 0; e < events.size(); ++e)
    if (events[e].kind == Kind::collective) time_.members[next[events[e].partner]++] = e;
}

void Trace::drop_before(const std::vector<std::uint32_t>& first_event, Records& records) const {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < records.messages_.size(); ++i)
    if (send_event_[i] >= first_event[at(records.messages_[i].source)])
      records.messages_[kept++] = records.messages_[i];
  records.messages_.resize(kept);
  kept = 0;
  for (std::size_t i = 0; i < records.collectives_.size(); ++i)
    if (call_event_[i] >= first_event[at(records.collectives_[i].rank)])
      records.collectives_[kept++] = records.collectives_[i];
  records.collectives_.resize(kept);
}

void Trace::tie_several() {
  std::vector<Event>& events = time_.events;
  std::uint32_t total = 0;
  for (Event& e : events) {
    if (e.kind == Kind::collective || e.count < 2) continue;
    e.partner = total;
    total += e.count;
    e.count = 0;  // counted again below
  }
  if (total == 0) return;
  time_.partners.assign(total, none);
  std::vector<char> several(events.size());
  const auto note = [&](std::uint32_t at, std::uint32_t other) {
    Event& e = events[at];
    if (several[at]) time_.partners[e.partner + e.count++] = other;
  };
  for (std::uint32_t e = 0; e < events.size(); ++e)
    several[e] = events[e].kind != Kind::collective && events[e].count == 0 && events[e].partner != none;
  for (std::size_t i = 0; i < send_event_.size(); ++i) {
    if (receive_event_[i] == none) continue;
    note(send_event_[i], receive_event_[i]);
    note(receive_event_[i], send_event_[i]);
  }
  for (std::uint32_t e = 0; e < events.size(); ++e)
    if (several[e]) std::sort(&time_.partners[events[e].partner], &time_.partners[events[e].partner] + events[e].count);
}

}  // namespace pclscope::logical
