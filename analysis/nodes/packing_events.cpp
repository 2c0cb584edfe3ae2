// Events of ranks, rank by rank, in 3 to 8 bytes each: programs go through the same few channels (communicator, peer,
// tag, call site, ...) in the same order again and again.
//
// Each rank has a list of its channels so far, and each of them remembers which one followed it the last time, and by
// how much the ordinal went on. An event is
//   header    bit 0: the channel is the predicted one; 1: the ordinal is; 2: the bytes are the channel's last;
//             3-5: length of begin (0 to 6, 7 means 8); 6-7: of end
//   channel   if not predicted: 0 a new one, else 1 + its place in the list
//   a new channel's fields that are not those of the channel at this place of the rank before (SPMD: peers relative)
//   ordinal   if not predicted
//   bytes     if they are others
//   begin     minus the rank's last begin (unrecorded_sends, which have counters there: minus 0)
//   end       minus begin
// All differences are modulo 2^64: any values come back. The last 120 channels of a rank are remembered.
#include <algorithm>
#include <unordered_map>

#include "analysis/nodes/packing_bytes.hpp"

namespace pclscope::nodes::packing {

namespace {

using record::Event;
using record::EventKind;

struct Channel {
  std::uint64_t comm = 0, site = 0;
  std::int32_t peer = 0, tag = 0;
  std::uint32_t flags = 0;
  EventKind kind = EventKind::none;
  std::uint16_t function = 0;
  std::uint8_t thread = 0;
  bool operator==(const Channel&) const = default;
};
struct Slot {
  Channel channel;
  std::uint64_t bytes = 0, ordinal = 0;  // last ones
  std::uint64_t step = 0;                // of the ordinal, last time
  std::size_t next = 0;                  // slot that came after it
};

Channel channel_of(const RankEvent& of) {
  const Event& e = of.event;
  return {e.comm, e.site, e.peer, e.tag, e.flags, e.kind, e.function, of.thread};
}
std::uint64_t hash_of(const Channel& c, std::uint64_t rank) {
  std::uint64_t h = c.comm ^ c.site << 32 ^ static_cast<std::uint32_t>(c.peer);
  h = (h ^ h >> 29) * 0x9e3779b97f4a7c15 + (static_cast<std::uint64_t>(static_cast<std::uint32_t>(c.tag)) << 32) + rank;
  h = (h ^ h >> 32) * 0xbf58476d1ce4e5b9 + c.flags + (std::uint64_t{c.function} << 40) +
      (std::uint64_t{c.thread} << 56);
  return h ^ h >> 31 ^ static_cast<std::uint64_t>(c.kind);
}

std::uint64_t ordinal_step(std::uint64_t to, std::uint64_t from) {  // of the numbers, 40 bits, sign-extended
  constexpr unsigned rest = 64 - record::number_bits;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>((to - from) << rest) >> rest);
}

// What writer and reader know alike of the ranks so far.
class Ranks {
 public:
  static constexpr std::size_t most_slots = 120;

  std::int32_t rank = 0;
  std::uint64_t begin = 0;    // last
  std::uint64_t ordinal = 0;  // last send's
  CommNumbers comms;

  void start_rank(std::int32_t r) {
    before_.swap(slots_);
    slots_.clear();
    rank_before_ = rank;
    rank = r;
    last_ = no_slot;
    made_ = 0;
    begin = begin_before_;  // ranks do the same at the same time
    ordinal = ordinal_before_;
    first_ = true;
  }
  std::size_t predicted() const { return last_ == no_slot ? 0 : slots_[last_].next; }
  bool exists(std::size_t slot) const { return slot < slots_.size(); }
  bool would_be_new(std::size_t slot) const { return slot == slots_.size() && slot < most_slots; }
  Slot& slot(std::size_t i) { return slots_[i]; }

  // The channel that the new slot's is most like.
  const Slot& model(std::int32_t& of_rank) const {
    static const Slot none;
    const bool before = made_ < before_.size();
    of_rank = before ? rank_before_ : rank;
    return before ? before_[made_] : last_ != no_slot ? slots_[last_] : none;
  }
  std::size_t make(const Slot& like, const Channel& channel) {
    Slot made = like;
    made.channel = channel;
    const std::size_t i = made_++ % most_slots;
    if (i == slots_.size()) {
      slots_.push_back(made);
    } else {
      slots_[i] = made;
    }
    return i;
  }
  void used(std::size_t i, const Event& e) {
    if (last_ != no_slot) slots_[last_].next = i;
    last_ = i;
    Slot& s = slots_[i];
    s.step = ordinal_step(e.ordinal, base_ordinal(s));
    s.bytes = e.bytes;
    s.ordinal = e.ordinal;
    if (e.kind == EventKind::send) ordinal = e.ordinal;
    if (e.kind != EventKind::unrecorded_sends) begin = e.begin;
    if (first_) begin_before_ = begin, ordinal_before_ = ordinal, first_ = false;
  }
  std::uint64_t base_ordinal(const Slot& s) const { return s.channel.kind == EventKind::send ? ordinal : s.ordinal; }
  std::uint64_t base_begin(const Slot& s) const { return s.channel.kind == EventKind::unrecorded_sends ? 0 : begin; }

