// Ranks whose computation others wait for: late senders, late receivers, unequal work, a rank that all collectives wait
// for.
#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/attribute/findings.hpp"
#include "analysis/attribute/gain.hpp"
#include "analysis/attribute/gradient.hpp"
#include "analysis/attribute/intervals.hpp"
#include "analysis/attribute/unequal.hpp"
#include "analysis/attribute/words.hpp"

namespace pclscope::attribute {
namespace {

constexpr double least_cost =
    0.02;  // of all ranks' time (in larger jobs: of ten ranks'), that a rank must cost in a slice
constexpr std::int32_t larger_job = 10;
constexpr double above_others = 3;     // times the median rank's cost
constexpr double of_the_worst = 0.15;  // ranks that cost less than that are not named
constexpr std::size_t most_suspects = 64;
constexpr double few_p2p = 0.1;          // of the cost: the rest is in collectives
constexpr double least_off_core = 0.05;  // of the time, to be told
constexpr double least_run_s = 4;        // a run that has hardly begun counts as so long
constexpr double few_events = 5;         // of equal cost; one may count as two or three
constexpr double believed_once = 0.8;
constexpr std::size_t fewest_in_row = 4;   // beside the last one
constexpr double explains_lateness = 0.5;  // of what one of the others waited

enum class Kind { direct, blocked, collective, one_sided, file };

struct Suspects {  // ranks that are active together, and for which others wait in the same way
  std::vector<std::int32_t> ranks;
  Kind kind = Kind::direct;
  std::vector<double> cost;  // per slice
  std::vector<char> active;
};

struct Sums {  // over an interval
  double caused = 0, direct = 0, blocked = 0, collective = 0, waited = 0, sent = 0, received = 0, squares = 0,
         off_core = 0, outside = 0, looked_at = 0;
  double one_sided = 0, file = 0;  // of collective
  double sent_bytes = 0, received_bytes = 0, partners = 0;

