// A rank with more bytes than others, whose transfers the others wait for.
#include <algorithm>
#include <map>

#include "analysis/attribute/findings.hpp"
#include "analysis/attribute/intervals.hpp"
#include "analysis/attribute/words.hpp"

namespace pclscope::attribute {
namespace {

constexpr double least_moved = 0.02;  // of all ranks' time (in larger jobs: of ten ranks')
constexpr double above_typical = 3;   // times the median rank's
constexpr double more_bytes = 1.4;    // sent, than any other rank
constexpr std::int32_t ten_ranks = 10;
constexpr std::size_t most_heavy = 16;

bool moves_most(const RankShare& r, const Slice& s, std::int32_t ranks) {
  return r.moved_s >= least_moved * s.seconds() * std::min(ranks, ten_ranks) &&
         r.moved_s >= above_typical * s.typical_moved_s && r.moved_s > 0;
}

Finding heavy(const Evidence& e, std::int32_t rank, const Interval& interval, double bytes, double next) {
  Finding f;
  f.cause = Cause::pattern;
  f.detail = "imbalance";
  f.ranks = {rank};
  set_period(f, interval, e.slices, e.threads, e.finished);
  double all = 0;
  for (std::size_t i = interval.first; i <= interval.last; ++i)
    all += e.slices[i].exposed_s() + e.slices[i].intra_exposed_s + e.slices[i].inside_mpi_s;
  const double share = interval.cost_s / std::max(all, 1e-9), fair = 1.0 / e.ranks;
  f.confidence = 0.95 *
                 std::min({ramp((share - fair) / (1 - fair), 0.25, 0.65), ramp(f.score, 0.01, 0.08),
                           ramp(bytes / next, 1.2, 1.8), ramp(bytes / interval.seconds(), 0.2e6, 2e6)}) *
                 persistence(interval);
  f.evidence = {"rank " + std::to_string(rank) + " sent " + words::number(bytes) + " bytes, no other rank more than " +
                    words::number(next),
                "ranks waited " + words::number(interval.cost_s) +
                    " rank-seconds for its messages that were on their way: " + words::percent(f.score) +
                    " of the time of all ranks, " + words::percent(share) + " of all transfers"};
  f.advice = "Share the data more equally: rank " + std::to_string(rank) +
             " sends more bytes than others; or send them earlier, in parts, while others compute.";
  return f;
}

}  // namespace

std::vector<Finding> find_heavy(const Evidence& e) {
  std::vector<Finding> findings;
  if (e.ranks < 3) return findings;
  std::map<std::int32_t, double> moved;
  for (const Slice& s : e.slices)
    for (const RankShare& r : s.ranks)
      if (moves_most(r, s, e.ranks)) moved[r.rank] += r.moved_s;
  std::vector<std::pair<double, std::int32_t>> order;
  for (const auto& [rank, cost] : moved) order.emplace_back(-cost, rank);
  std::sort(order.begin(), order.end());
  if (order.size() > most_heavy) order.resize(most_heavy);
  for (const auto& [cost_of_all, rank] : order) {
    std::vector<double> cost;
    std::vector<char> active;
    for (const Slice& s : e.slices) {
      const RankShare* r = s.share_of(rank);
      // And of waits that go back to transfers its share.
      const double exposed = s.exposed_s() + s.intra_exposed_s, own = r ? r->moved_s : 0;
      cost.push_back(own + (exposed > 0 ? s.inside_mpi_s * std::min(1.0, own / exposed) : 0));
      active.push_back(r && moves_most(*r, s, e.ranks));
    }
    for (const Interval& interval : intervals_of(e.slices, cost, active)) {
      std::map<std::int32_t, double> sent;
      for (std::size_t i = interval.first; i <= interval.last; ++i)
        for (const RankShare& r : e.slices[i].ranks) sent[r.rank] += r.sent_bytes;
      double next = 1;
      for (const auto& [other, bytes] : sent)
        if (other != rank) next = std::max(next, bytes);
      if (sent[rank] >= more_bytes * next) findings.push_back(heavy(e, rank, interval, sent[rank], next));
    }
  }
  return findings;
}

}  // namespace pclscope::attribute
