// Messages in their order, in 8 to 15 bytes each, like events (packing_events.cpp): each receiving rank has a list of
// the routes (communicator, source, tag, call sites, ...) on which it got messages, and each route remembers which
// one followed it. A message is
//   header   2 bytes. Bit 0: the route is the predicted one; 1: the receiver is the last message's; 2: it is delayed;
//            3: bytes and clock error are the route's last; 4-5: how the receive went (below); 6-15: lengths of
//            send_end, send_begin, recv_post, recv_end, recv_wait, two bits each
//   receiver, route, a new route's fields, bytes and clock error: where they are not as predicted
//   recv_end    minus the receiver's last one, or the same (Waitall: recv_end and recv_wait are those of the message
//               before)
//   recv_wait   as recv_end - recv_wait, or the same, or recv_post (blocking)
//   recv_post   as recv_wait - recv_post; blocking: recv_end - recv_post; in a Waitall minus the last recv_post
//   send_begin  as recv_end - send_begin, and send_end - send_begin
// All differences are modulo 2^64: any values come back. The last 120 routes of a receiver are remembered.
#include <algorithm>
#include <unordered_map>

#include "analysis/nodes/packing_bytes.hpp"

namespace pclscope::nodes::packing {

namespace {

struct Route {
  std::uint64_t comm = 0, send_site = 0, recv_site = 0;
  std::int32_t source = 0, tag = 0;
  std::uint32_t flags = 0;  // without `delayed`
  bool operator==(const Route&) const = default;
};
struct RouteSlot {
  Route route;
  std::uint64_t bytes = 0;  // last ones
  std::uint32_t error = 0;
  std::uint32_t next = 0;  // slot that came after it
};
struct Receiver {
  std::int32_t rank = 0;
  std::uint32_t last = UINT32_MAX;  // slot
  std::uint32_t made = 0;
  std::uint64_t post = 0, wait = 0, end = 0;  // last ones
  std::vector<RouteSlot> slots;

  std::uint32_t predicted() const { return last == UINT32_MAX ? 0 : slots[last].next; }
};

enum Receive : unsigned { same_wait = 0, blocking = 1, own_wait = 2 };
constexpr unsigned most_slots = 120;
constexpr std::uint32_t no_delay = ~message_flag::delayed;

std::uint64_t u(std::int64_t v) { return static_cast<std::uint64_t>(v); }
std::int64_t s(std::uint64_t v) { return static_cast<std::int64_t>(v); }
std::int32_t shifted(std::int32_t rank, std::int32_t from, std::int32_t to) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(rank) + static_cast<std::uint32_t>(to) -
                                   static_cast<std::uint32_t>(from));
}

Route route_of(const Message& m) { return {m.comm, m.send_site, m.recv_site, m.source, m.tag, m.flags & no_delay}; }
std::uint64_t hash_of(const Route& r, std::int32_t receiver) {
  std::uint64_t h = r.comm ^ r.send_site << 32 ^ r.recv_site;
  h = (h ^ h >> 29) * 0x9e3779b97f4a7c15 + (static_cast<std::uint64_t>(static_cast<std::uint32_t>(r.source)) << 32) +
      r.flags;
  h = (h ^ h >> 32) * 0xbf58476d1ce4e5b9 + static_cast<std::uint32_t>(r.tag);
  h = (h ^ h >> 30) * 0x94d049bb133111eb + static_cast<std::uint32_t>(receiver);
  return h ^ h >> 31;
}

// What writer and reader know alike of the receivers so far.
struct Receivers {
  std::vector<Receiver> list;
  std::unordered_map<std::int32_t, std::uint32_t> of_rank;
  std::uint32_t current = UINT32_MAX;
  CommNumbers comms;

  std::int32_t rank() const { return current == UINT32_MAX ? 0 : list[current].rank; }
  Receiver& go_to(std::int32_t rank) {
    const auto [at, added] = of_rank.try_emplace(rank, static_cast<std::uint32_t>(list.size()));
    current = at->second;
    if (added) {
      Receiver made;
      made.rank = rank;
      if (!list.empty()) made.post = list.back().post, made.wait = list.back().wait, made.end = list.back().end;
      list.push_back(std::move(made));
    }
    return list[current];
  }
  // The route that the next new one is most like: the receiver before got it as its first, second ... too.
  RouteSlot model(const Receiver& r, std::int32_t& of) const {
    const bool before = current != 0 && r.made < list[current - 1].slots.size();
    of = before ? list[current - 1].rank : r.rank;
    return before ? list[current - 1].slots[r.made] : r.last != UINT32_MAX ? r.slots[r.last] : RouteSlot{};
  }
};

