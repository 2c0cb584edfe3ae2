#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <tuple>

#include "analysis/values/wait_state.hpp"
#include "analysis/whatif/graph_build.hpp"
#include "analysis/whatif/usual.hpp"
#include "interpose/record/event.hpp"

namespace pclscope::whatif {
namespace {

constexpr std::uint64_t surely_waits = 65536;  // bytes: where nothing was seen, a blocking send waits from here
constexpr std::uint32_t enough_seen = 3;       // messages

std::uint32_t site_id(std::uint64_t site) { return site > UINT32_MAX ? 0 : static_cast<std::uint32_t>(site); }

bool is_timed(const Message& m) { return !(m.flags & message_flag::no_latency) && m.recv_end >= m.send_begin; }
bool is_seen(const Message& m) { return !(m.flags & message_flag::unseen_completion); }

struct Piece {  // of a call
  std::int64_t begin, end;
  std::int32_t rank;
  std::uint32_t site;
  std::uint32_t what;  // message or collective call
  Part part;
};

}  // namespace

void Graph::Build::all() {
  make_calls();
  list_received();
  list_next();
  find_last_received();
  find_holding_sizes();
  find_freed_sizes();
  find_exchanges();
  find_held_waits();
  receive();
  send();
  wait_for_receivers();
  wait_aside();
  gather();
  share_lags();
  sort_arrivals();
  list_feeds();
}

void Graph::Build::make_calls() {
  std::vector<Piece> pieces;
  pieces.reserve(3 * messages.size() + collectives.size());
  send_call.assign(messages.size(), nobody);
  post_call = wait_call = send_call;
  member_call.assign(collectives.size(), nobody);
  aside_call = member_call;
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    const Message& m = messages[i];
    if (!knows(m.source) || !knows(m.destination)) continue;
    const std::int64_t sent = cut(m.send_begin), posted = cut(m.recv_post), wait = cut(m.recv_wait);
    pieces.push_back({sent, std::max(cut(m.send_end), sent), m.source, site_id(m.send_site), i, Part::send});
    pieces.push_back({posted, posted, m.destination, site_id(m.recv_site), i, Part::post});
    if (is_seen(m))
      pieces.push_back(
          {wait, std::max(cut(m.recv_end), wait), m.destination, site_id(m.recv_site), i, Part::completion});
  }
  for (std::uint32_t i = 0; i < collectives.size(); ++i) {
    const CollectiveCall& c = collectives[i];
    const WaitGroup group = group_of(c);
    if (!knows(c.rank) || (group != WaitGroup::collective && group != WaitGroup::point_to_point)) continue;
    const std::int64_t begin = cut(c.begin), end = c.nonblocking ? begin : std::max(cut(c.end), begin);
    const Part part = group == WaitGroup::collective ? Part::collective : Part::aside;
    pieces.push_back({begin, end, c.rank, site_id(c.site), i, part});
    // The call that completed a nonblocking one waits for what a blocking one does.
    if (c.nonblocking && c.completing > 0 && part == Part::collective && cut(c.wait_begin()) > begin)
      pieces.push_back({cut(c.wait_begin()), cut(c.end), c.rank, site_id(c.site), i, Part::aside});
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.rank, a.begin, a.part, a.site, a.what) < std::tie(b.rank, b.begin, b.part, b.site, b.what);
  });
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& p = pieces[i];
    const bool same = i > 0 && pieces[i - 1].rank == p.rank && pieces[i - 1].begin == p.begin;
    if (!same) {
      for (std::int32_t r = i > 0 ? pieces[i - 1].rank : -1; r < p.rank; ++r)
        g.first_[static_cast<std::size_t>(r) + 1] = static_cast<std::uint32_t>(g.calls_.size());
      g.calls_.push_back({p.begin, p.end, 0, 0, p.site, p.rank, p.part});
    }
    Call& c = g.calls_.back();
    c.end = std::max(c.end, p.end);
    const auto index = static_cast<std::uint32_t>(g.calls_.size() - 1);
    (p.part == Part::collective ? member_call
     : p.part == Part::aside    ? aside_call
     : p.part == Part::send     ? send_call
     : p.part == Part::post     ? post_call
                                : wait_call)[p.what] = index;
  }
  const std::int32_t last = pieces.empty() ? -1 : pieces.back().rank;
  for (std::int32_t r = last; r < g.ranks(); ++r)
    g.first_[static_cast<std::size_t>(r) + 1] = static_cast<std::uint32_t>(g.calls_.size());
  // The time of all that does not wait; what waits is set right below.
  for (Call& c : g.calls_) c.own = c.end - c.begin;
  for (std::int32_t r = 0; r < g.ranks(); ++r) count_overlaps(r);
}

