// Steps of a phase. First each send gets its position: how many sends, of any rank, must come before it one after the
// other; collective operations count as sends. Then positions become steps: all sends of a position get the same one,
// the least that leaves room for the receives before them.
#include "analysis/logical/trace.hpp"

namespace pclscope::logical {

Stepper::Stepper(LogicalTime& time, std::vector<std::uint32_t>& next_step)
    : time_(time), ranks_(time.first.size() - 1), operations_(time.first_member.size()), next_step_(next_step) {}

void Stepper::add_phase(std::span<const Part> parts) {
  for (const Part& p : parts) {
    ranks_[at(p.rank)] = {p.first, p.end, 0, 0, false};
    ready_.push_back(p.rank);
  }
  members_.clear();
  for (const Part& p : parts) members_.push_back(p.rank);
  order();
  list_sends(parts);
  Phase phase;
  phase.steps = number_steps(parts);
  for (const Part& p : parts) phase.first_step = std::max(phase.first_step, next_step_[at(p.rank)]);
  phase.first_part = static_cast<std::uint32_t>(time_.parts.size());
  phase.parts = static_cast<std::uint32_t>(parts.size());
  phase.first_row = static_cast<std::uint32_t>(time_.earliest.size());
  time_.parts.insert(time_.parts.end(), parts.begin(), parts.end());
  time_.earliest.resize(time_.earliest.size() + phase.steps);
  for (const Part& p : parts) {
    next_step_[at(p.rank)] = phase.first_step + phase.steps;
    for (std::uint32_t i = p.first; i < p.end; ++i) {
      Event& e = time_.events[i];
      Earliest& earliest = time_.earliest[phase.first_row + e.step];
      earliest.begin = std::min(earliest.begin, e.begin);
      earliest.end = std::min(earliest.end, e.end);
      e.step += phase.first_step;
      phase.incomplete = phase.incomplete || e.unpaired || e.contradicts;
    }
  }
  time_.phases.push_back(phase);
}

// Each rank goes on until it needs what another one has not done yet.
void Stepper::order() {
  do {
    while (!ready_.empty()) {
      const std::int32_t rank = ready_.back();
      ready_.pop_back();
      run(rank);
    }
  } while (release_one());
}

void Stepper::run(std::int32_t rank) {
  RankState& r = ranks_[at(rank)];
  for (; r.at < r.end; ++r.at, r.partner = 0) {
    Event& e = time_.events[r.at];
    if (e.kind == Kind::send) pass_send(rank, e);
    else if (e.kind == Kind::receive ? !pass_receive(rank, e) : !pass_collective(rank, e)) return;
  }
}

void Stepper::pass_send(std::int32_t rank, Event& e) {
  e.step = ranks_[at(rank)].level++;
  for (const std::uint32_t receive : time_.partners_of(e)) {
    RankState& other = ranks_[at(time_.rank_of[receive])];
    if (!other.waits || other.at != receive) continue;
    other.waits = false;
    ready_.push_back(time_.rank_of[receive]);
  }
}

bool Stepper::pass_receive(std::int32_t rank, Event& e) {
  RankState& r = ranks_[at(rank)];
  if (e.contradicts) return true;
  const std::span<const std::uint32_t> partners = time_.partners_of(e);
  for (; r.partner < partners.size(); ++r.partner) {
    const Event& send = time_.events[partners[r.partner]];
    if (send.step == none) {
      r.waits = true;
      return false;
    }
    r.level = std::max(r.level, send.step + 1);
  }
  return true;
}

bool Stepper::pass_collective(std::int32_t rank, const Event& e) {
  Operation& operation = operations_[e.partner];
  RankState& r = ranks_[at(rank)];
  if (operation.dissolved) {
    time_.events[r.at].step = r.level++;
    return true;
  }
  operation.level = std::max(operation.level, r.level);
  const std::span<const std::uint32_t> members = time_.members_of(e.partner);
  if (++operation.arrived < members.size()) return false;
  for (const std::uint32_t member : members) {
    time_.events[member].step = operation.level;
    RankState& other = ranks_[at(time_.rank_of[member])];
    other.level = operation.level + 1;
    if (&other == &r) continue;
    ++other.at, other.partner = 0;
    ready_.push_back(time_.rank_of[member]);
  }
  return true;
}

// When nobody can go on: a member of a collective left before another one came, as MPI allows, and what it did then
// came first there. That operation's members get steps of their own. Where there is none the times contradict each
// other, and a receive goes on without its sends. The earliest of them; false when all ranks are through.
bool Stepper::release_one() {
  std::int32_t chosen = -1;
  const auto before = [&](std::int32_t a, std::int32_t b) {
    const Event &x = time_.events[ranks_[at(a)].at], &y = time_.events[ranks_[at(b)].at];
    if ((x.kind == Kind::collective) != (y.kind == Kind::collective)) return x.kind == Kind::collective;
    return x.end != y.end ? x.end < y.end : a < b;
  };
  for (const std::int32_t rank : members_) {
    if (ranks_[at(rank)].at == ranks_[at(rank)].end) continue;
    if (chosen < 0 || before(rank, chosen)) chosen = rank;
  }
  if (chosen < 0) return false;
  Event& e = time_.events[ranks_[at(chosen)].at];
  if (e.kind == Kind::receive) {
    e.contradicts = 1;
    ranks_[at(chosen)].waits = false;
    ready_.push_back(chosen);
    return true;
  }
  operations_[e.partner].dissolved = true;
  for (const std::uint32_t member : time_.members_of(e.partner)) {
    time_.events[member].apart = 1;
    const std::int32_t rank = time_.rank_of[member];
    if (ranks_[at(rank)].at == member) ready_.push_back(rank);
  }
  return true;
}

// Sends and members of collectives of the phase, by position.
void Stepper::list_sends(std::span<const Part> parts) {
  first_send_.clear();
  const auto each = [&](auto use) {
    for (const Part& p : parts)
      for (std::uint32_t i = p.first; i < p.end; ++i)
        if (time_.events[i].kind != Kind::receive) use(i, time_.events[i].step);
  };
  each([&](std::uint32_t, std::uint32_t position) {
    if (position + 2 > first_send_.size()) first_send_.resize(position + 2);
    ++first_send_[position + 1];
  });
  std::partial_sum(first_send_.begin(), first_send_.end(), first_send_.begin());
  if (first_send_.empty()) first_send_.push_back(0);
  sends_.resize(first_send_.back());
  std::vector<std::uint32_t> next(first_send_.begin(), first_send_.end() - 1);
  each([&](std::uint32_t event, std::uint32_t position) { sends_[next[position]++] = event; });
}

// The receives of the rank before `event`; RankState::level is its next step from now on.
void Stepper::receive_until(std::int32_t rank, std::uint32_t event) {
  RankState& r = ranks_[at(rank)];
  for (; r.at < event; ++r.at) {
    Event& e = time_.events[r.at];
    if (!e.contradicts)
      for (const std::uint32_t send : time_.partners_of(e)) r.level = std::max(r.level, time_.events[send].step + 1);
    e.step = r.level++;
  }
}

std::uint32_t Stepper::number_steps(std::span<const Part> parts) {
  for (const Part& p : parts) ranks_[at(p.rank)] = {p.first, p.end, 0, 0, false};
  std::uint32_t step = 0;  // the next position's, at least
  for (std::size_t position = 0; position + 1 < first_send_.size(); ++position) {
    const auto sends =
        std::span(sends_).subspan(first_send_[position], first_send_[position + 1] - first_send_[position]);
    for (const std::uint32_t event : sends) {
      const std::int32_t rank = time_.rank_of[event];
      receive_until(rank, event);
      step = std::max(step, ranks_[at(rank)].level);
    }
    for (const std::uint32_t event : sends) {
      RankState& r = ranks_[at(time_.rank_of[event])];
      time_.events[event].step = step;
      r.at = event + 1;
      r.level = step + 1;
    }
    ++step;
  }
  std::uint32_t steps = 0;
  for (const Part& p : parts) {
    receive_until(p.rank, p.end);
    steps = std::max(steps, ranks_[at(p.rank)].level);
  }
  return steps;
}

}  // namespace pclscope::logical
