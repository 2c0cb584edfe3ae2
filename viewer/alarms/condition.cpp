#include "viewer/alarms/condition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "viewer/text/nearest.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/views/finding_rows.hpp"
#include "viewer/views/function_names.hpp"

namespace pclscope::alarms {
namespace {

constexpr double newest_s = 2;   // over which lost time is measured
constexpr double least_s = 0.9;  // less has not been seen yet
constexpr std::size_t most_ranks_named = 24;

enum class Unit : std::uint8_t { none, share, number, time };
struct Word {
  const char* name;
  Watched watched;
  Unit unit;
  double otherwise;  // without VALUE; negative: it needs one
};
constexpr std::array<Word, 7> words{{{"lost", Watched::lost, Unit::share, -1},
                                     {"region.lost", Watched::region_lost, Unit::share, -1},
                                     {"region.ratio", Watched::region_ratio, Unit::number, -1},
                                     {"rank.inside", Watched::rank_inside, Unit::time, -1},
                                     {"finding", Watched::finding, Unit::number, 0.5},
                                     {"deadlock", Watched::deadlock, Unit::none, 0},
                                     {"dropped", Watched::dropped, Unit::number, 0}}};

Error wrong(const std::string& text, const std::string& why) {
  return Error{ErrorCode::bad_argument, "'" + text + "': " + why + "; write " + condition_words()};
}

std::string meant(const std::string& word) {
  std::vector<std::string> known;
  for (const Word& w : words) known.emplace_back(w.name);
  return text::did_you_mean(word, known);
}

std::optional<double> number(const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || *end != 0 || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

std::optional<double> value_of(const std::string& word, Unit unit) {
  if (unit == Unit::time) {
    const auto ns = text::parse_duration_ns(word);
    return ns ? std::optional(static_cast<double>(*ns) * 1e-9) : std::nullopt;
  }
  if (unit == Unit::share) {
    if (word.empty() || word.back() != '%') return std::nullopt;
    const auto percent = number(word.substr(0, word.size() - 1));
    return percent ? std::optional(*percent / 100) : std::nullopt;
  }
  return number(word);
}

const char* example(Unit unit) {
  return unit == Unit::time ? "a time, as 30s" : unit == Unit::share ? "a share, as 20%" : "a number, as 3";
}

std::string name_of(const Region& region) {
  return "region " + std::to_string(region.id) + " (ranks " + text::compact_ranks(region.ranks, most_ranks_named) + ")";
}

double blocked_s(const RankSummary& r) {
  return r.late_sender_s + r.late_receiver_s + r.transfer_s + r.collective_wait_s + r.one_sided_s + r.file_s;
}

}  // namespace

std::string condition_words() {
  return "lost > 20%, region.lost > 20%, region.ratio > 3, rank.inside > 30s, finding > 0.8, deadlock or dropped, and "
         "then, if you like, for 60s";
}

Result<Condition> parse_condition(const std::string& text) {
  std::string spaced;
  for (const char c : text) spaced += c == '>' ? std::string(" > ") : std::string(1, c);
  std::istringstream in(spaced);
  std::vector<std::string> parts;
  for (std::string part; in >> part;) parts.push_back(part);
  const auto word =
      std::find_if(words.begin(), words.end(), [&](const Word& w) { return !parts.empty() && parts[0] == w.name; });
  if (word == words.end())
    return wrong(text, parts.empty() ? "nothing to wait for" : "'" + parts[0] + "' is not known" + meant(parts[0]));
  Condition condition{word->watched, word->otherwise, 0, text};
  std::size_t at = 1;
  if (at < parts.size() && parts[at] == ">") {
    if (word->unit == Unit::none) return wrong(text, std::string(word->name) + " has no value");
    const auto value = at + 1 < parts.size() ? value_of(parts[at + 1], word->unit) : std::nullopt;
    if (!value) return wrong(text, std::string(word->name) + " is compared with " + example(word->unit));
    condition.above = *value;
    at += 2;
  }
  if (condition.above < 0) return wrong(text, std::string(word->name) + " needs a value: > " + example(word->unit));
  if (at < parts.size() && parts[at] == "for") {
    const auto ns = at + 1 < parts.size() ? text::parse_duration_ns(parts[at + 1]) : std::nullopt;
    if (!ns || *ns < 0) return wrong(text, "after 'for' comes a time, as 60s");
    condition.for_s = static_cast<double>(*ns) * 1e-9;
    at += 2;
  }
  if (at < parts.size()) return wrong(text, "'" + parts[at] + "' is too much");
  return condition;
}

void Alarm::remember(const Snapshot& snapshot, double at_s) {
  if (!history_.empty() && at_s <= history_.back().at_s) return;
  Lost& lost = history_.emplace_back();
  lost.at_s = at_s;
  for (const RankSummary& rank : snapshot.ranks) lost.job_s += blocked_s(rank);
  for (const Region& r : snapshot.regions)
    lost.region_s[r.id] = r.late_sender_s + r.late_receiver_s + r.transfer_s + r.collective_wait_s;
  while (history_.size() > 2 && history_[1].at_s <= at_s - newest_s) history_.pop_front();
}

// Against the state some seconds ago.
std::optional<std::string> Alarm::lost(const Snapshot& snapshot) const {
  const Lost none;
  const Lost &then = only_one_ ? none : history_.front(), &now = history_.back();
  const char* const when = only_one_ ? " in the whole run" : "";
  const double length = now.at_s - then.at_s;
  if (length < least_s) return std::nullopt;
  if (condition_.watched == Watched::lost) {
    const double share = (now.job_s - then.job_s) / (length * static_cast<double>(snapshot.ranks.size()));
    if (!(share > condition_.above)) return std::nullopt;
    return "ranks were blocked for " + text::format_share(std::min(share, 1.0)) + " of their time" + when;
  }
  const Region* worst = nullptr;
  double most = condition_.above;
  for (const Region& r : snapshot.regions) {
    const auto before = then.region_s.find(r.id);
    if ((before == then.region_s.end() && !only_one_) || r.ranks.empty()) continue;
    const double lost_s = now.region_s.at(r.id) - (only_one_ ? 0 : before->second);
    const double share = lost_s / (length * static_cast<double>(r.ranks.size()));
    if (!(share > most)) continue;
    most = share;
    worst = &r;
  }
  if (worst == nullptr) return std::nullopt;
  return name_of(*worst) + " has lost " + text::format_share(std::min(most, 1.0)) + " of its ranks' time" + when;
}

std::optional<std::string> Alarm::now(const Snapshot& snapshot) {
  switch (condition_.watched) {
    case Watched::lost:
    case Watched::region_lost: return lost(snapshot);
    case Watched::region_ratio: {
      const Region* worst = nullptr;
      double most = condition_.above;
      for (const Region& r : snapshot.regions) {
        const auto newest =
            std::find_if(r.history_ratio.rbegin(), r.history_ratio.rend(), [](float ratio) { return ratio > 0; });
        if (newest == r.history_ratio.rend() || !(*newest > most)) continue;
        most = *newest;
        worst = &r;
      }
      if (worst == nullptr) return std::nullopt;
      return name_of(*worst) + " is " + text::format_times(most) + " as slow as usual";
    }
    case Watched::rank_inside: {
      const auto longest = std::max_element(
          snapshot.ranks.begin(), snapshot.ranks.end(), [](const RankSummary& a, const RankSummary& b) {
            return (a.call_function != 0 ? a.call_for_s : -1) < (b.call_function != 0 ? b.call_for_s : -1);
          });
      if (longest == snapshot.ranks.end() || longest->call_function == 0 || !(longest->call_for_s > condition_.above))
        return std::nullopt;
      return "rank " + std::to_string(longest->rank) + " has been inside " +
             views::function_name(longest->call_function) + " for " + text::format_seconds(longest->call_for_s);
    }
    case Watched::finding: {
      const views::Sites sites(snapshot.sites);
      for (const Finding& f : snapshot.attribution.findings)
        if (f.cause > Cause::unknown && f.confidence > condition_.above && (f.open || snapshot.finished))
          return views::finding_line(f, snapshot, sites);
      return std::nullopt;
    }
    case Watched::deadlock:
      if (snapshot.deadlocks.empty()) return std::nullopt;
      return "a deadlock: " + std::to_string(snapshot.deadlocks.front().members.size()) +
             (snapshot.deadlocks.front().members.size() == 1 ? " rank waits" : " ranks wait") + " for ever";
    case Watched::dropped:
      if (!(static_cast<double>(snapshot.messages.dropped_events) > condition_.above)) return std::nullopt;
      return text::format_count(snapshot.messages.dropped_events) + " events were dropped";
  }
  return std::nullopt;
}

double Alarm::must_look_s() const {
  const bool grows = condition_.watched == Watched::lost || condition_.watched == Watched::region_lost;
  return (grows ? newest_s : 0) + condition_.for_s;
}

std::optional<std::string> Alarm::look(const Snapshot& snapshot) {
  const double at_s = live_until_s(snapshot);
  remember(snapshot, at_s);
  const auto holds = now(snapshot);
  if (!holds) {
    since_s_.reset();
    return std::nullopt;
  }
  if (!since_s_) since_s_ = at_s;
  if (only_one_) return holds;
  if (at_s - *since_s_ < condition_.for_s) return std::nullopt;
  return condition_.for_s > 0 ? *holds + ", for " + text::format_seconds(at_s - *since_s_) : *holds;
}

}  // namespace pclscope::alarms