void Graph::Build::count_overlaps(std::int32_t rank) {
  std::int64_t newest = INT64_MIN;
  std::uint32_t overlaps = 0;
  for (std::uint32_t i = g.first(rank); i < g.end(rank); ++i) {
    overlaps += call(i).begin < newest;
    newest = std::max(newest, call(i).end);
  }
  const std::uint32_t count = g.end(rank) - g.first(rank);
  if (count > 0) g.overlapping_ = std::max(g.overlapping_, static_cast<double>(overlaps) / count);
}

void Graph::Build::list_received() {
  first_received.assign(g.calls_.size() + 1, 0);
  for (std::uint32_t i = 0; i < messages.size(); ++i)
    if (wait_call[i] != nobody && is_timed(messages[i])) ++first_received[wait_call[i] + 1];
  std::partial_sum(first_received.begin(), first_received.end(), first_received.begin());
  received.resize(first_received.back());
  std::vector<std::uint32_t> next(first_received.begin(), first_received.end() - 1);
  for (std::uint32_t i = 0; i < messages.size(); ++i)
    if (wait_call[i] != nobody && is_timed(messages[i])) received[next[wait_call[i]]++] = i;
}

std::span<const std::uint32_t> Graph::Build::received_by(std::uint32_t index) const {
  return std::span(received).subspan(first_received[index], first_received[index + 1] - first_received[index]);
}

// When a message could begin to move.
std::int64_t Graph::Build::ready(const Message& m) {
  return is_copied(m) ? cut(m.send_begin) : std::max(cut(m.send_begin), cut(m.recv_post));
}

// Of what the call received, the message that was ready last; nobody: it received none.
std::uint32_t Graph::Build::last_ready(std::uint32_t index) const {
  std::uint32_t last = nobody;
  for (const std::uint32_t i : received_by(index))
    if (last == nobody || ready(messages[i]) > ready(messages[last])) last = i;
  return last;
}

// A call that completes receives: its last message's time from being ready is what this message took; of the others
// it is only known that they took no longer. Those that waited for nothing tell what a call costs by itself; but it
// costs no more than a message of its size, or a larger one, usually takes over the shortest distance, which includes
// that: a call may seem to have waited for nothing because its rank was late, and its message moved only then.
void Graph::Build::receive() {
  Quantiles usual(enough_transfers), idle(1);
  g.transfers_.assign(messages.size(), {-1, false});
  for (std::uint32_t c = 0; c < g.calls_.size(); ++c) {
    const std::uint32_t last = last_ready(c);
    if (last == nobody) continue;
    const std::int64_t from = ready(messages[last]), seen = call(c).end - std::max(from, call(c).begin);
    if (call(c).end < from || 2 * seen < call(c).end - from || held_until[c] > from) continue;
    usual.add(pair_key(messages[last]), call(c).end - from);
    usual.add(class_key(messages[last]), call(c).end - from);
    g.transfers_[last] = {call(c).end - from, true};
  }
  usual.close();
  const auto usually = [&](const Message& m) {
    const std::int64_t of_pair = usual.of(pair_key(m));
    return std::max<std::int64_t>(of_pair >= 0 ? of_pair : usual.of(class_key(m)), 0);
  };
  std::vector<std::uint32_t> bound(g.calls_.size(), nobody);  // by which message
  for (std::uint32_t c = 0; c < g.calls_.size(); ++c) {
    std::int64_t latest = INT64_MIN;
    std::uint32_t last = nobody;
    for (const std::uint32_t i : received_by(c)) {
      const std::int64_t there = ready(messages[i]) + usually(messages[i]);
      if (ready(messages[i]) <= call(c).end && there > latest) latest = there, last = i;
    }
    if (held_until[c] > std::max(latest, call(c).begin)) continue;
    held_until[c] = INT64_MIN;  // its receive came later
    if (last == nobody) continue;
    if (latest > call(c).begin) bound[c] = last;
    else idle.add(0, call(c).end - call(c).begin);
  }
  idle.close();
  const std::int64_t idle_ns = std::max<std::int64_t>(idle.of(0), 0);
  std::array<std::int64_t, octaves> least{};  // by octave of sizes: what one so large or larger usually takes
  least.fill(INT64_MAX);
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    if (!g.transfers_[i].last) continue;
    const std::int64_t of_class = usual.of(class_key(messages[i]));
    std::int64_t& of_size = least[octave_of(messages[i].bytes)];
    if (of_class >= 0) of_size = std::min(of_size, of_class);
  }
  for (std::uint32_t o = octaves - 1; o-- > 0;) least[o] = std::min(least[o], least[o + 1]);
  for (std::uint32_t c = 0; c < g.calls_.size(); ++c) {
    if (bound[c] != nobody || held_until[c] != INT64_MIN) {
      std::uint32_t largest = 0;
      for (const std::uint32_t i : received_by(c)) largest = std::max(largest, octave_of(messages[i].bytes));
      call(c).own = std::min({call(c).own, idle_ns, least[largest]});
    }
    for (const std::uint32_t i : received_by(c)) {
      const Message& m = messages[i];
      const std::int64_t most = call(c).end - ready(m);
      if (most < 0) continue;
      const std::int64_t lag = i == bound[c] ? most : std::min(usually(m), most);
      if (g.transfers_[i].lag < 0) g.transfers_[i].lag = lag;
      arrive(c, {send_call[i], i, lag});
      if (!is_copied(m)) arrive(c, {post_call[i], i, lag});  // maybe its own begin
    }
  }
}