std::uint32_t make_slot(Receiver& r, const RouteSlot& like, const Route& route) {
  RouteSlot made = like;
  made.route = route;
  const std::uint32_t i = r.made++ % most_slots;
  if (i == r.slots.size()) {
    r.slots.push_back(made);
  } else {
    r.slots[i] = made;
  }
  return i;
}
bool would_be_new(const Receiver& r, std::uint32_t slot) { return slot == r.slots.size() && slot < most_slots; }

void used(Receiver& r, std::uint32_t i, const Message& m) {
  if (r.last != UINT32_MAX) r.slots[r.last].next = i;
  r.last = i;
  r.slots[i].bytes = m.bytes;
  r.slots[i].error = m.clock_error_ns;
  r.post = u(m.recv_post), r.wait = u(m.recv_wait), r.end = u(m.recv_end);
}

// Both directions of a new route: one bit per field that is not as in the model.
template <class Io>
void pass_route(Io& io, CommNumbers& comms, const Receiver& receiver, const RouteSlot& model, std::int32_t of,
                Route& r) {
  const Route& m = model.route;
  Route like = m;
  like.source = shifted(m.source, of, receiver.rank);
  std::uint64_t changed = 0;
  if constexpr (Io::writing) {
    changed = (r.comm != like.comm) | (r.send_site != like.send_site) << 1 | (r.recv_site != like.recv_site) << 2 |
              (r.source != like.source) << 3 | (r.tag != like.tag) << 4 | (r.flags != like.flags) << 5;
    io.fixed(changed, 1);
  } else {
    changed = io.fixed(1);
    r = like;
  }
  const auto step = [&](auto& value, auto from) { io.step(value, from); };
  if (changed & 1) comms.pass(io, r.comm);
  if (changed & 2) step(r.send_site, m.send_site);
  if (changed & 4) step(r.recv_site, m.recv_site);
  if (changed & 8) step(r.source, m.source);
  if (changed & 16) step(r.tag, m.tag);
  if (changed & 32) {
    std::uint32_t turned = std::rotl(r.flags, 7);  // high flags low
    io.number(turned);
    r.flags = std::rotr(turned, 7);
    if (r.flags & ~no_delay) io.fail();
  }
}

template <class Io, class M>
void pass_bytes(Io& io, const RouteSlot& slot, M& m) {
  std::uint64_t bytes = slot.bytes, changed = 0;
  std::uint32_t error = slot.error;
  if constexpr (Io::writing) {
    changed = (m.bytes != bytes) | (m.clock_error_ns != error) << 1;
    io.fixed(changed, 1);
    if (changed & 1) io.step(m.bytes, bytes);
    if (changed & 2) io.step(m.clock_error_ns, error);
  } else {
    changed = io.fixed(1);
    m.bytes = bytes, m.clock_error_ns = error;
    if (changed & 1) io.step(m.bytes, bytes);
    if (changed & 2) io.step(m.clock_error_ns, error);
  }
}

struct Times {
  Receive receive;
  std::uint64_t send, latency, post, end, wait;
  unsigned codes;

  Times(const Receiver& r, const Message& m) {
    end = zigzag(u(m.recv_end) - r.end);
    wait = u(m.recv_end) - u(m.recv_wait);
    receive = m.recv_wait == m.recv_post ? blocking : own_wait;
    post = receive == blocking ? u(m.recv_end) - u(m.recv_post) : u(m.recv_wait) - u(m.recv_post);
    if (end == 0 && u(m.recv_wait) == r.wait) receive = same_wait, post = zigzag(u(m.recv_post) - r.post);
    send = u(m.send_end) - u(m.send_begin);
    latency = zigzag(u(m.recv_end) - u(m.send_begin));
    codes = short_lengths.code(send) | long_lengths.code(latency) << 2 | short_lengths.code(post) << 4 |
            (receive == same_wait ? 0 : long_lengths.code(end) << 6) |
            (receive == own_wait ? short_lengths.code(wait) << 8 : 0);
  }
};

void put_times(Writer& out, const Times& t) {
  if (t.receive != same_wait) out.fixed(t.end, long_lengths.of[t.codes >> 6 & 3]);
  if (t.receive == own_wait) out.fixed(t.wait, short_lengths.of[t.codes >> 8 & 3]);
  out.fixed(t.post, short_lengths.of[t.codes >> 4 & 3]);
  out.fixed(t.latency, long_lengths.of[t.codes >> 2 & 3]);
  out.fixed(t.send, short_lengths.of[t.codes & 3]);
}

