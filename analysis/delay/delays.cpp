#include "analysis/delay/delays.hpp"

#include <algorithm>

#include "interpose/record/event.hpp"

namespace pclscope {
namespace {

constexpr double least_share = 0.01;  // smaller parts are counted, but not passed on
constexpr std::size_t ahead = 12;     // messages that are asked for before their turn: they lie anywhere

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::size_t look_back_for(std::size_t asked, std::int32_t ranks) {
  if (asked > 0) return std::max<std::size_t>(asked, 8);
  return std::clamp<std::size_t>((std::size_t{1} << 22) / static_cast<std::size_t>(std::max(ranks, 1)), 64, 256);
}

std::int64_t time_of(const Message& m) {
  const std::int64_t time = m.flags & message_flag::unseen_completion ? m.recv_post : m.recv_end;
  return CallsOfRanks::cut(time);
}
// All members together: the wait and the call that ended it.
std::int64_t time_of(const CollectiveCall& c) {
  const std::int64_t time = c.awaited < 0 ? c.begin : std::clamp(c.awaited_begin, c.begin, std::max(c.begin, c.end));
  return CallsOfRanks::cut(time);
}

void prefetch(const Message& m) {
  const char* const at = reinterpret_cast<const char*>(&m);
  __builtin_prefetch(at);
  __builtin_prefetch(at + 64);
  __builtin_prefetch(at + sizeof m - 1);
}

// Moves those that completed by `until` to `due`.
template <class T>
void split(std::vector<T>& pending, std::int64_t until, std::vector<T>& due) {
  const auto stay = std::partition(pending.begin(), pending.end(), [=](const T& t) { return time_of(t) > until; });
  due.assign(stay, pending.end());
  pending.erase(stay, pending.end());
}

}  // namespace

Delays::Delays(std::int32_t ranks, DelayOptions options)
    : options_(std::move(options)),
      chunk_(std::clamp<std::size_t>(8 * static_cast<std::size_t>(std::max(ranks, 0)), 1u << 12, 1u << 17)),
      calls_(ranks),
      origins_(ranks),
      off_core_(ranks),
      blames_(1) {
  options_.look_back = look_back_for(options_.look_back, ranks);
  if (options_.ranks.empty()) return;
  counted_.resize(static_cast<std::size_t>(std::max(ranks, 0)));
  for (const std::int32_t rank : options_.ranks)
    if (rank >= 0 && rank < ranks) counted_[static_cast<std::size_t>(rank)] = true;
}

void Delays::add(std::span<const Message> messages, std::span<const CollectiveCall> collectives,
                 std::int64_t until_ns) {
  if (pending_.size() >= most_pending || pending_collectives_.size() >= most_pending) finish();
  const std::int64_t newest = order(messages, collectives);
  if (pending_.empty() && pending_collectives_.empty() && newest <= until_ns) return take(messages, collectives);
  pending_.insert(pending_.end(), messages.begin(), messages.end());
  pending_collectives_.insert(pending_collectives_.end(), collectives.begin(), collectives.end());
  std::vector<Message> due;
  std::vector<CollectiveCall> collectives_due;
  split(pending_, until_ns, due);
  split(pending_collectives_, until_ns, collectives_due);
  order(due, collectives_due);
  take(due, collectives_due);
}

void Delays::finish() {
  order(pending_, pending_collectives_);
  take(pending_, pending_collectives_);
  pending_ = {};
  pending_collectives_ = {};
  follow_until(INT64_MAX);
}

void Delays::leave_out(std::uint64_t messages) {
  totals_.messages_left_out += messages;
  finish();
  calls_.clear([this](std::uint32_t blame) { free_blames_.push_back(blame); });
}

std::int64_t Delays::order(std::span<const Message> messages, std::span<const CollectiveCall> collectives) {
  return std::max(order_.sort(messages.size(), [&](std::size_t i) { return time_of(messages[i]); }),
                  collective_order_.sort(collectives.size(), [&](std::size_t i) { return time_of(collectives[i]); }));
}

// In chunks, so that few calls per rank are held beyond the look-back.
void Delays::take(std::span<const Message> messages, std::span<const CollectiveCall> collectives) {
  std::size_t message = 0, collective = 0, in_chunk = 0;
  std::int64_t newest = INT64_MIN;
  while (message < messages.size() || collective < collectives.size()) {
    const std::int64_t next = message < messages.size() ? order_[message].time : INT64_MAX;
    const std::int64_t next_collective =
        collective < collectives.size() ? collective_order_[collective].time : INT64_MAX;
    if (in_chunk >= chunk_ && (std::min(next, next_collective) > newest || in_chunk >= 4 * chunk_)) {
      follow_chunk(newest);
      in_chunk = 0;
    }
    if (message + ahead < messages.size()) prefetch(messages[order_[message + ahead].index]);
    const bool taken = next <= next_collective ? take(messages[order_[message++].index])
                                               : take(collectives[collective_order_[collective++].index]);
    newest = std::max(newest, std::min(next, next_collective));
    refused_ += !taken;
    ++in_chunk;
  }
  if (in_chunk > 0) follow_chunk(newest);
}

bool Delays::take(const Message& m) {
  if (!calls_.add(m)) return false;
  if (listener_ != nullptr && m.flags & record::flag::first_come) first_come_.came(m.destination, m.source);
  return true;
}

bool Delays::take(const CollectiveCall& c) {
  if (!calls_.add(c)) return false;
  const bool known = c.awaited >= 0 && static_cast<std::size_t>(c.awaited) < calls_.ranks().size();
  if (listener_ != nullptr && known && CallsOfRanks::of_any_source(c)) first_come_.came(c.rank, c.awaited);
  return true;
}

// Waits that ended in earlier chunks.
void Delays::follow_chunk(std::int64_t newest_ns) {
  calls_.settle(options_.least_wait_ns, &waits_);
  follow_until(waits_.size() > most_pending ? INT64_MAX : newest_ns_);
  calls_.forget(newest_ns_, options_.look_back, [this](std::uint32_t index) {
    free_blames_.push_back(index);
    const Blames& blames = blames_[index];
    return std::span<const Blame>(blames.blame.data(), blames.count);
  });
  newest_ns_ = std::max(newest_ns_, newest_ns);
}

void Delays::follow_until(std::int64_t horizon) {
  due_.clear();
  for (std::uint32_t i = 0; i < waits_.size(); ++i)
    if (waits_[i].call.wait_end <= horizon) due_.push_back({waits_[i].call.wait_end, waits_[i].rank, i});
  // Causes before what they caused.
  std::sort(due_.begin(), due_.end(), [](const Due& a, const Due& b) {
    return a.wait_end != b.wait_end ? a.wait_end < b.wait_end : a.rank != b.rank ? a.rank < b.rank : a.wait < b.wait;
  });
  for (const Due& due : due_) follow(waits_[due.wait]);
  std::erase_if(waits_, [=](const CallsOfRanks::Wait& w) { return w.call.wait_end <= horizon; });
}

void Delays::follow(const CallsOfRanks::Wait& wait) {
  RankCall* call = calls_.find(wait);
  if (call == nullptr || call->followed) return;
  call->followed = true;
  make_room();
  const Lateness lateness{call->peer, wait.rank, call->wait_end, call->begin, options_.look_back};
  sum_up(lateness);
  charge(*call, lateness);
  remember(*call);
}

// Fills sum_: what the late rank waited and computed in excess.
void Delays::sum_up(const Lateness& lateness) {
  sum_.clear();
  const InStep since = last_in_step(calls_, lateness);
  excess_.compare(calls_, lateness, since);
  const OffShares off = off_shares(lateness, since);
  if (excess_.wait_excess() > 0) sum_up_waits(lateness);
  const double least_excess = std::max(1.0, static_cast<double>(lateness.wait()) / 256);
  for (const Excess::Phase& s : excess_.phases()) {
    const auto excess = static_cast<double>(s.excess());
    if (excess < least_excess) continue;  // of all visits of the phase
    const std::uint32_t row = origins_.row(lateness.late, s.site, s.after_site);
    sum_.add({row, 0, 2 * s.longest_ns < s.late_ns ? several_visits : s.visit_ns}, excess);
    const double with_cores =
        static_cast<double>(s.late_ns) * (1 - off.late) - static_cast<double>(s.waiting_ns) * (1 - off.waiting);
    origins_.note_excess(row, excess, excess - std::clamp(with_cores, 0.0, excess));
  }
  sum_.add({BlameSum::inside_mpi, 0, 0}, static_cast<double>(excess_.inside_excess()));
  sum_.shave(static_cast<double>(lateness.wait()));
}

// How much of a phase's excess would not be, had both ranks had their cores: time off the core goes by its share of all
// computation of the rank since both were in step.
Delays::OffShares Delays::off_shares(const Lateness& lateness, const InStep& since) const {
  OffShares shares;
  const double late_off = since.found ? off_core_.in(lateness.late, since.late_ns, lateness.late_ns) : 0;
  if (late_off <= 0) return shares;
  double late = 0, waiting = 0;
  for (const Excess::Phase& s : excess_.phases()) {
    late += static_cast<double>(s.late_ns);
    waiting += static_cast<double>(s.waiting_ns);
  }
  const double waiting_off = off_core_.in(lateness.waiting, since.waiting_ns, lateness.waiting_ns);
  if (late > 0) shares.late = std::min(1.0, late_off / late);
  if (waiting > 0) shares.waiting = std::min(1.0, waiting_off / waiting);
  return shares;
}

// The late rank's waits, without what the waiting rank waited for itself, and without what that one had caused itself:
// its own time in that computation stands against it.
void Delays::sum_up_waits(const Lateness& lateness) {
  const auto parts_of = [this](std::int32_t rank, const Excess::Waited& w, auto&& take) {
    if (w.of_history) return parts_of_history(rank, w, take);
    const Blames& blames = blames_[calls_.ranks()[static_cast<std::size_t>(rank)].calls[w.call].blame];
    double known = 0;
    for (std::uint32_t i = 0; i < blames.count; ++i) {
      take(blames.blame[i], static_cast<double>(w.ns) * static_cast<double>(blames.blame[i].share));
      known += static_cast<double>(blames.blame[i].share);
    }
    take(Blame{BlameSum::unknown, 0, 0}, static_cast<double>(w.ns) * std::max(0.0, 1 - known));
  };
  const std::int64_t negligible = lateness.wait() / 4096;
  for (const Excess::Waited& w : excess_.waits_of_late())
    if (w.ns >= negligible) parts_of(lateness.late, w, [this](const Blame& blame, double ns) { sum_.add(blame, ns); });
  for (const Excess::Waited& w : excess_.waits_of_waiting())
    if (w.ns >= negligible)
      parts_of(lateness.waiting, w, [&](const Blame& blame, double ns) { sum_.subtract(blame, ns, w.of_history); });
  sum_.drop_if([&](const Blame& blame) { return origins_.rank_of(blame.origin) == lateness.waiting; });
  sum_.limit(static_cast<double>(excess_.wait_excess()));
}

// Of a stretch of the rank's history.
template <class Take>
void Delays::parts_of_history(std::int32_t rank, const Excess::Waited& w, Take& take) const {
  const Stretch& s = calls_.ranks()[static_cast<std::size_t>(rank)].history.stretches()[w.call];
  const double scale = static_cast<double>(w.ns) / static_cast<double>(s.waited_ns);
  double known = 0;
  for (const Stretch::Part& part : s.parts) {
    if (!(part.ns > 0)) break;
    take(part.blame, part.ns * scale);
    known += part.ns * scale;
  }
  take(Blame{BlameSum::unknown, 0, 0}, std::max(0.0, static_cast<double>(w.ns) - known));
}

void Delays::charge(const RankCall& call, const Lateness& lateness) {
  if (call.wait_end < options_.from_ns || call.wait_end >= options_.to_ns) return;
  const bool of_counted = counts(lateness.waiting);
  const Origins::Wait wait{lateness.waiting, call.begin, call.wait_end, call.peer,
                           call.kind == RankCall::Kind::collective};
  if (listener_ != nullptr) report(call, lateness);
  for (const BlameSum::Part& p : sum_.parts()) {
    const bool special = BlameSum::is_special(p);
    if (!special && (of_counted || counts(origins_.rank_of(p.blame.origin)))) origins_.charge(p.blame, wait, p.ns);
    if (!of_counted) continue;
    (!special                                 ? totals_.attributed_s
     : p.blame.origin == BlameSum::inside_mpi ? totals_.inside_mpi_s
                                              : totals_.unknown_s) += p.ns * 1e-9;
  }
  if (!of_counted) return;
  ++totals_.waits;
  totals_.waited_s += seconds(call.wait());
}

void Delays::report(const RankCall& call, const Lateness& lateness) {
  DelayListener::Wait told{lateness.waiting, call.peer,  call.of_send ? RankCall::Kind::send : call.kind,
                           call.group,       call.begin, call.wait_end};
  std::span<const FirstCome::Candidate> others;
  if (call.first_come) others = first_come_.others(calls_, lateness.waiting, call);
  for (const FirstCome::Candidate& c : others) told.others += c.share;
  listener_->waited(told);
  double sum = 0;
  for (const BlameSum::Part& p : sum_.parts()) {
    const std::int32_t rank = !BlameSum::is_special(p)                 ? origins_.rank_of(p.blame.origin)
                              : p.blame.origin == BlameSum::inside_mpi ? DelayListener::inside_mpi
                                                                       : DelayListener::unknown;
    listener_->goes_back(told, rank, rank < 0 ? 0 : origins_.site_of(p.blame.origin), p.blame.visit_ns,
                         p.ns * (1 - told.others));
    sum += p.ns;
  }
  for (const FirstCome::Candidate& c : others) listener_->goes_back(told, c.rank, c.site, call.wait_end, sum * c.share);
}

void Delays::remember(RankCall& call) {
  const auto passed_on = [](const BlameSum::Part& p) {
    return !BlameSum::is_special(p) && static_cast<double>(p.blame.share) >= least_share;
  };
  if (std::none_of(sum_.parts().begin(), sum_.parts().end(), passed_on)) return;
  if (free_blames_.empty()) {
    call.blame = static_cast<std::uint32_t>(blames_.size());
    blames_.emplace_back();
  } else {
    call.blame = free_blames_.back();
    free_blames_.pop_back();
  }
  Blames& blames = blames_[call.blame];
  std::uint32_t count = 0;
  for (const BlameSum::Part& p : sum_.parts())
    if (passed_on(p) && count < most_blames) blames.blame[count++] = p.blame;
  blames.count = count;
}

void Delays::make_room() {
  const std::vector<std::uint32_t> now_at = origins_.make_room(options_.look_back + 1);
  if (now_at.empty()) return;
  for (Blames& blames : blames_)  // free ones too: they hold rows that exist
    for (std::uint32_t i = 0; i < blames.count; ++i) blames.blame[i].origin = now_at[blames.blame[i].origin];
  calls_.renumber(now_at);
}

}  // namespace pclscope