 private:
  static constexpr std::size_t no_slot = SIZE_MAX;
  std::vector<Slot> slots_, before_;
  std::int32_t rank_before_ = 0;
  std::uint64_t begin_before_ = 0, ordinal_before_ = 0;  // first ones of the rank before
  std::size_t last_ = no_slot, made_ = 0;
  bool first_ = true;
};

// Both directions of a new channel: one bit per field that is not as in the model.
template <class Io>
void pass_channel(Io& io, Ranks& ranks, const Slot& model, std::int32_t model_rank, Channel& c) {
  const Channel& m = model.channel;
  Channel like = m;
  const auto moved = static_cast<std::uint32_t>(ranks.rank) - static_cast<std::uint32_t>(model_rank);
  like.peer = static_cast<std::int32_t>(static_cast<std::uint32_t>(m.peer) + moved);
  std::uint64_t changed = 0;
  if constexpr (Io::writing) {
    changed = (c.comm != like.comm) | (c.site != like.site) << 1 | (c.peer != like.peer) << 2 |
              (c.tag != like.tag) << 3 | (c.kind != like.kind) << 4 | (c.function != like.function) << 5 |
              (c.flags != like.flags) << 6 | (c.thread != like.thread) << 7;
    io.fixed(changed, 1);
  } else {
    changed = io.fixed(1);
    c = like;
  }
  const auto step = [&](auto& value, auto from) { io.step(value, from); };
  if (changed & 1) ranks.comms.pass(io, c.comm);
  if (changed & 2) step(c.site, m.site);
  if (changed & 4) step(c.peer, m.peer);
  if (changed & 8) step(c.tag, m.tag);
  if (changed & 16) {
    auto kind = static_cast<std::uint16_t>(c.kind);
    io.number(kind);
    c.kind = static_cast<EventKind>(kind);
  }
  if (changed & 32) io.number(c.function);
  if (changed & 64) io.number(c.flags);
  if (changed & 128) io.number(c.thread);
}

// Where a channel was put last; what it says is checked.
class Places {
 public:
  explicit Places(std::size_t sends) : places_(std::bit_ceil(std::clamp<std::size_t>(sends, 16, 16384))) {}
  std::uint32_t& of(const Channel& c, std::uint64_t rank) { return places_[hash_of(c, rank) & (places_.size() - 1)]; }

 private:
  std::vector<std::uint32_t> places_;
};

// What of an event is coded against its channel's slot.
struct Coded {
  std::uint64_t step, concurrent, begin, length;
  bool same_step, same_bytes;
  unsigned begin_bytes, length_code;