  void add(const RankShare& r) {
    caused += r.caused_s;
    direct += r.direct_s;
    blocked += r.blocked_s;
    collective += r.collective_s;
    one_sided += r.one_sided_s;
    file += r.file_s;
    waited += r.waited_s;
    squares += r.all_squares();
    off_core += r.off_core_s;
    outside += r.outside_s;
    looked_at += r.looked_at_s;
    sent += static_cast<double>(r.sent);
    received += static_cast<double>(r.received);
    sent_bytes += r.sent_bytes;
    received_bytes += r.received_bytes;
    partners = std::max(partners, static_cast<double>(r.partners));
  }
  // How many of equal cost its delays are worth.
  double events() const { return caused * caused / std::max(squares, 1e-18); }
  // Of the time, outside MPI; negative: not known.
  double computes() const { return looked_at > 0 ? outside / looked_at : -1; }
  // How others wait for it: for what they receive, with what they send, in collectives, windows or files.
  Kind kind() const {
    if (blocked >= 0.5 * (direct + blocked) && blocked >= 0.1 * caused) return Kind::blocked;
    if (one_sided > 0.5 * caused) return Kind::one_sided;
    if (file > 0.5 * caused) return Kind::file;
    return collective > 0.5 * caused ? Kind::collective : Kind::direct;
  }
};

bool is_active(const RankShare& r, const Slice& s, std::int32_t ranks) {
  return r.caused_s >= least_cost * s.seconds() * std::min(ranks, larger_job) &&
         r.caused_s >= above_others * s.typical_caused_s && r.caused_s > 0;
}

std::vector<Suspects> single_suspects(const Evidence& e) {
  std::map<std::int32_t, double> total;
  for (const Slice& s : e.slices)
    for (const RankShare& r : s.ranks)
      if (is_active(r, s, e.ranks)) total[r.rank] += r.caused_s;
  std::vector<std::pair<double, std::int32_t>> order;
  for (const auto& [rank, cost] : total) order.emplace_back(cost, rank);
  std::sort(order.begin(), order.end(),
            [](auto& a, auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  if (order.size() > most_suspects) order.resize(most_suspects);
  std::vector<Suspects> list;
  for (const auto& [cost, rank] : order) {
    Suspects& one = list.emplace_back();
    one.ranks = {rank};
    Sums sums;
    for (const Slice& s : e.slices) {
      const RankShare* r = s.share_of(rank);
      one.cost.push_back(r ? r->caused_s : 0);
      one.active.push_back(r && is_active(*r, s, e.ranks));
      if (one.active.back()) sums.add(*r);
    }
    one.kind = sums.kind();
  }
  return list;
}

// Suspects that act when the worst one does, in the same way, belong together.
std::vector<Suspects> together(const Evidence& e, std::vector<Suspects> singles) {
  std::vector<Suspects> groups;
  for (Suspects& one : singles) {
    double active = 0;
    for (std::size_t i = 0; i < one.cost.size(); ++i) active += one.active[i] ? one.cost[i] : 0;
    const auto joins = [&](const Suspects& group) {
      if (group.kind != one.kind) return false;
      double common = 0, common_s = 0, group_s = 0;
      for (std::size_t i = 0; i < one.cost.size(); ++i) {
        if (!group.active[i]) continue;
        group_s += e.slices[i].seconds();
        if (!one.active[i]) continue;
        common += one.cost[i];
        common_s += e.slices[i].seconds();
      }
      return common >= 0.5 * active && common_s >= 0.5 * std::max(group_s, 1e-9);
    };
    const auto group = std::find_if(groups.begin(), groups.end(), joins);
    if (group == groups.end()) {
      groups.push_back(std::move(one));
      continue;
    }
    group->ranks.push_back(one.ranks[0]);
    for (std::size_t i = 0; i < one.cost.size(); ++i) group->cost[i] += one.cost[i];
  }
  return groups;
}

std::map<std::int32_t, Sums> sums_in(const Evidence& e, const Interval& interval) {
  std::map<std::int32_t, Sums> sums;
  for (std::size_t i = interval.first; i <= interval.last; ++i)
    for (const RankShare& r : e.slices[i].ranks) sums[r.rank].add(r);
  return sums;
}

std::vector<Load> loads_of(const std::map<std::int32_t, Sums>& sums, bool bytes) {
  std::vector<Load> loads;
  for (const auto& [rank, s] : sums)
    loads.push_back({rank, bytes ? s.sent_bytes : s.sent, bytes ? s.received_bytes : s.received, s.partners, s.waited});
  return loads;
}

void classify(Finding& f, const Sums& own, const std::map<std::int32_t, Sums>& sums, std::int32_t ranks) {
  const double p2p = own.caused - own.collective;
  const std::string who = words::ranks(f.ranks);
  const std::string gain = gain_by_sums(f), computes = f.ranks.size() == 1 ? " computes" : " compute",
                    has = f.ranks.size() == 1 ? " has" : " have";
  if (have_more(loads_of(sums, false), f.ranks)) {
    f.cause = Cause::pattern;
    f.detail = "imbalance";
    f.advice = "Share the work more equally: " + who + has + " more messages and more to compute than others" + gain;
  } else if (have_more(loads_of(sums, true), f.ranks)) {
    f.cause = Cause::pattern;
    f.detail = "imbalance";
    f.advice = "Share the work more equally: " + who + has + " more bytes and more to compute than others" + gain;
  } else if (own.kind() == Kind::blocked) {
    f.cause = Cause::late_receiver;
    f.detail = "computation before the receive";
    f.advice =
        "Where the senders have other work, let them do it meanwhile (MPI_Isend with a later MPI_Wait; MPI_Irecv "
        "before the computation); else speed up what " +
        who + computes + " before the receive, or share that work" + gain;
  } else if (own.kind() == Kind::one_sided) {
    f.cause = Cause::one_sided_wait;
    f.detail = "same rank late";
    f.advice = "Speed up what " + who + computes +
               " before the window is synchronised or the lock given up, or share that work" + gain;
  } else if (p2p < few_p2p * own.caused && p2p < 0.5 * own.caused / std::max(ranks - 1, 1)) {
    f.cause = Cause::collective_wait;
    f.detail = own.file > 0.5 * own.caused ? "same rank late for files" : "same rank late";
    f.advice = "Speed up what " + who + computes + " before the collective, or share that work" + gain;
  } else {
    f.cause = Cause::late_sender;
    f.detail = "computation";
    f.advice = "Speed up what " + who + computes + " before this call, or share that work" + gain;
  }
}

// The group's ranks that matter, worst first.
std::vector<std::int32_t> worst_of(const Suspects& group, const std::map<std::int32_t, Sums>& sums) {
  std::vector<std::pair<double, std::int32_t>> order;
  for (const std::int32_t rank : group.ranks)
    if (const auto it = sums.find(rank); it != sums.end()) order.emplace_back(it->second.caused, rank);
  std::sort(order.begin(), order.end(),
            [](auto& a, auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  std::vector<std::int32_t> ranks;
  for (const auto& [cost, rank] : order)
    if (cost >= of_the_worst * order[0].first) ranks.push_back(rank);
  return ranks;
}

Sums sum_of(const std::map<std::int32_t, Sums>& sums, const std::vector<std::int32_t>& ranks) {
  Sums own;
  for (const std::int32_t rank : ranks) {
    const Sums& s = sums.at(rank);
    own.caused += s.caused;
    own.direct += s.direct;
    own.blocked += s.blocked;
    own.collective += s.collective;
    own.one_sided += s.one_sided;
    own.file += s.file;
    own.squares += s.squares;
  }
  return own;
}

// The place in the code, and the region of those who wait (when most of them are of one).
void set_place(Finding& f, const Evidence& e, const Interval& interval, double caused_s) {
  Majority<std::uint32_t> site;
  Majority<std::int32_t> felt{-1, 0};
  for (std::size_t i = interval.first; i <= interval.last; ++i)
    for (const std::int32_t rank : f.ranks)
      if (const RankShare* r = e.slices[i].share_of(rank)) {
        site.add(r->site.value, r->site.votes);
        felt.add(r->felt.value, r->felt.votes);
      }
  f.site = site.value;
  if (e.regions > 1 && felt.votes >= 0.6 * caused_s) f.region = felt.value;
}

// What one of those who waited lost most.
double most_waited(const Finding& f, const std::map<std::int32_t, Sums>& sums, const Sums& own) {
  double worst = 0;
  for (const auto& [rank, s] : sums)
    if (std::find(f.ranks.begin(), f.ranks.end(), rank) == f.ranks.end()) worst = std::max(worst, s.waited);
  return std::min(worst, own.caused);
}

// The scheduler, not the code: the named ranks were runnable but off their cores, for as long as matters.
void tell_off_core(Finding& f, const std::map<std::int32_t, Sums>& sums, const Interval& interval, double waited_s) {
  if (f.ranks.empty()) return;
  std::int32_t worst = f.ranks.front();
  for (const std::int32_t rank : f.ranks)
    if (sums.at(rank).off_core > sums.at(worst).off_core) worst = rank;
  const double off = sums.at(worst).off_core, share = off / std::max(interval.seconds(), 1e-9);
  if (share < least_off_core || off < 0.1 * waited_s) return;
  f.evidence.push_back("rank " + std::to_string(worst) + " was runnable but off its core " +
                       words::percent(std::min(share, 1.0)) + " of that time, outside MPI");
  if (off < explains_lateness * waited_s) return;
  if (f.cause == Cause::pattern) f.cause = Cause::late_sender;
  f.detail = "off the core";
  f.site = 0;  // it is not the code there
  f.advice = "See to it that " + words::ranks(f.ranks) + (f.ranks.size() == 1 ? " has its core" : " have their cores") +
             " (conditions of the run) before looking at the code: that explains most of this lateness.";
}

double run_seconds(const Evidence& e) {
  return static_cast<double>(e.slices.back().end_ns - e.slices.front().begin_ns) * 1e-9;
}

// `share`: of all waiting for computation (but for what goes back to other groups), that goes back to the group.
double confidence_of(const Finding& f, const Evidence& e, const Interval& interval,
                     const std::map<std::int32_t, Sums>& sums, const Sums& own, double share) {
  const double fair = std::min(0.9, static_cast<double>(f.ranks.size()) / e.ranks);
  const double concentration = (share - fair) / (1 - fair);
  const double felt_by_one = most_waited(f, sums, own) / std::max(interval.seconds(), 1e-9);
  const double cost = std::max(ramp(f.score, 0.01, 0.08), ramp(felt_by_one, 0.08, 0.34));
  const double stands_out = std::max(ramp(concentration, 0.25, 0.65), ramp(share / fair, 5, 20));
  // What happened once and cost much of the whole run is no chance of a moment: input read by one rank, a checkpoint.
  const double of_run = own.caused / (std::max(run_seconds(e), least_run_s) * e.threads);
  return 0.95 * std::min(stands_out, cost) *
         std::max(persistence(interval, own.events()), believed_once * ramp(of_run, 0.15, 0.25));
}

template <class Is>
std::vector<RankWait> waiting_beside(const std::map<std::int32_t, Sums>& sums, std::int32_t last, Is is_among) {
  std::vector<RankWait> waiting;
  for (const auto& [rank, s] : sums)
    if (rank != last && is_among(rank)) waiting.push_back({rank, s.waited});
  return waiting;
}

// Do these ranks wait by what each computes less than the last one? Ranks that are coupled loosely wait for it for
// different times, and compute the same.
bool is_row_of(const std::map<std::int32_t, Sums>& sums, std::int32_t last, const std::vector<RankWait>& waiting) {
  const double most = sums.at(last).computes();
  std::vector<RankWait> less;
  for (const RankWait& w : waiting)
    if (const double one = sums.at(w.rank).computes(); most >= 0 && one >= 0)
      less.push_back({w.rank, std::max(0.0, most - one)});
  return is_gradient(waiting) && (less.size() < waiting.size() || is_gradient(less));
}

// Over all ranks, and among those that the last one exchanges most with: others reach it later, and run ahead until
// then.
bool is_row(const Evidence& e, const std::map<std::int32_t, Sums>& sums, std::int32_t last) {
  if (!is_row_of(sums, last, waiting_beside(sums, last, [](std::int32_t) { return true; }))) return false;
  const auto region = [&](std::int32_t rank) {
    const auto r = static_cast<std::size_t>(rank);
    return r < e.region_of_rank.size() ? e.region_of_rank[r] : -1;
  };
  const std::vector<RankWait> near =
      waiting_beside(sums, last, [&](std::int32_t rank) { return region(rank) == region(last); });
  return region(last) < 0 || near.size() < fewest_in_row || is_row_of(sums, last, near);
}

// `others`: all groups. Ranks that others wait for in another way are another cause: what goes back to them is left out
// of what this one is compared with.
Finding finding_of(const Evidence& e, const std::vector<Suspects>& others, const Suspects& group,
                   const Interval& whole) {
  const std::map<std::int32_t, Sums> sums = sums_in(e, whole);
  Finding f;
  f.ranks = worst_of(group, sums);
  const Sums own = sum_of(sums, f.ranks);
  Interval interval = whole;
  interval.cost_s = own.caused;
  set_period(f, interval, e.slices, e.threads, e.finished);
  set_place(f, e, interval, own.caused);
  double attributed = 0, waits = 0;
  for (std::size_t i = interval.first; i <= interval.last; ++i) {
    attributed += e.slices[i].attributed_s;
    waits += e.slices[i].waits_s();
  }
  double elsewhere = 0;
  for (const Suspects& other : others)
    if (other.kind != group.kind)
      for (const std::int32_t rank : other.ranks)
        if (const auto it = sums.find(rank); it != sums.end()) elsewhere += it->second.caused;
  const double share = attributed > 0 ? own.caused / attributed : 0,
               of_this_kind =
                   attributed > 0 ? std::min(1.0, own.caused / std::max(attributed - elsewhere, own.caused)) : 0;
  f.confidence = confidence_of(f, e, interval, sums, own, of_this_kind);
  classify(f, own, sums, e.ranks);
  f.evidence = {"other ranks waited " + words::number(own.caused) + " rank-seconds because of what " +
                    words::ranks(f.ranks) + " computed: " + words::percent(f.score) + " of the time of all ranks",
                words::percent(share) + " of all waiting for computation goes back to there, and " +
                    words::percent(waits > 0 ? own.caused / waits : 0) + " of all waiting",
                "of it " + words::percent(own.caused > 0 ? own.collective / own.caused : 0) +
                    " in collectives, one-sided synchronisation and on files, " +
                    words::percent(own.caused > 0 ? own.blocked / own.caused : 0) + " of senders for the receive"};
  if (own.events() < few_events) f.evidence.push_back("it happened once or a few times: few delays cost most of it");
  if (f.cause != Cause::pattern && !f.ranks.empty() && is_row(e, sums, f.ranks.front()))
    tell_gradient(f, waiting_beside(sums, f.ranks.front(), [](std::int32_t) { return true; }));
  tell_off_core(f, sums, interval, most_waited(f, sums, own));
  return f;
}

}  // namespace

std::vector<Finding> find_guilty(const Evidence& e) {
  std::vector<Finding> findings;
  if (e.ranks < 2) return findings;
  const std::vector<Suspects> groups = together(e, single_suspects(e));
  for (const Suspects& group : groups)
    for (const Interval& interval : intervals_of(e.slices, group.cost, group.active))
      findings.push_back(finding_of(e, groups, group, interval));
  return findings;
}

}  // namespace pclscope::attribute
