#include "analysis/attribute/rest.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "analysis/attribute/intervals.hpp"
#include "analysis/attribute/not_computation.hpp"
#include "analysis/attribute/words.hpp"
#include "analysis/values/deadlock_sides.hpp"
#include "analysis/values/wait_state_sum.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope::attribute {
namespace {

constexpr double sure_from = 0.5;
constexpr double small_share = 0.05;  // of all ranks' time, or of one rank's
constexpr double much_of_one = 0.2;   // of one rank's time, waiting: `none` would say too much
constexpr std::size_t told_functions = 3, told_ranks = 3;

// What ranks were inside MPI for, beside computation.
struct Part {
  const char* name;
  double RankSummary::*time;
  const char* advice;
};
constexpr std::size_t of_files = 5;
constexpr std::array parts = {
    Part{"late senders", &RankSummary::late_sender_s, "see where the delays began (delays)"},
    Part{"late receivers", &RankSummary::late_receiver_s, "see whose receives are posted late (delays)"},
    Part{"exposed transfers", &RankSummary::transfer_s,
         "messages on their way that nothing hides: fewer and larger ones, or computation meanwhile"},
    Part{"collective waits", &RankSummary::collective_wait_s, "see for whom collectives wait (waits)"},
    Part{"one-sided calls", &RankSummary::one_sided_s, "see which synchronisation waits for whom (waits)"},
    Part{"files", &RankSummary::file_s, "see which file operations take long (watch, functions)"},
    Part{"calls that have not returned", &RankSummary::call_for_s, "see who waits for whom (watch, calls)"},
    Part{"MPI's own work and what is not told apart", &RankSummary::other_s,
         "see the functions: collective operations themselves, copying, connecting"},
};

struct Shares {
  double whole_s = 0;                    // of all ranks' threads
  std::array<double, parts.size()> s{};  // of all ranks
  double worst_other = 0;                // of one rank, of its own time
  std::int32_t worst_rank = -1;
  double worst_wait = 0;  // of one rank, of its own time, in all but transfers and MPI's own work
  std::int32_t waiting_rank = -1;
  std::vector<std::pair<double, std::int32_t>> inside;  // share of its time inside MPI, rank; most first
};

Shares shares_of(const Snapshot& snapshot, double run_s) {
  Shares shares;
  for (const RankSummary& r : snapshot.ranks) {
    const double time = std::max(1u, r.threads) * run_s;
    shares.whole_s += time;
    for (std::size_t i = 0; i < parts.size(); ++i) shares.s[i] += r.*parts[i].time;
    if (!(time > 0)) continue;
    shares.inside.emplace_back((r.mpi_between_s() + r.call_for_s) / time, r.rank);
    if (r.other_s / time > shares.worst_other) {
      shares.worst_other = r.other_s / time;
      shares.worst_rank = r.rank;
    }
    const double waits = r.mpi_between_s() + r.call_for_s - r.transfer_s - r.other_s;
    if (waits / time <= shares.worst_wait) continue;
    shares.worst_wait = waits / time;
    shares.waiting_rank = r.rank;
  }
  std::stable_sort(shares.inside.begin(), shares.inside.end(), [](auto& a, auto& b) { return a.first > b.first; });
  return shares;
}

std::string functions_text(const Snapshot& snapshot) {
  std::string text;
  for (std::size_t i = 0; i < std::min(told_functions, snapshot.functions.size()); ++i) {
    const FunctionActivity& f = snapshot.functions[i];
    if (!(f.inside_s > 0)) break;
    text.append(text.empty() ? "" : ", ").append(record::function_name(f.function));
    text.append(" ").append(words::number(f.inside_s)).append(" s");
  }
  return text;
}

std::string ranks_text(const Shares& shares) {
  std::string text;
  for (std::size_t i = 0; i < std::min(told_ranks, shares.inside.size()); ++i)
    text += (text.empty() ? "rank " : ", ") + std::to_string(shares.inside[i].second) + " " +
            words::percent(shares.inside[i].first);
  return text;
}

// The call site with most blocked time of messages, if most of the time is theirs.
std::uint32_t site_of(const Snapshot& snapshot) {
  return snapshot.site_activity.empty() ? 0 : snapshot.site_activity.front().site;
}

Finding whole_run(const Snapshot& snapshot) {
  Finding f;
  f.end_s = snapshot.duration_s;
  f.open = !snapshot.finished;
  return f;
}

// A finding of the whole run stands among the sure ones by what it costs, else behind what is said of all.
void put(Snapshot& snapshot, Finding f) {
  auto& all = snapshot.attribution.findings;
  const auto before = [&](const Finding& o) {
    const bool sure = o.confidence > sure_from && o.cause > Cause::unknown;
    if (!(f.confidence > sure_from)) return sure || o.cause <= Cause::unknown;
    return sure && o.lost_s * o.confidence >= f.lost_s * f.confidence;
  };
  all.insert(std::find_if_not(all.begin(), all.end(), before), std::move(f));
}

// "ranks 0 and 1 called MPI_Bcast (a.c:10), ranks 2 and 3 MPI_Barrier (a.c:12)"; empty: it is another deadlock.
std::string sides_in_words(const Deadlock& deadlock, const std::vector<CallSite>& sites) {
  std::string text;
  for (const CollectiveSide& side : sides_of(deadlock)) {
    text += (text.empty() ? "" : ", ") + words::ranks(side.ranks) + (text.empty() ? " called " : " ") +
            std::string(record::function_name(side.function));
    const auto site =
        std::find_if(sites.begin(), sites.end(), [&](const CallSite& s) { return s.id == side.site && s.line > 0; });
    if (site != sites.end())
      text += " (" + site->file.substr(site->file.rfind('/') + 1) + ":" + std::to_string(site->line) + ")";
  }
  return text;
}

// Calls that have not returned for long, of ranks of which it is known for whom they wait. Who waits for whoever comes
// first (a server) is no case, unless nobody can come any more.
void add_blocked(Snapshot& snapshot, double run_s) {
  constexpr double long_s = 1;
  std::vector<char> stuck(snapshot.ranks.size()), counts(snapshot.ranks.size());
  const auto in = [&](const std::vector<char>& set, std::int32_t rank) {
    return rank >= 0 && static_cast<std::size_t>(rank) < set.size() && set[static_cast<std::size_t>(rank)] != 0;
  };
  for (const Deadlock& d : snapshot.deadlocks)
    for (const DeadlockMember& m : d.members)
      if (m.rank >= 0 && static_cast<std::size_t>(m.rank) < stuck.size()) stuck[static_cast<std::size_t>(m.rank)] = 1;
  std::vector<double> for_rank(snapshot.ranks.size());
  double lost = 0, longest = 0;
  const RankSummary* like = nullptr;
  std::vector<std::int32_t> waiting, of_deadlock;
  for (std::size_t i = 0; i < snapshot.ranks.size(); ++i) {
    const RankSummary& r = snapshot.ranks[i];
    if (r.finished || r.call_function == 0 || !(r.call_for_s > 0)) continue;
    const bool dead = in(stuck, r.rank);
    if (!dead && (r.call_for_s < long_s || r.waits_for_any || r.waits_for.empty())) continue;
    counts[i] = 1;
    lost += r.call_for_s;
    (dead ? of_deadlock : waiting).push_back(r.rank);
    for (const std::int32_t other : r.waits_for)
      if (other >= 0 && static_cast<std::size_t>(other) < for_rank.size())
        for_rank[static_cast<std::size_t>(other)] += r.call_for_s / static_cast<double>(r.waits_for.size());
    if (r.call_for_s <= longest) continue;
    longest = r.call_for_s;
    like = &r;
  }
  if (like == nullptr) return;
  Finding f = whole_run(snapshot);
  f.cause = Cause::blocked;
  f.begin_s = std::max(0.0, run_s - longest);
  f.end_s = run_s;
  f.site = like->call_site;
  f.lost_s = lost;
  f.score = lost / std::max((f.end_s - f.begin_s) * static_cast<double>(snapshot.ranks.size()), 1e-9);  // a call each
  const std::string function(record::function_name(like->call_function));
  if (!of_deadlock.empty()) {
    f.detail = "deadlock";
    f.ranks = of_deadlock;
    f.confidence = 0.95;
    f.evidence = {words::ranks(of_deadlock) +
                  (of_deadlock.size() == 1
                       ? " waits for what nobody will do: it cannot go on"
                       : " wait for each other, or for what nobody will do: none of them can go on")};
    if (!waiting.empty())
      f.evidence.push_back(words::ranks(waiting) + (waiting.size() == 1 ? " waits, too" : " wait, too"));
    f.advice = "See who waits for whom, and at which line (watch, calls). It does not end by itself.";
    for (const Deadlock& d : snapshot.deadlocks) {
      const std::string sides = sides_in_words(d, snapshot.sites);
      if (sides.empty()) continue;
      f.detail = "collectives that do not match";
      f.evidence.push_back(sides + ": on one communicator all ranks must call the same collectives, in the same order");
      f.advice = "Let all of these ranks call the same collective there. It does not end by itself.";
    }
  } else {
    // Who does not come: of those that others wait for, one that waits for nobody.
    std::int32_t late = -1;
    for (const RankSummary& r : snapshot.ranks)
      if (r.rank >= 0 && static_cast<std::size_t>(r.rank) < for_rank.size() && !in(counts, r.rank) &&
          for_rank[static_cast<std::size_t>(r.rank)] > (late < 0 ? 0 : for_rank[static_cast<std::size_t>(late)]))
        late = r.rank;
    f.detail = "still waiting";
    if (late >= 0) f.ranks = {late};
    const double share = lost / std::max(run_s * static_cast<double>(snapshot.ranks.size()), 1e-9);
    f.confidence = 0.95 * std::max(ramp(share, 0.02, 0.08), ramp(longest / std::max(run_s, 1e-9), 0.1, 0.3));
    f.evidence = {words::ranks(waiting) + (waiting.size() == 1 ? " has" : " have") + " been inside " + function +
                  " for up to " + words::number(longest) + " s" +
                  (late >= 0 ? ", for rank " + std::to_string(late) : std::string()) + ": " + words::number(lost) +
                  " rank-seconds that no call's end has told yet"};
    f.advice = late >= 0
                   ? "See what rank " + std::to_string(late) + " does meanwhile (watch; a debugger on that process)."
                   : "See who waits for whom (watch, calls).";
  }
  if (f.ranks.size() > 64) f.ranks.resize(64);
  put(snapshot, std::move(f));
}

// Time in MPI-IO that is no wait for another rank.
void add_file(Snapshot& snapshot, const Shares& shares) {
  double waits = 0;
  for (const WaitStateSum& w : snapshot.wait_states) waits += w.state == WaitState::wait_at_file ? w.wait_s : 0;
  const double lost = shares.s[of_files] - waits;
  const double share = lost / shares.whole_s;
  if (!(share >= 0.01)) return;
  Finding f = whole_run(snapshot);
  f.cause = Cause::file;
  f.lost_s = lost;
  f.score = share;
  f.confidence = 0.95 * ramp(share, 0.01, 0.06);
  std::vector<std::pair<double, std::int32_t>> most;
  for (const RankSummary& r : snapshot.ranks) most.emplace_back(r.file_s, r.rank);
  std::stable_sort(most.begin(), most.end(), [](auto& a, auto& b) { return a.first > b.first; });
  const bool one = most.size() > 1 && most[0].first > 0.8 * shares.s[of_files];
  if (one) f.ranks = {most[0].second};
  f.detail = one ? "one rank" : "";
  f.evidence = {"ranks spent " + words::number(lost) + " rank-seconds in MPI's file operations, " +
                words::percent(share) + " of their time, without what they waited there for each other"};
  if (const std::string text = functions_text(snapshot); !text.empty())
    f.evidence.push_back("most time inside: " + text);
  f.advice = one ? "Let more ranks write (MPI_File_write_all), or write while others compute."
                 : "Write less often or in larger pieces, collectively (MPI_File_write_all), or in the background "
                   "(MPI_File_iwrite).";
  put(snapshot, std::move(f));
}

// Nothing is sure: what there is to say of the whole run.
Finding rest_of(const Snapshot& snapshot, const Shares& shares, const Finding* said) {
  Finding f = said != nullptr ? *said : whole_run(snapshot);
  std::array<std::size_t, parts.size()> order{};
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return shares.s[a] > shares.s[b]; });
  const double largest = shares.s[order[0]] / shares.whole_s;
  const bool one_rank = shares.worst_other > small_share, one_waits = shares.worst_wait > much_of_one;
  if (largest <= small_share && !one_rank && !one_waits) {
    if (said == nullptr) {
      f.cause = Cause::none;
      f.confidence = 1 - 0.5 * largest / small_share;
      f.score = largest;
      f.lost_s = shares.s[order[0]];
      f.evidence = {"no part of the time inside MPI is above " + words::percent(largest) + " of the time of all ranks"};
      f.advice = "Nothing to do for messages.";
    }
    return f;
  }
  if (f.cause == Cause::none || said == nullptr) {
    f.lost_s = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) f.lost_s += shares.s[i];
    f.score = f.lost_s / shares.whole_s;
    f.evidence.clear();
  }
  f.cause = Cause::unknown;
  f.confidence = 0.5;
  if (f.site == 0 && order[0] < 3) f.site = site_of(snapshot);
  std::string where;
  for (const std::size_t i : order)
    if (shares.s[i] > 0.01 * shares.whole_s)
      where +=
          (where.empty() ? "" : ", ") + std::string(parts[i].name) + " " + words::percent(shares.s[i] / shares.whole_s);
  if (!where.empty()) f.evidence.push_back("of all ranks' time: " + where);
  if (const std::string text = functions_text(snapshot); !text.empty())
    f.evidence.push_back("most time inside: " + text);
  if (const std::string text = ranks_text(shares); !text.empty()) f.evidence.push_back("longest in MPI: " + text);
  if (largest > small_share)
    f.advice = std::string("Most of it is ") + parts[order[0]].name + ": " + parts[order[0]].advice + ".";
  else if (one_waits)
    f.advice = "Rank " + std::to_string(shares.waiting_rank) + " waits " + words::percent(shares.worst_wait) +
               " of its time: see for whom (waits, delays).";
  else
    f.advice = "Rank " + std::to_string(shares.worst_rank) + " spends " + words::percent(shares.worst_other) +
               " of its time inside MPI without a wait that is known: see its functions (ranks, watch).";
  return f;
}

}  // namespace

void settle_rest(Snapshot& snapshot, double now_s) {
  const double run_s = snapshot.finished ? snapshot.duration_s : std::max(snapshot.duration_s, now_s);
  const Shares shares = shares_of(snapshot, run_s);
  if (!(shares.whole_s > 0)) return;
  auto& all = snapshot.attribution.findings;
  tell_not_computed(snapshot);
  add_file(snapshot, shares);
  if (!snapshot.finished) add_blocked(snapshot, run_s);
  const bool sure = !all.empty() && all.front().cause > Cause::unknown && all.front().confidence > sure_from;
  const auto said = std::find_if(all.begin(), all.end(), [](const Finding& f) { return f.cause <= Cause::unknown; });
  if (sure) {
    if (said != all.end()) all.erase(said);
    return;
  }
  double inside = 0;
  for (const double s : shares.s) inside += s;
  if (all.empty() && !(inside > 0)) return;  // no MPI so far
  if (said != all.end()) {
    const Finding rest = rest_of(snapshot, shares, &*said);
    *said = rest;
  } else {
    all.insert(all.begin(), rest_of(snapshot, shares, nullptr));
  }
}

}  // namespace pclscope::attribute