void get_times(Reader& in, const Receiver& r, unsigned receive, unsigned codes, Message& m) {
  std::uint64_t end = r.end, wait = r.wait, post;
  if (receive != same_wait) end += unzigzag(in.fixed(long_lengths.of[codes >> 6 & 3]));
  if (receive == own_wait) wait = end - in.fixed(short_lengths.of[codes >> 8 & 3]);
  const std::uint64_t p = in.fixed(short_lengths.of[codes >> 4 & 3]);
  if (receive == same_wait) {
    post = r.post + unzigzag(p);
  } else {
    post = (receive == blocking ? end : wait) - p;
  }
  if (receive == blocking) wait = post;
  const std::uint64_t send = end - unzigzag(in.fixed(long_lengths.of[codes >> 2 & 3]));
  m.send_end = s(send + in.fixed(short_lengths.of[codes & 3]));
  m.send_begin = s(send), m.recv_post = s(post), m.recv_wait = s(wait), m.recv_end = s(end);
}

void put_message(Writer& out, Receivers& receivers, std::vector<std::uint32_t>& places, const Message& m) {
  const bool same_receiver = receivers.current != UINT32_MAX && receivers.rank() == m.destination;
  std::int32_t last_rank = receivers.rank();
  Receiver& r = same_receiver ? receivers.list[receivers.current] : receivers.go_to(m.destination);
  const Route route = route_of(m);
  const auto is_at = [&](std::uint32_t i) { return i < r.slots.size() && r.slots[i].route == route; };
  const std::uint32_t predicted = r.predicted();
  std::uint32_t at = predicted;
  std::uint32_t* place = nullptr;
  bool found = is_at(at);
  if (!found) {
    place = &places[hash_of(route, m.destination) & (places.size() - 1)];
    found = is_at(at = *place);
  }
  const bool as_predicted = found ? at == predicted : would_be_new(r, predicted);
  std::int32_t model_rank = 0;
  RouteSlot model;
  if (!found) {
    model = receivers.model(r, model_rank);
    *place = at = make_slot(r, model, route);
  }
  const RouteSlot& slot = r.slots[at];
  const bool same_bytes = m.bytes == slot.bytes && m.clock_error_ns == slot.error;
  const Times times(r, m);
  out.fixed(as_predicted | same_receiver << 1 | ((m.flags & message_flag::delayed) != 0) << 2 | same_bytes << 3 |
                times.receive << 4 | times.codes << 6,
            2);
  if (!same_receiver) out.step(m.destination, last_rank);
  if (!as_predicted) out.varint(found ? at + 1 : 0);
  if (!found) {
    Route copy = route;
    pass_route(out, receivers.comms, r, model, model_rank, copy);
  }
  if (!same_bytes) pass_bytes(out, slot, m);
  put_times(out, times);
  used(r, at, m);
}

// The place of the message's route, which may be a new one.
std::uint32_t get_route(Reader& in, Receivers& receivers, Receiver& r, bool as_predicted) {
  std::uint32_t at = r.predicted();
  bool found = at < r.slots.size(), valid = found || would_be_new(r, at);
  if (!as_predicted) {
    const std::uint64_t place = in.varint();
    found = place != 0;
    at = static_cast<std::uint32_t>(place - 1);
    valid = place <= r.slots.size();
  }
  if (!valid) in.fail();
  if (found && valid) return at;
  std::int32_t model_rank = 0;
  const RouteSlot model = receivers.model(r, model_rank);
  Route route;
  pass_route(in, receivers.comms, r, model, model_rank, route);
  return make_slot(r, model, route);
}

void get_message(Reader& in, Receivers& receivers, Message& m) {
  const auto header = static_cast<unsigned>(in.fixed(2));
  const bool same_receiver = header & 2;
  std::int32_t rank = receivers.rank();
  if (same_receiver && receivers.current == UINT32_MAX) return in.fail();
  if (!same_receiver) in.step(m.destination, rank);
  Receiver& r = same_receiver ? receivers.list[receivers.current] : receivers.go_to(rank);
  const std::uint32_t at = get_route(in, receivers, r, header & 1);
  const RouteSlot& slot = r.slots[at];
  const Route& route = slot.route;
  m.destination = rank;
  m.comm = route.comm, m.send_site = route.send_site, m.recv_site = route.recv_site;
  m.source = route.source, m.tag = route.tag;
  m.flags = route.flags | (header & 4 ? message_flag::delayed : 0);
  m.bytes = slot.bytes, m.clock_error_ns = slot.error;
  if (!(header & 8)) pass_bytes(in, slot, m);
  const unsigned receive = header >> 4 & 3;
  if (receive > own_wait) return in.fail();
  get_times(in, r, receive, header >> 6, m);
  used(r, at, m);
}

}  // namespace

void put_messages(Writer& out, std::span<const Message> messages) {
  out.varint(messages.size());
  Receivers receivers;
  std::vector<std::uint32_t> places(std::bit_ceil(std::clamp<std::size_t>(messages.size(), 16, 16384)));
  for (const Message& m : messages) put_message(out, receivers, places, m);
}

void get_messages(Reader& in, std::vector<Message>& messages) {
  Receivers receivers;
  in.list(messages, least_message, [&](Message& m) { get_message(in, receivers, m); });
}

}  // namespace pclscope::nodes::packing
