#include "analysis/attribute/findings.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/attribute/intervals.hpp"
#include "analysis/attribute/merge.hpp"
#include "analysis/attribute/words.hpp"

namespace pclscope::attribute {
namespace {

constexpr double confident = 0.5;
constexpr double least_named = 0.05;  // confidence below which a finding is not told
constexpr double little = 0.05;       // of all ranks' time: nothing worth naming
constexpr double much_inside = 0.2;   // of all ranks' time, in MPI calls beside known waits: `none` would say too much
constexpr std::size_t most_findings = 32;

bool is_sure(const Finding& f) { return f.confidence > confident; }

// What one finding explains the other need not tell: it costs as much, their times overlap, and so do their ranks.
bool explains(const Finding& a, const Finding& b) {
  return overlap_s(a, b) >= 0.5 * (b.end_s - b.begin_s) && a.lost_s >= 0.6 * b.lost_s;
}
bool same_ranks(const Finding& a, const Finding& b) {
  return std::any_of(b.ranks.begin(), b.ranks.end(),
                     [&](std::int32_t r) { return std::find(a.ranks.begin(), a.ranks.end(), r) != a.ranks.end(); });
}

void add_unexplained(std::vector<Finding>& all, const std::vector<Finding>& more, bool needs_same_ranks) {
  const std::size_t before = all.size();
  for (const Finding& f : more) {
    const bool told = std::any_of(
        all.begin(), all.begin() + static_cast<std::ptrdiff_t>(before),
        [&](const Finding& o) { return is_sure(o) && explains(o, f) && (!needs_same_ranks || same_ranks(o, f)); });
    if (!told) all.push_back(f);
  }
}

// What is left when nothing can be said for certain.
Finding rest(const Evidence& e, double lost_s, const Finding* likely) {
  Finding f;
  f.begin_s = static_cast<double>(e.slices.front().begin_ns) * 1e-9;
  f.end_s = static_cast<double>(e.slices.back().end_ns) * 1e-9;
  f.open = !e.finished;
  const double time = (f.end_s - f.begin_s) * e.threads;
  f.lost_s = lost_s;
  f.score = time > 0 ? lost_s / time : 0;
  const std::string share = words::percent(f.score) + " of the time of all ranks was waiting" +
                            (e.node_names.size() > 1 ? " and transfers between nodes" : "");
  f.evidence = {share};
  const double unseen = time > 0 ? std::min(1.0, (e.inside_mpi_s - lost_s) / time) : 0;
  if (f.score < little && unseen > much_inside) {
    f.cause = Cause::unknown;
    f.confidence = 0.5;
    f.evidence.push_back(words::percent(unseen) +
                         " was spent in MPI calls in which no wait is known: copying, files, MPI's own work, or "
                         "one-sided calls to a rank that computes");
    f.advice = "See which ranks are longest in MPI (ranks) and in which functions (watch).";
  } else if (f.score < little) {
    f.cause = Cause::none;
    f.confidence = 1 - 0.5 * f.score / little;
    f.advice = "Nothing to do for messages.";
  } else {
    f.cause = Cause::unknown;
    f.confidence = 0.5;
    f.evidence.push_back(likely != nullptr && likely->lost_s > 0.5 * lost_s
                             ? "most of it may be the next finding, which is not certain"
                             : "it is spread over ranks and time: no cause stands out");
    double first_come_s = 0;
    for (const Slice& s : e.slices) first_come_s += s.first_come_s;
    if (first_come_s > 0.2 * lost_s)
      f.evidence.push_back(words::percent(first_come_s / lost_s) +
                           " of it was for whichever of several ranks came first (MPI_ANY_SOURCE, Waitany, Waitsome): "
                           "who serves others is idle until then, and delays nobody");
    f.advice =
        "See where waiting began (delays) and the ranks that wait most; more ranks than cores look like this, too.";
  }
  return f;
}

void make_finite(Finding& f) {
  for (double Finding::*value :
       {&Finding::begin_s, &Finding::end_s, &Finding::score, &Finding::confidence, &Finding::lost_s})
    if (!std::isfinite(f.*value)) f.*value = 0;
  f.confidence = std::clamp(f.confidence, 0.0, 1.0);
}

}  // namespace

std::vector<Finding> find_causes(const Evidence& e) {
  std::uint64_t messages = 0;
  double lost = 0;
  for (const Slice& s : e.slices) {
    messages += s.messages();
    lost += s.waits_s() + s.exposed_s();
  }
  if (e.slices.empty() || (messages == 0 && lost <= 0)) return {};
  std::vector<Finding> all = find_hubs(e);
  std::vector<Finding> shapes = find_guilty(e);
  add_unexplained(shapes, find_chains(e), true);
  std::erase_if(shapes, [&](const Finding& f) {  // the chain's own ranks
    return f.detail != "chain" && std::any_of(shapes.begin(), shapes.end(), [&](const Finding& o) {
             return o.detail == "chain" && is_sure(o) && explains(o, f) && same_ranks(o, f);
           });
  });
  add_unexplained(all, shapes, true);
  add_unexplained(all, find_late_comers(e), false);
  for (Finding& f : find_edges(e)) {
    // Who is late for the end is mostly late because of something: of that the other finding tells.
    const bool told = std::any_of(all.begin(), all.end(), [&](const Finding& o) {
      return is_sure(o) && (o.lost_s >= 0.5 * f.lost_s || same_ranks(o, f));
    });
    if (f.cause == Cause::collective_wait && told) f.confidence = std::min(f.confidence, confident);
    all.push_back(std::move(f));
  }
  add_unexplained(all, find_heavy(e), true);
  std::vector<Finding> background = find_outages(e);
  add_unexplained(background, find_background(e), false);
  all.insert(all.end(), background.begin(), background.end());
  const bool seen = std::any_of(background.begin(), background.end(), is_sure);
  for (Finding& f : find_mapping(e, seen ? background : std::vector<Finding>())) all.push_back(std::move(f));
  for (Finding& f : all) make_finite(f);
  all = merged(std::move(all), e.threads);
  std::erase_if(all, [](const Finding& f) { return f.confidence < least_named; });
  std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) {
    if (is_sure(a) != is_sure(b)) return is_sure(a);
    return a.lost_s * a.confidence > b.lost_s * b.confidence;
  });
  if (all.size() > most_findings) all.resize(most_findings);
  if (all.empty() || !is_sure(all[0])) {
    Finding of_all = rest(e, lost, all.empty() ? nullptr : &all[0]);
    all.insert(all.begin(), std::move(of_all));
    make_finite(all[0]);
  }
  return all;
}

std::vector<AttributionSlice> slices_of(const Evidence& e) {
  const Excess excess = excess_of(e);
  std::vector<AttributionSlice> list;
  for (std::size_t i = 0; i < e.slices.size(); ++i) {
    const Slice& s = e.slices[i];
    AttributionSlice& out = list.emplace_back();
    out.begin_s = static_cast<double>(s.begin_ns) * 1e-9;
    out.length_s = s.seconds();
    out.intra_messages = s.intra_messages;
    out.inter_messages = s.inter_messages;
    out.load_balance = s.load_balance;
    out.wait_s = s.wait_s;
    out.blocked_s = s.blocked_s;
    out.collective_s = s.collective_s;
    for (const TransferCell& c : s.cells) out.transfer_s += c.transfer_s;
    out.excess_transfer_s = excess.slice_s[i];
  }
  return list;
}

}  // namespace pclscope::attribute