bool Graph::Build::waits_for_receive(const Message& m) {
  return blocks_sender(m.flags) && is_timed(m) && m.source != m.destination && !(m.flags & record::flag::partitioned);
}

// The receiver's call that the send waited for: that which posts the receive, or, of smaller messages, the one with
// which the receiver came into MPI (find_freed_sizes).
std::uint32_t Graph::Build::holder_of(std::uint32_t message) const {
  const Message& m = messages[message];
  if (send_call[message] == nobody || post_call[message] == nobody || !waits_for_receive(m)) return nobody;
  const std::uint32_t next = is_freed[octave_of(m.bytes)] ? freed_by(m, Sure::not_before) : nobody;
  if (!(m.flags & record::flag::synchronous) && octave_of(m.bytes) < holds_from) return next;
  if (next != nobody && m.recv_post <= m.send_begin) return next;  // posted, but its data moved only then
  return cut(m.recv_post) <= g.calls_[send_call[message]].end ? post_call[message] : nobody;  // else it was copied
}

// The receiver's next call, and its next one that may wait (calls that only start something need not move other
// messages); nobody: it was in such a one when the send began.
std::array<std::uint32_t, 2> Graph::Build::next_of_receiver(const Message& m) const {
  const auto first = g.calls_.begin() + g.first(m.destination), last = g.calls_.begin() + g.end(m.destination);
  const std::int64_t sent = cut(m.send_begin);
  const auto next = std::upper_bound(first, last, sent, [](std::int64_t t, const Call& c) { return t < c.begin; });
  if (next == last) return {nobody, nobody};
  const auto index = static_cast<std::uint32_t>(next - g.calls_.begin());
  if (next == first || (next - 1)->end <= sent) return {index, next_waiting[index]};
  return {nobody, only_starts(*(next - 1)) ? next_waiting[index] : nobody};
}

// Of a blocking send: after which call of the receiver it returned, right after it if there is such a one.
std::uint32_t Graph::Build::freed_by(const Message& m, Sure sure) const {
  std::uint32_t latest = nobody;
  for (const std::uint32_t next : next_of_receiver(m)) {
    if (next == nobody) continue;
    const std::int64_t from = cut(m.send_begin), came = g.calls_[next].begin, end = cut(m.send_end);
    if (ended_at(from, came, end, Sure::right_after)) return next;
    if (ended_at(from, came, end, sure)) latest = next;
  }
  return latest;
}

// From which size on blocking sends wait, is seen in those whose receive was posted later. Of exchanges it is less
// certain, as they may have waited for what they receive: they count where there are no others, by a large majority.
void Graph::Build::find_holding_sizes() {
  std::array<std::int64_t, octaves> waited{};  // for each: those that waited less those that did not
  std::array<std::int64_t, octaves> exchanged{}, exchanges{};
  for (const Message& m : messages) {
    if (!waits_for_receive(m) || is_copied(m) || (m.flags & record::flag::synchronous) || m.recv_post <= m.send_begin)
      continue;
    const std::uint32_t octave = octave_of(m.bytes);
    (is_exchange(m) ? exchanged : waited)[octave] += m.recv_post <= m.send_end ? 1 : -1;
    exchanges[octave] += is_exchange(m);
  }
  for (std::uint32_t o = 0; o < octaves; ++o)
    if (waited[o] == 0 && 2 * std::abs(exchanged[o]) > exchanges[o]) waited[o] = exchanged[o];
  holds_from = octave_of(surely_waits);
  for (std::uint32_t o = octaves; o-- > 0;)
    if (waited[o] > 0) holds_from = std::min(holds_from, o);
  for (std::uint32_t o = 0; o < octaves; ++o)
    if (waited[o] < 0) holds_from = std::max(holds_from, o + 1);
}

