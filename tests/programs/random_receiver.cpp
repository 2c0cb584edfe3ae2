#include "random_receiver.hpp"

#include <algorithm>

namespace chaos {

void Receiver::begin(const Round& round) {
  round_ = &round;
  expected_ = Expected(context_.plan.live().size(), context_.size, tags * context_.options.threads);
  for (const Planned& m : round.messages)
    if (m.destination == context_.rank && m.slot != round.prepared && context_.recipe(m.slot).owner != raced)
      expected_.add(m.slot, m.source, m.tag);
  for (std::size_t slot = 0; slot < context_.plan.live().size(); ++slot)
    if (context_.plan.live()[slot].owner == raced) {
      // The same in all rounds and threads, or their receives would not be interchangeable.
      const auto mode = static_cast<int>(mix(context_.options.seed + static_cast<std::uint64_t>(context_.rank)) % 4);
      raced_ = patterns(round, static_cast<int>(slot), mode);
    }
  if (round.prepared >= 0) post_prepared(round);
}

// One pattern per message to us on this slot. Each message fits exactly as many of them as there are messages that fit
// the same, so whichever receive takes it, all find one.
std::vector<Pattern> Receiver::patterns(const Round& round, int slot, int mode) const {
  std::vector<Pattern> list;
  for (const Planned& m : round.messages)
    if (m.destination == context_.rank && m.slot == slot)
      list.push_back({slot, mode & 1 ? -1 : m.source, mode & 2 ? -1 : m.tag});
  return list;
}

void Receiver::post_prepared(const Round& round) {
  std::vector<Pattern> list = patterns(round, round.prepared, context_.below(4));
  for (std::size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1], list[static_cast<std::size_t>(context_.below(i))]);
  for (const Pattern& pattern : list) post(pattern, Operation::Kind::late_receive, false);
  start_group();
}

void Receiver::while_sending() {
  Pattern pattern;
  switch (context_.below(6)) {
    case 0:
    case 1:
      if (draw(pattern)) post(pattern, Operation::Kind::free_receive, false);
      start_group();
      break;
    case 2: complete(false, true); break;
    case 3:
      if (raced_.empty()) break;
      post(raced_.back(), Operation::Kind::free_receive, true);
      raced_.pop_back();
      start_group();
      break;
    case 4: look_at_freed(); break;
    default: break;
  }
}

void Receiver::finish() {
  while (expected_.total() > 0 || !raced_.empty()) step();
  while (!context_.operations.all().empty() || !freed_.empty()) {
    complete(freed_.empty(), true);
    look_at_freed();
  }
}

void Receiver::step() {
  Pattern pattern;
  if (context_.below(3) == 0) complete(context_.below(2) == 0, false);
  look_at_freed();
  if (context_.below(16) == 0) cancel_one();
  if (context_.below(16) == 0) free_one();
  if (!raced_.empty() && context_.below(3) == 0) {
    pattern = raced_.back();
    raced_.pop_back();
    receive(pattern, true);
  } else if (draw(pattern)) {
    receive(pattern, false);
  } else if (expected_.total() > 0) {
    complete(true, false);  // every message left is spoken for
  }
}

void Receiver::receive(const Pattern& pattern, bool raced) {
  switch (context_.below(8)) {
    case 0:
    case 1:
      if (!raced) return receive_now(pattern);
      break;
    case 2:
    case 3:
      if (!raced) return probe_then_receive(pattern, context_.below(2) == 0);
      break;
    case 4:
    case 5:
      if (context_.matched_probes()) return matched_probe(pattern, context_.below(2) == 0, raced);
      break;
    default: break;
  }
  if (raced && context_.below(2) == 0) return receive_now(pattern);
  post(pattern, Operation::Kind::free_receive, raced);
  start_group();
}

bool Receiver::shared_slot(int slot) const {
  return context_.recipe(slot).owner == shared && context_.options.threads > 1;
}

std::size_t Receiver::free_receives() const {
  std::size_t n = freed_.size();
  for (const Operation& o : context_.operations.all()) n += o.kind == Operation::Kind::free_receive && !o.raced ? 1 : 0;
  return n;
}

// A random pattern that fits some message still to come, if it is safe to wait for it.
bool Receiver::draw(Pattern& pattern) {
  if (expected_.total() == 0 || free_receives() >= 16) return false;
  for (int attempt = 0; attempt < 40; ++attempt) {
    const int slot = context_.below(context_.plan.live().size()),
              source = context_.below(static_cast<std::size_t>(context_.size));
    const int tag = context_.below(static_cast<std::size_t>(expected_.all_tags()));
    if (expected_.left(slot, source, tag) == 0) continue;
    const int kind = context_.below(5);  // wild in nothing, source, tag, both, both
    pattern = {slot, kind == 1 || kind >= 3 ? -1 : source, kind >= 2 && !shared_slot(slot) ? -1 : tag};
    if (possible(pattern)) return true;
  }
  return false;
}

// True if, with one more receive, each waiting receive still has a channel with at least as many messages left as
// there are receives that could take one from it. Then none can starve: if all messages of that channel had arrived and
// the receive had none, the others would have taken all of them, but they are too few.
bool Receiver::possible(const Pattern& more) const {
  if (!sure(more, more)) return false;
  for (const Operation& o : context_.operations.all())
    if (o.kind == Operation::Kind::free_receive && o.pattern.slot == more.slot && !sure(o.pattern, more)) return false;
  for (const Operation& o : freed_)
    if (o.pattern.slot == more.slot && !sure(o.pattern, more)) return false;
  return true;
}

bool Receiver::sure(const Pattern& pattern, const Pattern& more) const {
  for (int source = 0; source < context_.size; ++source)
    for (int tag = 0; tag < expected_.all_tags(); ++tag) {
      const int left = expected_.left(pattern.slot, source, tag);
      if (left == 0 || !pattern.fits(pattern.slot, source, tag)) continue;
      if (claims(more, pattern.slot, source, tag) <= left) return true;
    }
  return false;
}

int Receiver::claims(const Pattern& more, int slot, int source, int tag) const {
  int number = more.fits(slot, source, tag) ? 1 : 0;
  for (const Operation& o : context_.operations.all())
    number += o.kind == Operation::Kind::free_receive && o.pattern.fits(slot, source, tag) ? 1 : 0;
  for (const Operation& o : freed_) number += o.pattern.fits(slot, source, tag) ? 1 : 0;
  return number;
}

}  // namespace chaos