  Coded(const Ranks& ranks, const Slot& s, const Event& e)
      : step(ordinal_step(e.ordinal, ranks.base_ordinal(s))),
        concurrent(record::concurrent_of(e.ordinal)),
        begin(zigzag(e.begin - ranks.base_begin(s))),
        length(e.end - e.begin),
        same_step(step == s.step && concurrent == 0),
        same_bytes(e.bytes == s.bytes),
        begin_bytes(bytes_of(begin) >= 7 ? 8 : bytes_of(begin)),
        length_code(short_lengths.code(length)) {}
  unsigned header() const {
    return same_step << 1 | same_bytes << 2 | std::min(begin_bytes, 7u) << 3 | length_code << 6;
  }
};

void put_event(Writer& out, Ranks& ranks, Places& places, const RankEvent& sent) {
  const Channel channel = channel_of(sent);
  const std::size_t predicted = ranks.predicted();
  std::size_t at = predicted;
  bool found = ranks.exists(at) && ranks.slot(at).channel == channel;
  std::uint32_t* place = nullptr;
  if (!found) {
    place = &places.of(channel, static_cast<std::uint32_t>(ranks.rank));
    at = *place;
    found = ranks.exists(at) && ranks.slot(at).channel == channel;
  }
  const bool as_predicted = found ? at == predicted : ranks.would_be_new(predicted);
  std::int32_t model_rank = 0;
  Slot model;
  if (!found) {
    model = ranks.model(model_rank);
    *place = static_cast<std::uint32_t>(at = ranks.make(model, channel));
  }
  const Slot& s = ranks.slot(at);
  const Coded coded(ranks, s, sent.event);
  out.fixed(coded.header() | as_predicted, 1);
  if (!as_predicted) out.varint(found ? at + 1 : 0);
  if (!found) {
    Channel copy = channel;
    pass_channel(out, ranks, model, model_rank, copy);
  }
  if (!coded.same_step) out.varint(zigzag(coded.step) << 1 | (coded.concurrent != 0));
  if (!coded.same_step && coded.concurrent != 0) out.varint(coded.concurrent);
  if (!coded.same_bytes) out.varint(zigzag(sent.event.bytes - s.bytes));
  out.fixed(coded.begin, coded.begin_bytes);
  out.fixed(coded.length, short_lengths.of[coded.length_code]);
  ranks.used(at, sent.event);
}

// The place of the event's channel, which may be a new one.
std::size_t get_channel(Reader& in, Ranks& ranks, bool as_predicted) {
  std::size_t at = ranks.predicted();
  bool found = ranks.exists(at), valid = found || ranks.would_be_new(at);
  if (!as_predicted) {
    const std::uint64_t place = in.varint();
    found = place != 0;
    at = static_cast<std::size_t>(place - 1);
    valid = !found || ranks.exists(at);
  }
  if (!valid) in.fail();
  if (found && valid) return at;
  std::int32_t model_rank = 0;
  const Slot model = ranks.model(model_rank);
  Channel channel;
  pass_channel(in, ranks, model, model_rank, channel);
  return ranks.make(model, channel);
}

void get_event(Reader& in, Ranks& ranks, RankEvent& sent) {
  const auto header = static_cast<unsigned>(in.fixed(1));
  const std::size_t at = get_channel(in, ranks, header & 1);
  const Slot& s = ranks.slot(at);
  std::uint64_t step = s.step, concurrent = 0;
  if (!(header & 2)) {
    const std::uint64_t word = in.varint();
    step = unzigzag(word >> 1);
    if (word & 1) concurrent = in.varint();
    if (concurrent > record::concurrent_limit) return in.fail();
  }
  const Channel& c = s.channel;
  sent.rank = ranks.rank;
  sent.thread = c.thread;
  Event& e = sent.event;
  e.comm = c.comm, e.site = c.site, e.peer = c.peer, e.tag = c.tag, e.flags = c.flags;
  e.kind = c.kind, e.function = c.function;
  e.ordinal = record::make_ordinal((ranks.base_ordinal(s) + step) & record::number_mask, concurrent);
  e.bytes = header & 4 ? s.bytes : s.bytes + unzigzag(in.varint());
  const unsigned begin_bytes = header >> 3 & 7;
  e.begin = ranks.base_begin(s) + unzigzag(in.fixed(begin_bytes == 7 ? 8 : begin_bytes));
  e.end = e.begin + in.fixed(short_lengths.of[header >> 6]);
  ranks.used(at, e);
}

// Of each rank, in the order of their first sends: its sends as a chain of indices.
struct Chain {
  std::int32_t rank;
  std::uint32_t first, last, size;
};
std::vector<Chain> chains_of(const std::vector<RankEvent>& sends, std::vector<std::uint32_t>& next) {
  std::vector<Chain> chains;
  std::unordered_map<std::int32_t, std::uint32_t> chain_of;
  std::uint32_t current = 0;
  next.assign(sends.size(), 0);
  for (std::uint32_t i = 0; i < sends.size(); ++i) {
    const std::int32_t rank = sends[i].rank;
    if (chains.empty() || chains[current].rank != rank) {
      const auto [at, added] = chain_of.try_emplace(rank, static_cast<std::uint32_t>(chains.size()));
      current = at->second;
      if (added) {
        chains.push_back({rank, i, i, 1});
        continue;
      }
    }
    Chain& chain = chains[current];
    if (i == chain.first) continue;
    next[chain.last] = i;
    chain.last = i;
    ++chain.size;
  }
  return chains;
}

}  // namespace

void put_events(Writer& out, const std::vector<RankEvent>& sends) {
  std::vector<std::uint32_t> next;
  std::vector<Chain> chains = chains_of(sends, next);
  std::sort(chains.begin(), chains.end(), [](const Chain& a, const Chain& b) { return a.rank < b.rank; });
  out.varint(sends.size());
  out.varint(chains.size());
  Ranks ranks;
  Places places(sends.size());
  std::int32_t rank = 0;
  for (const Chain& chain : chains) {
    out.step(chain.rank, rank);
    out.varint(chain.size);
    ranks.start_rank(rank);
    for (std::uint32_t n = 0, i = chain.first; n < chain.size; ++n, i = next[i]) {
      put_event(out, ranks, places, sends[i]);
    }
  }
}

void get_events(Reader& in, std::vector<RankEvent>& sends) {
  const std::size_t total = in.count(least_event), chains = in.count(least_event);
  sends.clear();
  sends.reserve(total);
  Ranks ranks;
  std::int32_t rank = 0;
  for (std::size_t i = 0; i < chains && in.ok(); ++i) {
    std::int32_t of = 0;
    in.step(of, rank);
    const std::size_t size = in.count(least_event);
    if (size > total - sends.size()) return in.fail();
    ranks.start_rank(rank);
    for (std::size_t n = 0; n < size && in.ok(); ++n) get_event(in, ranks, sends.emplace_back());
  }
  if (sends.size() != total) in.fail();
}

}  // namespace pclscope::nodes::packing