// Open MPI copies messages of 257 bytes and more, but frees the buffer only when the receiver is in MPI next, in
// whatever call. Of the sends that began while it was not: did they end with its next call, or before? By the time that
// says so.
void Graph::Build::find_freed_sizes() {
  struct Evidence {
    std::int64_t freed_ns = 0, before_ns = 0;
    std::uint32_t count = 0;
  };
  std::array<Evidence, octaves> seen{};
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    const Message& m = messages[i];
    if (send_call[i] == nobody || !waits_for_receive(m)) continue;
    Evidence& e = seen[octave_of(m.bytes)];
    if (const std::uint32_t next = freed_by(m, Sure::right_after); next != nobody) {
      e.freed_ns += call(next).begin - cut(m.send_begin);
    } else {
      const std::uint32_t any = next_of_receiver(m)[0];
      if (any == nobody || call(any).begin - cut(m.send_begin) < long_gap_ns || cut(m.send_end) >= call(any).begin)
        continue;
      e.before_ns += call(any).begin - cut(m.send_end);
    }
    ++e.count;
  }
  for (std::uint32_t o = 0; o < octaves; ++o)
    is_freed[o] = seen[o].count >= enough_seen && seen[o].freed_ns > seen[o].before_ns;
}

// Sendrecv returns when both are through: until when its send alone held it.
void Graph::Build::find_exchanges() {
  held_until.assign(g.calls_.size(), INT64_MIN);
  holder.assign(messages.size(), nobody);
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    holder[i] = holder_of(i);
    if (holder[i] == nobody || !is_exchange(messages[i])) continue;
    held_until[send_call[i]] = std::max(held_until[send_call[i]], call(holder[i]).begin);
  }
}

// Blocking sends that MPI does not merely copy.
void Graph::Build::send() {
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    const Message& m = messages[i];
    if (holder[i] == nobody) continue;
    Call& c = call(send_call[i]);
    const std::int64_t came = call(holder[i]).begin;
    std::int64_t lag = c.end - std::max(came, c.begin);
    if (!is_exchange(m)) c.own = 0;
    else if (held_until[send_call[i]] != came) lag = std::min(lag, std::max<std::int64_t>(g.transfers_[i].lag, 0));
    arrive(send_call[i], {send_call[i], i, lag});
    arrive(send_call[i], {holder[i], i, lag});
  }
}

// A call that completed several operations, and perhaps messages, ended as soon as the last of what it needed had come:
// only that one's lag was seen. The others' are no longer.
void Graph::Build::share_lags() {
  std::vector<std::int64_t> least(g.calls_.size(), INT64_MAX);
  for (std::size_t i = 0; i < loose.size(); ++i)
    if (loose[i].message == nobody) least[owner[i]] = std::min(least[owner[i]], loose[i].lag);
  for (std::size_t i = 0; i < loose.size(); ++i) loose[i].lag = std::min(loose[i].lag, least[owner[i]]);
}

void Graph::Build::sort_arrivals() {
  std::vector<std::uint32_t> next(g.calls_.size() + 1, 0);
  for (const std::uint32_t c : owner) ++next[c + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::uint32_t c = 0; c < g.calls_.size(); ++c) call(c).first_arrival = next[c];
  g.arrivals_.resize(loose.size());
  for (std::size_t i = 0; i < loose.size(); ++i) g.arrivals_[next[owner[i]]++] = loose[i];
}

void Graph::Build::list_feeds() {
  g.first_feed_.assign(g.nodes() + 1, 0);
  for (const std::uint32_t node : feeder) ++g.first_feed_[node + 1];
  std::partial_sum(g.first_feed_.begin(), g.first_feed_.end(), g.first_feed_.begin());
  g.feeds_.resize(feeder.size());
  std::vector<std::uint32_t> next(g.first_feed_.begin(), g.first_feed_.end() - 1);
  for (std::size_t i = 0; i < feeder.size(); ++i) g.feeds_[next[feeder[i]]++] = fed[i];
}

std::vector<std::uint32_t> Graph::last_calls(std::span<const std::int64_t> begins) const {
  std::vector<std::uint32_t> last(nodes(), nobody);
  for (std::uint32_t node = 0; node < nodes(); ++node) {  // what feeds a join stands before it
    if (node < calls_.size()) last[node] = node;
    if (last[node] == nobody) continue;
    for (const std::uint32_t join : joins_of(node))
      if (last[join] == nobody || begins[last[node]] > begins[last[join]]) last[join] = last[node];
  }
  return last;
}

Graph::Graph(std::int32_t ranks, std::span<const Message> messages, std::span<const CollectiveCall> collectives)
    : first_(static_cast<std::size_t>(std::max(ranks, 0)) + 1) {
  Build(*this, messages, collectives).all();
}

}  // namespace pclscope::whatif
