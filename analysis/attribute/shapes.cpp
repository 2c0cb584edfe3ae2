// Shapes of communication that cost time by themselves: many to one, chains, collectives that somebody is always late
// for.
#include <algorithm>
#include <map>

#include "analysis/attribute/findings.hpp"
#include "analysis/attribute/intervals.hpp"
#include "analysis/attribute/words.hpp"

namespace pclscope::attribute {
namespace {

constexpr double mostly_computed = 0.5;  // of what waits for a hub
constexpr double least_share = 0.02;     // of all ranks' time
constexpr std::size_t most_hubs = 16;
constexpr std::uint32_t fewest_senders = 3;  // two ranks that talk to each other have no hub
constexpr double next_to_hub = 0.7;          // of its messages: who has more is its partner, or another hub
constexpr double chain_waits = 0.35;         // of all waits, along chains
constexpr double chain_share = 0.45;         // of all ranks' time, waits
constexpr double collective_share = 0.03;
constexpr double one_rank = 0.6;  // of the cost goes back to one rank: it is not everybody

// A hub takes part in that share of all messages: twice what is fair, at most 70 %.
double hub_share(std::int32_t ranks) { return std::max(0.3, std::min(0.7, 4.0 / std::max(ranks, 1))); }

double hub_part(const Slice& s) {
  return s.messages() == 0 ? 0 : static_cast<double>(s.hub_messages) / static_cast<double>(s.messages());
}

bool stands_alone(const Slice& s) {
  double most = 0, next = 0;
  for (const RankShare& r : s.ranks) {
    double& among = r.rank == s.hub ? most : next;
    among = std::max(among, static_cast<double>(r.messages()));
  }
  return next <= next_to_hub * most;
}

struct Series {
  std::vector<double> cost;
  std::vector<char> active;
  explicit Series(std::size_t n) : cost(n), active(n) {}
};

}  // namespace

namespace {

// What waits for the hub cost, slice by slice.
Series cost_of_hub(const Evidence& e, std::int32_t hub) {
  Series series(e.slices.size());
  for (std::size_t i = 0; i < e.slices.size(); ++i) {
    const Slice& s = e.slices[i];
    const RankShare* r = s.share_of(hub);
    if (r == nullptr || s.hub != hub || hub_part(s) < hub_share(e.ranks)) continue;
    if (2 * static_cast<std::int64_t>(s.senders) < e.ranks || s.senders < fewest_senders || !stands_alone(s)) continue;
    series.cost[i] = std::max(r->awaited_s, r->caused_s);
    series.active[i] =
        series.cost[i] >= least_share * s.seconds() * e.threads && r->awaited_s >= 0.4 * (s.wait_s + s.blocked_s);
  }
  return series;
}

Finding many_to_one(const Evidence& e, std::int32_t hub, const Interval& interval) {
  Finding f;
  f.cause = Cause::pattern;
  f.detail = "many to one";
  f.ranks = {hub};
  set_period(f, interval, e.slices, e.threads, e.finished);
  double messages = 0, of_hub = 0, awaited = 0, caused = 0, p2p = 0;
  Majority<std::uint32_t> site;
  for (std::size_t i = interval.first; i <= interval.last; ++i) {
    const Slice& s = e.slices[i];
    messages += static_cast<double>(s.messages());
    p2p += s.wait_s + s.blocked_s;
    if (const RankShare* r = s.share_of(hub)) {
      of_hub += static_cast<double>(r->messages());
      awaited += r->awaited_s;
      caused += r->caused_s;
      site.add(r->site.value, r->site.votes);
    }
  }
  f.site = site.value;
  const double part = messages > 0 ? of_hub / messages : 0, share = p2p > 0 ? awaited / p2p : 0;
  f.confidence = 0.95 * std::min(ramp(share, 0.3, 0.7), ramp(f.score, 0.01, 0.08)) * persistence(interval);
  f.evidence = {words::percent(part) + " of all messages are sent to or by rank " + std::to_string(hub) +
                    " (a fair share: " + words::percent(2.0 / e.ranks) + ")",
                words::percent(share) +
                    " of all waiting in sends and receives is for that rank: " + words::number(interval.cost_s) +
                    " rank-seconds, " + words::percent(f.score) + " of the time of all ranks"};
  f.advice = "Let several ranks share what rank " + std::to_string(hub) +
             " receives (a tree, MPI_Reduce or MPI_Gather), or let it take messages in the order in which they come.";
  const double computed = std::min(1.0, caused / std::max(interval.cost_s, 1e-9));
  if (computed >= mostly_computed) {  // it is not the order: it works on each
    f.evidence.push_back(words::percent(computed) + " of that goes back to what rank " + std::to_string(hub) +
                         " computes between its messages");
    f.advice =
        "Speed up what rank " + std::to_string(hub) +
        " does for each message, or let several ranks share what it receives (a tree, MPI_Reduce or MPI_Gather).";
  }
  return f;
}

}  // namespace

std::vector<Finding> find_hubs(const Evidence& e) {
  std::vector<Finding> findings;
  if (e.ranks < 4) return findings;
  std::vector<std::int32_t> hubs;
  for (const Slice& s : e.slices)
    if (s.hub >= 0 && hub_part(s) >= hub_share(e.ranks) && std::find(hubs.begin(), hubs.end(), s.hub) == hubs.end() &&
        hubs.size() < most_hubs)
      hubs.push_back(s.hub);
  for (const std::int32_t hub : hubs) {
    const Series series = cost_of_hub(e, hub);
    for (const Interval& interval : intervals_of(e.slices, series.cost, series.active))
      findings.push_back(many_to_one(e, hub, interval));
  }
  return findings;
}

std::vector<Finding> find_chains(const Evidence& e) {
  std::vector<Finding> findings;
  if (e.ranks < 4) return findings;
  Series series(e.slices.size());
  for (std::size_t i = 0; i < e.slices.size(); ++i) {
    const Slice& s = e.slices[i];
    double worst = 0;
    for (const RankShare& r : s.ranks) worst = std::max(worst, r.caused_s);
    series.cost[i] = s.waits_s();
    series.active[i] = s.chain_s >= chain_waits * s.waits_s() && s.waits_s() >= chain_share * s.seconds() * e.threads &&
                       2 * s.chain.size() > static_cast<std::size_t>(e.ranks) / 2 && worst <= 0.5 * s.waits_s() &&
                       s.inside_mpi_s <= 0.4 * s.waits_s();
  }
  for (const Interval& interval : intervals_of(e.slices, series.cost, series.active)) {
    Finding f;
    f.cause = Cause::pattern;
    f.detail = "chain";
    set_period(f, interval, e.slices, e.threads, e.finished);
    double along = 0, squares = 0;
    Majority<std::uint32_t> site;
    for (std::size_t i = interval.first; i <= interval.last; ++i) {
      const Slice& s = e.slices[i];
      along += s.chain_s;
      squares += s.wait_squares;
      if (s.chain.size() > f.ranks.size()) f.ranks = s.chain;
      for (const RankShare& r : s.ranks) site.add(r.site.value, r.site.votes);
    }
    f.site = site.value;
    const std::size_t length = f.ranks.size();
    if (f.ranks.size() > 64) f.ranks.resize(64);
    f.confidence = 0.95 * std::min(ramp(along / std::max(interval.cost_s, 1e-9), 0.2, 0.45), ramp(f.score, 0.3, 0.5)) *
                   persistence(interval, interval.cost_s * interval.cost_s / std::max(squares, 1e-18) / e.ranks);
    f.evidence = {"ranks wait for each other in a row: " + words::ranks(f.ranks) + " (" + std::to_string(length) +
                      " in the longest)",
                  words::percent(along / std::max(interval.cost_s, 1e-9)) + " of all waiting is along such rows, " +
                      words::percent(f.score) + " of the time of all ranks is waiting",
                  "no rank alone causes it"};
    f.advice =
        "The ranks work one after the other: cut the work into smaller parts so that later ranks start earlier, or "
        "remove the dependence.";
    findings.push_back(std::move(f));
  }
  return findings;
}

std::vector<Finding> find_late_comers(const Evidence& e) {
  std::vector<Finding> findings;
  if (e.ranks < 2) return findings;
  Series series(e.slices.size());
  for (std::size_t i = 0; i < e.slices.size(); ++i) {
    const Slice& s = e.slices[i];
    series.cost[i] = s.collective_s;
    series.active[i] = s.collective_s >= collective_share * s.seconds() * e.threads;
  }
  for (const Interval& interval : intervals_of(e.slices, series.cost, series.active)) {
    Finding f;
    f.cause = Cause::collective_wait;
    f.detail = "changing ranks late";
    set_period(f, interval, e.slices, e.threads, e.finished);
    double alone = 0, waits = 0, worst = 0, squares = 0;
    Majority<std::uint32_t> site;
    std::map<std::int32_t, double> by_rank;
    for (std::size_t i = interval.first; i <= interval.last; ++i) {
      for (const RankShare& r : e.slices[i].ranks) worst = std::max(worst, by_rank[r.rank] += r.collective_s);
      alone += e.slices[i].alone_s;
      squares += e.slices[i].collective_squares;
      waits += e.slices[i].waits_s();
      site.add(e.slices[i].collective_site.value, e.slices[i].collective_site.votes);
    }
    if (worst > one_rank * interval.cost_s) continue;  // find_guilty's
    f.site = site.value;
    const double single = std::min(1.0, alone / std::max(interval.cost_s, 1e-9)),
                 share = interval.cost_s / std::max(waits, 1e-9);
    f.confidence = 0.95 * std::min({ramp(single, 0.3, 0.65), ramp(f.score, 0.01, 0.08), ramp(share, 0.3, 0.7)}) *
                   persistence(interval, interval.cost_s * interval.cost_s / std::max(squares, 1e-18));
    f.evidence = {"ranks waited " + words::number(interval.cost_s) +
                      " rank-seconds in collectives for the last to come, " + words::percent(f.score) +
                      " of the time of all ranks, " + words::percent(share) + " of all waiting",
                  words::percent(single) + " of it for one rank alone, when all others were there; which one, changes"};
    f.advice =
        "Find out why now and then one rank is late (unequal work, input and output, interrupts), or let ranks go on "
        "with MPI_Iallreduce and the like.";
    findings.push_back(std::move(f));
  }
  return findings;
}

}  // namespace pclscope::attribute
