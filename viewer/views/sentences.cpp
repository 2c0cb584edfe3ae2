#include "viewer/views/sentences.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "analysis/efficiency/efficiency.hpp"
#include "viewer/session/harm.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/blocked_time_lines.hpp"
#include "viewer/views/finding_rows.hpp"

namespace pclscope::views {
namespace {

constexpr std::size_t most_parts = 3, most_named = 3, most_sites = 2;
constexpr double worth_naming = 0.01;     // of ranks' time: a part
constexpr double worth_following = 0.02;  // of ranks' time: waiting for others; of the run: a gain
constexpr double most_of_it = 0.5;
constexpr double alike_from = 0.95;         // of what the one before it caused
constexpr double worth_a_place = 0.2;       // of what the first call site cost
constexpr double worth_a_word = 0.1;        // of ranks' time: computation that had no core
constexpr double crowded_from = 0.25;       // of ranks' time: no core, inside MPI or not
constexpr double explained_by_cores = 0.1;  // of what an ideal network would save: time off the core inside MPI
constexpr double stands_out = 1.5;          // times what as many ranks would have if all were alike
constexpr double leads_by = 2;              // times what the next rank caused
constexpr double worth_leading = 0.1;       // of all waiting

// "The ranks spent 28% of their time in MPI: 13% waiting for messages not sent yet and 13% in collectives, ..."
std::string where_time_goes(const Snapshot& s, const InsideMpi& sum) {
  const double share = sum.inside_s / sum.whole_s;
  const bool one = s.application.ranks == 1;
  const std::string who = std::string(one ? "The rank" : "The ranks") +
                          (is_over(s) ? " spent "
                           : one      ? " spends "
                                      : " spend ") +
                          text::format_share(share) + " of " + (one ? "its" : "their") + " time in MPI";
  std::vector<std::pair<double, const char*>> parts = {
      {sum.late_sender_s, "waiting for messages that were not sent yet"},
      {sum.late_receiver_s, "waiting for receivers that were not ready"},
      {sum.collective_wait_s, "waiting in collectives for ranks that came later"},
      {sum.transfer_s, "waiting for messages under way"},
      {sum.one_sided_s, "in one-sided synchronisation"},
      {sum.file_s, "in files"},
      {sum.init_s, "in MPI_Init"},
      {sum.finalize_s, "waiting in MPI_Finalize for ranks that came later"},
      {sum.going_on_s, is_over(s) ? "in calls that did not return" : "in calls that have not returned yet"},
      {sum.other_s, "otherwise inside MPI"}};
  std::erase_if(parts, [&](const auto& part) { return !(part.first >= worth_naming * sum.whole_s); });
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (parts.size() > most_parts) parts.resize(most_parts);
  std::vector<std::string> words;
  for (const auto& [seconds, name] : parts) words.push_back(text::format_share(seconds / sum.whole_s) + " " + name);
  return who + (words.empty() ? "" : ": " + in_words(words)) + ".";
}

// Ranks that most of the waiting goes back to, most first, and how much of it that is; none: it is not known.
struct Awaited {
  std::vector<std::int32_t> ranks;
  double share = 0;
  bool alike = false;  // so many that none stands out; but the first may:
  double leads_with = 0;
};
std::optional<Awaited> awaited(const Snapshot& s) {
  std::vector<std::pair<double, std::int32_t>> caused;
  for (const RankSummary& r : s.ranks)
    if (r.delay_caused_s > 0 && std::isfinite(r.delay_caused_s)) caused.emplace_back(r.delay_caused_s, r.rank);
  std::sort(caused.begin(), caused.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  Awaited found;
  double sum_s = 0, last_s = 0;
  for (const auto& [seconds, rank] : caused) {
    if (sum_s >= most_of_it * s.delay_totals.waited_s && seconds < alike_from * last_s) break;
    last_s = seconds;
    sum_s += seconds;
    found.ranks.push_back(rank);
  }
  found.share = s.delay_totals.waited_s > 0 ? std::min(sum_s / s.delay_totals.waited_s, 1.0) : 0;
  if (found.ranks.empty() || !(found.share >= most_of_it)) return std::nullopt;
  const double first_s = caused.empty() ? 0 : caused[0].first;
  if (caused.size() > 1 && first_s >= leads_by * caused[1].first && first_s >= worth_leading * s.delay_totals.waited_s)
    found.leads_with = std::min(first_s / s.delay_totals.waited_s, 1.0);
  found.alike =
      found.share * static_cast<double>(s.ranks.size()) < stands_out * static_cast<double>(found.ranks.size());
  return found;
}

// The finding says of others that they come as late, though hardly anybody waited for them (attribute::name_as_late):
// they caused less than its group may.
void add_as_late(Awaited& found, const Finding& f, const Snapshot& s) {
  constexpr double of_the_worst = 0.15;
  const auto is_in = [](const std::vector<std::int32_t>& list, std::int32_t rank) {
    return std::find(list.begin(), list.end(), rank) != list.end();
  };
  if (f.gain_s < 0 || !std::all_of(found.ranks.begin(), found.ranks.end(), [&](auto r) { return is_in(f.ranks, r); }))
    return;
  const auto caused_s = [&](std::int32_t rank) {
    const auto it = std::find_if(s.ranks.begin(), s.ranks.end(), [=](const auto& r) { return r.rank == rank; });
    return it == s.ranks.end() ? 0.0 : it->delay_caused_s;
  };
  const double least_s = of_the_worst * caused_s(found.ranks.front());
  for (const std::int32_t rank : f.ranks)
    if (!is_in(found.ranks, rank) && caused_s(rank) < least_s) found.ranks.push_back(rank);
}

// Where these ranks come late: "halo.c:42 and halo.c:51", of one place with its caller; empty: not known.
std::string places(const Snapshot& s, const std::vector<std::int32_t>& ranks, const Sites& sites) {
  std::vector<std::string> names;
  std::uint32_t only = 0;
  double first_s = 0;
  for (const DelayOrigin& d : s.delays) {  // most cost first
    if (names.size() >= most_sites || d.cost_s < worth_a_place * first_s) break;
    if (sites.find(d.site) == nullptr || std::find(ranks.begin(), ranks.end(), d.rank) == ranks.end()) continue;
    if (names.empty()) first_s = d.cost_s;
    const std::string name = sites.brief(d.site);
    if (names.empty()) only = d.site;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names.size() == 1 ? sites.with_caller(only) : in_words(names);
}

std::string whom_it_is_for(const Snapshot& s, const Awaited& found, const Sites& sites) {
  if (found.alike && found.leads_with > 0) {
    const std::int32_t rank = found.ranks.front();
    const std::string where = places(s, {rank}, sites);
    return std::string("Others ") + (is_over(s) ? "waited" : "wait") + " for many ranks, longest for " +
           ranks_in_words({rank}) + " (" + text::format_share(found.leads_with) + " of the waiting)" +
           (where.empty() ? "" : ", late at " + where) + ".";
  }
  if (found.alike)
    return std::string("No rank stands out: others ") + (is_over(s) ? "waited" : "wait") + " for many in turn.";
  const std::string where = places(s, found.ranks, sites);
  return "Most of the waiting (" + text::format_share(found.share) + ") " + (is_over(s) ? "was" : "is") + " for " +
         ranks_in_words(found.ranks) + (where.empty() ? "" : ", late at " + where) + ".";
}

// Each of several findings of one kind names one of those ranks: they are late one after the other.
bool take_turns(const Snapshot& s, const Finding& first, const Awaited& found) {
  const auto among = [&](const Finding& f) {
    return !f.ranks.empty() && std::all_of(f.ranks.begin(), f.ranks.end(), [&](std::int32_t rank) {
      return std::find(found.ranks.begin(), found.ranks.end(), rank) != found.ranks.end();
    });
  };
  return among(first) &&
         std::any_of(s.attribution.findings.begin(), s.attribution.findings.end(), [&](const Finding& f) {
           return session::is_believed(f) && f.cause == first.cause && among(f) && f.ranks != first.ranks;
         });
}

// "Others waited for ranks 0, 1, 2 and 3 in turn, late at pic.c:8."
std::string in_turn(const Snapshot& s, const Awaited& found, const Sites& sites) {
  std::vector<std::int32_t> ranks = found.ranks;
  std::sort(ranks.begin(), ranks.end());
  const std::string where = places(s, ranks, sites);
  return std::string("Others ") + (is_over(s) ? "waited" : "wait") + " for " + ranks_in_words(ranks) + " in turn" +
         (where.empty() ? "" : ", late at " + where) + ".";
}

// What waiting goes back to when it is no rank's computation; empty: little waiting.
std::string why_nobody(const Snapshot& s) {
  const DelayTotals& d = s.delay_totals;
  const std::string was = is_over(s) ? "was" : "is";
  if (d.inside_mpi_s >= most_of_it * d.waited_s)
    return "Most of the waiting " + was + " for ranks that were held up inside MPI themselves.";
  return "Where most of the waiting began " + was + " not seen.";
}

// "Most of the waiting in MPI_Finalize was for rank 7, which came last."; empty: for no rank alone, or somebody is not
// there yet.
std::string whom_the_end_is_for(const Snapshot& s, double waited_s) {
  double last = -1, before = -1;
  std::int32_t rank = -1;
  for (const RankSummary& r : s.ranks) {
    if (!r.finished || !std::isfinite(r.end_s)) return {};
    if (r.end_s > last) before = std::exchange(last, r.end_s), rank = r.rank;
    else before = std::max(before, r.end_s);
  }
  const double for_it = (last - before) * static_cast<double>(s.ranks.size() - 1);
  if (before < 0 || !(for_it >= most_of_it * waited_s)) return {};
  return "Most of the waiting in MPI_Finalize was for rank " + std::to_string(rank) + ", which came last.";
}

// "Without that the run would have taken 2.33 s instead of 3.92 s."
std::string gain(const Snapshot& s, const std::string& how, double gain_s) {
  const std::string after = text::format_seconds(s.duration_s - gain_s), now = text::format_seconds(s.duration_s);
  return how +
         (is_over(s) ? std::string(" the run would have taken ") : std::string(" the run so far would have taken ")) +
         after + " instead of " + now + ".";
}

// Rank-seconds without a core. Negative: not known.
struct NoCore {
  double computing_s = 0, all_s = 0;
  double inside_s() const { return all_s - computing_s; }
};
NoCore no_core(const Snapshot& s) {
  NoCore sum;
  for (const RankSummary& r : s.ranks) sum.computing_s += r.off_core_computing_s, sum.all_s += r.off_core_s;
  return std::isfinite(sum.computing_s) && std::isfinite(sum.all_s) ? sum : NoCore{};
}

// Of the condition that cost most of it; empty: none is named.
std::string who_had_the_cores(const Snapshot& s, double Condition::*cost) {
  const auto c = std::max_element(s.conditions.begin(), s.conditions.end(),
                                  [&](const auto& a, const auto& b) { return a.*cost < b.*cost; });
  if (c == s.conditions.end()) return {};
  const bool over = is_over(s);
  switch (c->kind) {
    case ConditionKind::more_ranks_than_cores:
      return std::string(": there ") + (over ? "were" : "are") + " more ranks than cores";
    case ConditionKind::one_core: return std::string(": several ") + (over ? "were" : "are") + " bound to one core";
    case ConditionKind::other_load: return std::string(": other programs ") + (over ? "used" : "use") + " them";
    case ConditionKind::quota:
      return std::string(": a quota of processor time ") + (over ? "held" : "holds") + " them back";
    case ConditionKind::own_threads: return std::string(": their own threads ") + (over ? "used" : "use") + " them";
  }
  return {};
}

// Computation that was held up: "ready to compute, but had no core". What ranks lose inside MPI is mostly waiting all
// the same, and told only where it is much.
std::string without_cores(const Snapshot& s) {
  const NoCore lost = no_core(s);
  const double all_s = session::elapsed_s(s) * static_cast<double>(s.ranks.size());
  if (!(all_s > 0)) return {};
  const bool over = is_over(s);
  if (lost.computing_s >= worth_a_word * all_s)
    return std::string("The ranks ") + (over ? "were" : "are") + " ready to compute, but " + (over ? "had" : "have") +
           " no core, for " + text::format_share(lost.computing_s / all_s) + " of their time" +
           who_had_the_cores(s, &Condition::cost_s) + ".";
  if (!(lost.all_s >= crowded_from * all_s)) return {};
  return std::string("The ranks ") + (over ? "had" : "have") + " no core for " +
         text::format_share(lost.all_s / all_s) + " of their time, most of it inside MPI" +
         who_had_the_cores(s, &Condition::in_mpi_s) + ".";
}

bool is_worth(const Snapshot& s, double gain_s) {
  return std::isfinite(gain_s) && gain_s >= worth_following * s.duration_s && gain_s < s.duration_s;
}

bool is_balance(const Finding& f) {
  return f.cause == Cause::load_imbalance || (f.cause == Cause::pattern && f.detail == "imbalance");
}

// The first finding that is believed; one of calls that have not returned before all others.
const Finding* first_believed(const Snapshot& s) {
  const Finding* first = nullptr;
  for (const Finding& f : s.attribution.findings) {
    if (!session::is_believed(f)) continue;
    if (f.cause == Cause::blocked) return &f;
    if (first == nullptr) first = &f;
  }
  return first;
}

// "Others waited in one-sided synchronisation for rank 1, late at rma.c:33."; empty: no words for it.
std::string what_it_names(const Snapshot& s, const Finding& f, const Sites& sites) {
  const bool over = is_over(s);
  const std::string waited = over ? " waited " : " wait ";
  const std::string place = sites.find(f.site) != nullptr ? sites.with_caller(f.site) : std::string();
  const std::string late_at = place.empty() ? "." : ", late at " + place + ".",
                    at = place.empty() ? "." : " at " + place + ".";
  const std::string who = f.ranks.empty() ? std::string() : ranks_in_words(f.ranks);
  switch (f.cause) {
    case Cause::blocked:
      if (f.detail == "deadlock")
        return who.empty() ? "" : "Deadlock: " + who + (over ? " could" : " can") + " not go on, in a call" + at;
      if (f.detail == "collectives that do not match")
        return who.empty() ? "" : "Deadlock: the collectives of " + who + (over ? " did" : " do") + " not match.";
      return who.empty() ? "Ranks" + waited + "in calls that " + (over ? "did not return." : "have not returned yet.")
                         : "Others" + waited + "for " + who + ", which " +
                               (over                  ? "did"
                                : f.ranks.size() == 1 ? "does"
                                                      : "do") +
                               " not come.";
    case Cause::late_sender: return who.empty() ? "" : "Others" + waited + "for " + who + late_at;
    case Cause::late_receiver: return who.empty() ? "" : "Senders" + waited + "for " + who + ", late to receive" + at;
    case Cause::collective_wait: return who.empty() ? "" : "Others" + waited + "in collectives for " + who + late_at;
    case Cause::one_sided_wait:
      return who.empty() ? "" : "Others" + waited + "in one-sided synchronisation for " + who + late_at;
    case Cause::startup:
      return who.empty() ? "Ranks waited in MPI_Init for processes that were begun later, or had no core."
                         : "Others waited in MPI_Init for " + who + ".";
    case Cause::load_imbalance:
      return std::string("What the ranks compute ") + (over ? "differed" : "differs") + " over all of them.";
    case Cause::pattern:
      if (f.detail == "imbalance" && !who.empty())
        return "Others" + waited + "for " + who + ", which " +
               (over                  ? "had"
                : f.ranks.size() == 1 ? "has"
                                      : "have") +
               " more messages and more to compute.";
      if (f.detail == "chain")
        return std::string("In a chain each rank") + (over ? " waited" : " waits") + " for the one before.";
      return {};
    default: return {};
  }
}

// What a gain is by: "Without that" of the sentence before, which named these ranks and no others.
std::string without_it(const Finding& f, std::vector<std::int32_t> named) {
  if (is_balance(f)) return "With equal load";
  std::vector<std::int32_t> ranks = f.ranks;
  std::sort(ranks.begin(), ranks.end());
  std::sort(named.begin(), named.end());
  if (!ranks.empty() && ranks == named) return "Without that";
  const bool some = std::includes(named.begin(), named.end(), ranks.begin(), ranks.end());  // of those
  const std::string who = f.ranks.empty() ? std::string() : ranks_in_words(f.ranks);
  switch (f.cause) {
    case Cause::late_sender:
    case Cause::late_receiver:
    case Cause::collective_wait:
    case Cause::one_sided_wait:
      if (!who.empty()) return "Without the delays by " + who + (some ? " alone" : "");
      break;
    case Cause::mapping: return "With the ranks placed better";
    case Cause::background: return "Without the slow transfers between nodes";
    case Cause::file: return "Without the time in files";
    default: break;
  }
  return "Without the first finding (" + std::string(cause_word(f.cause)) +
         (f.detail.empty() ? "" : ", " + text::printable(f.detail)) + ")";
}

// Of the first finding that says so; else what an ideal network would bring. `named`: the ranks of the sentence before.
std::string what_it_brings(const Snapshot& s, const std::vector<std::int32_t>& named) {
  for (const Finding& f : s.attribution.findings)
    if (session::is_believed(f) && is_worth(s, f.gain_s)) return gain(s, without_it(f, named), f.gain_s);
  if (std::string cores = without_cores(s); !cores.empty()) return cores;
  const Efficiency e = efficiency::efficiency_of(s);
  // Only where that is what costs most: else it would point away from the cause.
  if (!e.ideal_known() || !e.useful_known() || e.transfer() > std::min(e.load_balance(), e.serialisation())) return {};
  const double saved_s = (1 - e.transfer()) * e.runtime_s();
  if (!is_worth(s, saved_s)) return {};
  // Who has no core inside MPI takes its messages late, and so do the others: no network would help.
  if (no_core(s).inside_s() > explained_by_cores * saved_s * static_cast<double>(s.ranks.size())) return {};
  return gain(s, "On a network on which nothing takes time", saved_s);
}

// Of the ranks that the waiting is for and the first finding, what agrees with both. `named`: the ranks it says.
std::string whom_to_blame(const Snapshot& s, double waiting_s, const InsideMpi& sum, const Sites& sites,
                          std::vector<std::int32_t>& named) {
  const Finding* f = first_believed(s);
  std::string finding = f != nullptr ? what_it_names(s, *f, sites) : std::string();
  if (f != nullptr && f->cause == Cause::blocked && !finding.empty()) return finding;
  std::string delays;
  if (waiting_s >= worth_following * sum.whole_s && s.delay_totals.waited_s > 0) {
    auto found = awaited(s);
    if (found && f != nullptr) add_as_late(*found, *f, s);
    const bool sure = found && !found->alike;
    const bool agree = sure && (f == nullptr || f->ranks.empty() ||
                                std::find(found->ranks.begin(), found->ranks.end(), f->ranks[0]) != found->ranks.end());
    if (found && !sure && f != nullptr && take_turns(s, *f, *found)) {
      named = found->ranks;
      return in_turn(s, *found, sites);
    }
    if (sure) named = found->ranks;
    delays = found ? whom_it_is_for(s, *found, sites) : why_nobody(s);
    if (agree) return delays;
  }
  if (finding.empty()) return delays;
  named = f->ranks;
  return finding;
}

}  // namespace

// Only then is anything of ranks missing (older dumps).
bool is_over(const Snapshot& s) {
  return s.finished || s.ended ||
         std::any_of(s.ranks.begin(), s.ranks.end(), [](const RankSummary& r) { return r.missing; });
}

std::string so_far(const Snapshot& snapshot, std::string words) {
  return is_over(snapshot) ? words : std::move(words) + " yet";
}

std::string in_words(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

std::string ranks_in_words(const std::vector<std::int32_t>& ranks) {
  std::vector<std::string> words;
  // "and 1 other" is no shorter than its number.
  const std::size_t told = ranks.size() <= most_named + 1 ? ranks.size() : most_named;
  for (std::size_t i = 0; i < told; ++i) words.push_back(std::to_string(ranks[i]));
  if (told < ranks.size()) words.push_back(text::format_count(ranks.size() - told) + " others");
  return (ranks.size() == 1 ? "rank " : "ranks ") + in_words(words);
}

std::vector<std::string> sentences(const Snapshot& s, const Sites& sites) {
  const InsideMpi sum = inside_mpi(s);
  if (!(sum.whole_s > 0) || !std::isfinite(sum.whole_s) || !std::isfinite(sum.inside_s)) return {};
  std::vector<std::string> list = {where_time_goes(s, sum)};
  const double waiting_s = sum.late_sender_s + sum.late_receiver_s + sum.collective_wait_s;
  std::vector<std::int32_t> named;
  const bool most_at_end = sum.finalize_s >= worth_following * sum.whole_s && sum.finalize_s > waiting_s;
  std::string who = most_at_end ? whom_the_end_is_for(s, sum.finalize_s) : std::string();
  if (who.empty()) {
    who = whom_to_blame(s, waiting_s, sum, sites, named);
    if (most_at_end && named.empty()) who.clear();
  }
  if (!who.empty()) list.push_back(std::move(who));
  if (std::string brings = what_it_brings(s, named); !brings.empty()) list.push_back(std::move(brings));
  return list;
}

std::vector<std::string> sentence_lines(const Snapshot& s, const Sites& sites, std::size_t width, std::size_t most) {
  std::vector<std::string> lines;
  for (const std::string& sentence : sentences(s, sites)) {
    std::vector<std::string> parts = width > 0 ? text::wrapped(sentence, width, 2) : std::vector{sentence};
    if (lines.size() + parts.size() > most) break;
    for (std::string& part : parts) lines.push_back(std::move(part));
  }
  return lines;
}

}  // namespace pclscope::views
