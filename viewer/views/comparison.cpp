#include "viewer/views/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "analysis/efficiency/efficiency.hpp"
#include "viewer/session/harm.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/blocked_time_lines.hpp"

namespace pclscope::views {
namespace {

using Value = std::optional<double>;

constexpr std::size_t fewest_parts = 6, parts_of_run = 32;
constexpr double least_change = 0.05;  // of a time: runs of one program on a quiet machine differ by as much
constexpr double least_points = 0.03;  // of a share
constexpr double least_cost = 0.01;    // of ranks' time: of a finding
constexpr double least_harm = 0.05;    // ranks
constexpr double same_work = 0.02;     // difference of the number of messages
constexpr double same_members = 0.5;   // ranks in both over ranks in either

Value finite_or_none(double value) { return std::isfinite(value) ? Value(value) : std::nullopt; }

double ranks_time(const Snapshot& s) { return s.duration_s * s.application.ranks; }

// What windows add per second, in parts of equally many windows; the rest at the end is left out.
template <class Of>
std::vector<double> parts_of(const ComparedRun& run, const Of& of) {
  const std::size_t each = (run.windows.size() + parts_of_run - 1) / parts_of_run;
  std::vector<double> parts;
  for (std::size_t first = 0; each > 0 && first + each <= run.windows.size(); first += each) {
    double sum = 0, length_s = 0;
    for (const Window& w : std::span(run.windows).subspan(first, each)) sum += of(w), length_s += w.length_s;
    const double rate = length_s > 0 ? sum / length_s : 0;
    parts.push_back(std::isfinite(rate) ? rate : 0);
  }
  return parts;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// Of the run time, as far as the pace of the messages tells.
Value run_time_noise(const ComparedRun& run) {
  const auto pace = parts_of(run, [](const Window& w) { return static_cast<double>(w.all.messages); });
  const Value noise = noise_of(pace);
  return noise && mean(pace) > 0 ? finite_or_none(*noise / mean(pace) * run.snapshot.duration_s) : std::nullopt;
}

// Of waiting as share of ranks' time, by the measures over time.
Value waiting_noise(const Snapshot& s) {
  std::vector<double> shares;
  for (const AttributionSlice& slice : s.attribution.slices) {
    const double time = slice.length_s * s.application.ranks;
    const double share = time > 0 ? (slice.wait_s + slice.blocked_s + slice.collective_s) / time : 0;
    if (std::isfinite(share)) shares.push_back(share);
  }
  return noise_of(shares);
}

// Of time inside MPI as share of ranks' time, by the newest windows.
Value inside_noise(const Snapshot& s) {
  std::vector<double> shares;
  for (const FunctionActivity& f : s.functions) {
    const std::size_t count = f.history_share.size();
    if (shares.size() < count) shares.insert(shares.begin(), count - shares.size(), 0);  // the last ones are the same
    for (std::size_t i = 0; i < count; ++i)
      if (std::isfinite(f.history_share[i]))
        shares[shares.size() - count + i] += static_cast<double>(f.history_share[i]);
  }
  return noise_of(shares);
}

Value together(const Value& a, const Value& b) { return a && b ? Value(std::hypot(*a, *b)) : std::nullopt; }

double share_of(const Finding& f, const Snapshot& s) {
  const double share = ranks_time(s) > 0 ? f.lost_s / ranks_time(s) : 0;
  return std::isfinite(share) && share > 0 ? share : 0;
}

void add_measures(const ComparedRun& before, const ComparedRun& now, Comparison& c) {
  using Kind = Measure::Kind;
  const Snapshot &a = before.snapshot, &b = now.snapshot;
  c.measures.push_back({Kind::seconds, "duration_s", "run time", finite_or_none(a.duration_s),
                        finite_or_none(b.duration_s), together(run_time_noise(before), run_time_noise(now))});
  const Value waiting = together(waiting_noise(a), waiting_noise(b));
  const Value inside = together(inside_noise(a), inside_noise(b));
  const InsideMpi x = inside_mpi(a), y = inside_mpi(b);
  const auto part = [](const InsideMpi& sum, double s) {
    return sum.whole_s > 0 ? finite_or_none(s / sum.whole_s) : Value();
  };
  const auto waited = [](const InsideMpi& sum) {
    return sum.late_sender_s + sum.late_receiver_s + sum.collective_wait_s;
  };
  c.measures.push_back({Kind::share, "mpi_share", "inside MPI", part(x, x.inside_s), part(y, y.inside_s), inside});
  c.measures.push_back(
      {Kind::share, "waiting_share", "waiting for others", part(x, waited(x)), part(y, waited(y)), waiting});
  const Efficiency e = efficiency::efficiency_of(a), f = efficiency::efficiency_of(b);
  const auto add = [&](const char* name, const char* title, bool ideal, double (Efficiency::*of)() const,
                       const Value& noise) {
    const auto value = [&](const Efficiency& of_run) {
      return of_run.useful_known() && (!ideal || of_run.ideal_known()) ? finite_or_none((of_run.*of)()) : Value();
    };
    c.measures.push_back({Kind::share, name, title, value(e), value(f), noise});
  };
  add("parallel", "parallel efficiency", false, &Efficiency::parallel, inside);
  add("load_balance", "load balance", false, &Efficiency::load_balance, {});
  add("communication", "communication", false, &Efficiency::communication, {});
  add("serialisation", "serialisation", true, &Efficiency::serialisation, {});
  add("transfer", "transfer", true, &Efficiency::transfer, {});
}

// Ranks in both over ranks in either; lists ascending.
double likeness(std::vector<std::int32_t> a, std::vector<std::int32_t> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  std::vector<std::int32_t> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  const std::size_t either = a.size() + b.size() - both.size();
  return either > 0 ? static_cast<double>(both.size()) / static_cast<double>(either) : 1;
}

void add_findings(const ComparedRun& before, const ComparedRun& now, const Value& noise, Comparison& c) {
  const Snapshot &a = before.snapshot, &b = now.snapshot;
  const Sites sites_a(a.sites), sites_b(b.sites);
  std::vector<bool> taken(a.attribution.findings.size(), false);
  const auto alike = [&](const Finding& f, const Finding& g) {
    const std::string at = sites_a.location(f.site), there = sites_b.location(g.site);
    return f.cause == g.cause && (at == there || at.empty() || there.empty()) &&
           likeness(f.ranks, g.ranks) >= same_members;
  };
  const double least = std::max(noise.value_or(0), least_cost);
  for (std::size_t k = 0; k < b.attribution.findings.size(); ++k) {
    const Finding& g = b.attribution.findings[k];
    ComparedFinding pair;
    pair.now = static_cast<std::int32_t>(k);
    pair.now_share = share_of(g, b);
    bool believed = session::is_believed(g);
    for (std::size_t i = 0; i < taken.size() && pair.before < 0; ++i) {
      if (taken[i] || !alike(a.attribution.findings[i], g)) continue;
      taken[i] = true;
      pair.before = static_cast<std::int32_t>(i);
      pair.before_share = share_of(a.attribution.findings[i], a);
      believed = believed || session::is_believed(a.attribution.findings[i]);
    }
    const double change = pair.now_share - pair.before_share;
    pair.fate = pair.before < 0              ? Fate::added
                : std::fabs(change) <= least ? Fate::alike
                : change < 0                 ? Fate::less
                                             : Fate::more;
    if (believed) c.findings.push_back(pair);
  }
  for (std::size_t i = 0; i < taken.size(); ++i)
    if (!taken[i] && session::is_believed(a.attribution.findings[i]))
      c.findings.push_back({Fate::gone, static_cast<std::int32_t>(i), -1, share_of(a.attribution.findings[i], a), 0});
  std::stable_sort(c.findings.begin(), c.findings.end(), [](const ComparedFinding& f, const ComparedFinding& g) {
    return std::max(f.before_share, f.now_share) > std::max(g.before_share, g.now_share);
  });
}

double blocked_s(const auto& sums) { return sums.late_sender_s + sums.late_receiver_s + sums.transfer_s; }

// Of a region: blocked share, its noise, and its harm.
struct RegionState {
  Value waiting, noise, harm;
};
RegionState state_of(const ComparedRun& run, const Region& region, const session::Harms& harms) {
  const double until = region.until_s >= 0 ? region.until_s : run.snapshot.duration_s;
  const double time = (until - region.from_s) * static_cast<double>(region.ranks.size());
  if (!(time > 0)) return {};
  RegionState state;
  state.waiting = finite_or_none(blocked_s(region) / time);
  state.harm = finite_or_none(harms.of_region(region));
  state.noise = noise_of(parts_of(run, [&](const Window& w) {
    for (const RegionWindow& sums : w.regions)
      if (sums.region == region.id) return blocked_s(sums) / static_cast<double>(region.ranks.size());
    return 0.0;
  }));
  return state;
}

void add_regions(const ComparedRun& before, const ComparedRun& now, Comparison& c) {
  const session::Harms harms_a(before.snapshot), harms_b(now.snapshot);
  const std::vector<Region>&a = before.snapshot.regions, &b = now.snapshot.regions;
  const std::int32_t ranks = std::clamp(before.snapshot.application.ranks, 0, session::most_rank);
  std::vector<std::size_t> region_of(static_cast<std::size_t>(ranks), a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (const std::int32_t rank : a[i].ranks)
      if (rank >= 0 && static_cast<std::size_t>(rank) < region_of.size()) region_of[static_cast<std::size_t>(rank)] = i;
  std::vector<bool> taken(a.size(), false);
  const auto add = [&](const Region* was, const Region* is) {
    const RegionState x = was != nullptr ? state_of(before, *was, harms_a) : RegionState(),
                      y = is != nullptr ? state_of(now, *is, harms_b) : RegionState();
    c.regions.push_back(
        {was != nullptr ? was->id : -1,
         is != nullptr ? is->id : -1,
         is != nullptr ? is->ranks : was->ranks,
         {Measure::Kind::share, "waiting_share", "waiting", x.waiting, y.waiting, together(x.noise, y.noise)},
         {Measure::Kind::number, "delay_caused", "delay caused", x.harm, y.harm, {}}});
  };
  for (const Region& region : b) {
    const Region* was = nullptr;
    for (const std::int32_t rank : region.ranks) {  // the one that has most of these ranks has some of them
      if (rank < 0 || static_cast<std::size_t>(rank) >= region_of.size()) continue;
      const std::size_t i = region_of[static_cast<std::size_t>(rank)];
      if (i == a.size() || taken[i] || !(likeness(a[i].ranks, region.ranks) > same_members)) continue;
      was = &a[i];
      taken[i] = true;
      break;
    }
    add(was, &region);
  }
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!taken[i]) add(&a[i], nullptr);
  const auto size = [](const ComparedRegion& r) {
    return std::fabs(r.waiting.now.value_or(0) - r.waiting.before.value_or(0)) * static_cast<double>(r.ranks.size());
  };
  std::stable_sort(c.regions.begin(), c.regions.end(),
                   [&](const ComparedRegion& r, const ComparedRegion& q) { return size(r) > size(q); });
}

void add_remarks(const ComparedRun& before, const ComparedRun& now, Comparison& c) {
  const Snapshot &a = before.snapshot, &b = now.snapshot;
  const auto differ = [&](const std::string& what, const std::string& was, const std::string& is) {
    if (was != is) c.remarks.push_back(what + ": " + was + " before, " + is + " now");
  };
  differ("other numbers of ranks", std::to_string(a.application.ranks), std::to_string(b.application.ranks));
  differ("other commands", a.application.command, b.application.command);
  differ("other MPI", a.application.mpi, b.application.mpi);
  differ("other numbers of nodes", std::to_string(a.application.nodes.size()),
         std::to_string(b.application.nodes.size()));
  const double x = static_cast<double>(a.messages.matched), y = static_cast<double>(b.messages.matched);
  if (std::fabs(x - y) > same_work * std::max(x, y))
    c.remarks.push_back("not the same work: " + text::format_count(a.messages.matched) + " messages before, " +
                        text::format_count(b.messages.matched) + " now");
  for (const ComparedRun* run : {&before, &now})
    if (!run->whole) c.remarks.push_back(run->name + " is not whole: its sums are those of a part of the run");
}

}  // namespace

bool Measure::within_noise() const {
  const Value changed = change();
  if (!changed) return false;
  const double least = kind == Kind::seconds ? least_change * std::max(std::fabs(*before), std::fabs(*now))
                       : kind == Kind::share ? least_points
                                             : least_harm;
  return std::fabs(*changed) <= std::max(noise.value_or(0), least);
}

const char* name_of(Fate fate) {
  switch (fate) {
    case Fate::gone: return "gone";
    case Fate::added: return "new";
    case Fate::less: return "less";
    case Fate::more: return "more";
    case Fate::alike: return "alike";
  }
  return "alike";
}

std::optional<double> noise_of(const std::vector<double>& parts) {
  if (parts.size() < fewest_parts) return std::nullopt;
  std::vector<double> steps;
  for (std::size_t i = 1; i < parts.size(); ++i) steps.push_back(std::fabs(parts[i] - parts[i - 1]));
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  // A normal distribution: its median deviation from zero is 1/1.4826 of its width; a difference of two is sqrt 2 wide.
  const double deviation = 1.4826 * *middle / std::sqrt(2.0);
  return finite_or_none(2 * deviation / std::sqrt(static_cast<double>(parts.size())));
}

Comparison compare(const ComparedRun& before, const ComparedRun& now) {
  Comparison c;
  add_remarks(before, now, c);
  add_measures(before, now, c);
  add_findings(before, now, together(waiting_noise(before.snapshot), waiting_noise(now.snapshot)), c);
  if (before.snapshot.application.ranks == now.snapshot.application.ranks) add_regions(before, now, c);
  return c;
}

}  // namespace pclscope::views
