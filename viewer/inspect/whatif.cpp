// pclscope inspect FILE whatif: what the time would be without a delay, with equal load, with a healthy link.
#include "analysis/whatif/whatif.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/inspect/topic.hpp"
#include "viewer/session/stored_replay.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/views/finding_rows.hpp"

namespace pclscope::commands {
namespace {

using session::Json;
using session::NotReplayed;
using whatif::Change;

struct Question {
  Change change;
  session::TimeSpan span;
  std::optional<std::size_t> finding;
};

// Which change, when: a finding's (the first, unless words ask for something else), or that of --rank and --balance.
Result<Question> question_of(const InspectWords& words, const InspectedRun& run) {
  Question q;
  auto span = span_of(words, run);
  if (!span) return span.error();
  q.span = *span;
  if (words.finding && !words.ranks.empty())
    return Error{ErrorCode::bad_argument, "--finding says which ranks: give it or --rank, not both"};
  if (words.balance && !words.ranks.empty())
    return Error{ErrorCode::bad_argument, "--balance is about all ranks: give it or --rank, not both"};
  if (words.balance || !words.ranks.empty()) {
    q.change.kind = words.balance ? Change::Kind::balanced : Change::Kind::delays;
    q.change.ranks = q.change.named = words.ranks;
    return q;
  }
  const auto& findings = run.snapshot.attribution.findings;
  const std::uint64_t number = words.finding.value_or(1);
  if (number == 0) return Error{ErrorCode::bad_argument, "there is no finding 0: findings are numbered from 1"};
  if (number > findings.size())
    return Error{ErrorCode::not_found, "there is no finding " + std::to_string(number) + ": the run has " +
                                           std::to_string(findings.size()) + ", numbered from 1"};
  const auto index = static_cast<std::size_t>(number - 1);
  auto change = whatif::change_for(findings[index]);
  if (!change) return Error{ErrorCode::not_found, change.error().message};
  q.change = std::move(*change);
  q.finding = index;
  const auto ns = [](double s) { return static_cast<std::int64_t>(std::llround(std::clamp(s, -4e9, 4e9) * 1e9)); };
  if (!words.from_ns) q.span.begin_ns = ns(findings[index].begin_s);
  if (!words.to_ns) q.span.end_ns = ns(findings[index].end_s);
  return q;
}

// "rank 2"
std::string ranks_of(const Change& change) {
  return (change.ranks.size() == 1 ? "rank " : "ranks ") + text::compact_ranks(change.ranks, 24);
}

struct Answer {
  WhatIf what_if;
  NotReplayed left;
};

// What is usual, before and after it, is looked for as far as a period of the same length.
session::TimeSpan around(session::TimeSpan span) {
  if (span.begin_ns == INT64_MIN || span.end_ns == INT64_MAX) return span;
  const std::int64_t length = std::max<std::int64_t>(span.end_ns - span.begin_ns, 1'000'000'000);
  return {span.begin_ns - length, span.end_ns + length};
}

Result<Answer> answer(Question& q, InspectedRun& run) {
  auto calls = read_calls(*run.session, around(q.span), q.span);
  if (!calls) return calls.error();
  const NotReplayed left = not_replayed(*calls, q.span, q.change.ranks, run.snapshot);
  if (const Status there = cut_to_calls(q.span, *calls); !there) return there.error();
  auto result =
      replay_stored(run.snapshot.application.ranks, run.snapshot.application.node_of_rank, *calls, q.span, q.change);
  if (!result) return result.error();
  if (result->changed == 0)
    return Error{ErrorCode::not_found,
                 q.change.kind == Change::Kind::links
                     ? "cannot be told: no transfer that is replayed took longer than usual"
                     : "cannot be told: between the calls that are replayed nobody computes longer than usual"};
  if (q.change.kind != Change::Kind::links)
    if (const Status told = is_told(*result, left, q.change.ranks); !told) return told.error();
  return Answer{*result, left};
}

// "without the delay of rank 2"
std::string title(const Question& q, const InspectedRun& run) {
  std::string line;
  switch (q.change.kind) {
    case Change::Kind::delays: line = "without the delays of " + ranks_of(q.change); break;
    case Change::Kind::balanced: line = "with equal load on all ranks"; break;
    case Change::Kind::steady: line = "without ranks that are late now and then"; break;
    case Change::Kind::links: line = "with the slow links as usual"; break;
    case Change::Kind::placed: line = "with another placement"; break;
  }
  if (q.finding)
    line += " (finding " + std::to_string(*q.finding + 1) + ", " +
            views::cause_word(run.snapshot.attribution.findings[*q.finding].cause) + ")";
  return line;
}

std::vector<std::string> lines_of(const Question& q, const WhatIf& w, const NotReplayed& left,
                                  const InspectedRun& run) {
  constexpr double worth_telling = 0.02;
  const double gain_s = w.gain_s(), run_s = run.snapshot.duration_s;
  std::vector<std::string> lines = {
      title(q, run) + ": " + text::format_seconds(w.end_s - w.begin_s - gain_s) + " instead of " +
          text::format_seconds(w.end_s - w.begin_s) + " from " + text::format_moment(w.begin_s) + " to " +
          text::format_moment(w.end_s) + (gain_s >= 0 ? ", gains " : ", loses ") +
          text::format_share(std::abs(w.gain())),
      "the run: " + text::format_seconds(run_s - gain_s) + " instead of " + text::format_seconds(run_s),
      "how: " + text::format_count(w.changed) +
          (q.change.kind == Change::Kind::links ? (w.changed == 1 ? " transfer" : " transfers")
           : w.changed == 1                     ? " piece of computation"
                                                : " pieces of computation") +
          " " + w.as,
      "from " + text::format_count(w.calls) + " calls (" + text::format_count(w.messages) + " messages waited for, " +
          text::format_count(w.collectives) + " calls of collectives) of " + text::format_share(w.covered) +
          " of the period; with nothing changed the replay takes " + text::format_seconds(w.replayed_s) +
          ", measured " + text::format_seconds(w.measured_s)};
  // Else the others come earlier as well.
  if (w.ahead_ranks > 0 && w.ahead_s / 2 > gain_s && w.ahead_s > gain_s + worth_telling * w.length_s())
    lines.push_back(text::format_count(w.ahead_ranks) + (w.ahead_ranks == 1 ? " rank comes" : " ranks come") +
                    " to the end of this period up to " + text::format_seconds(w.ahead_s) + " earlier, others as late" +
                    (w.end_s < run_s - worth_telling * w.length_s()
                         ? "; whether the run waits for them later, a period up to its end tells (--to " +
                               text::format_seconds(run_s) + ")"
                         : ", and the run ends with those"));
  if (w.left_out > 0) lines.push_back(text::format_count(w.left_out) + " dependences contradict each other: left out");
  if (left.files + left.other >= worth_telling)
    lines.push_back("not replayed, and counts as computation: " + text::format_share(left.files) +
                    " of ranks' time in one-sided calls and on files, " + text::format_share(left.other) +
                    " in MPI calls whose waits are not known");
  return lines;
}

Json json_of(const Question& q, const WhatIf& w, const NotReplayed& left, const InspectedRun& run) {
  static constexpr const char* kinds[] = {"delays", "balance", "steady", "links", "placed"};
  Json nodes = Json::array();
  for (std::size_t i = 0; i + 1 < q.change.nodes.size(); i += 2)
    nodes.push_back({{"from", q.change.nodes[i]}, {"to", q.change.nodes[i + 1]}});
  return {{"change", kinds[static_cast<std::size_t>(q.change.kind)]},
          {"finding", q.finding ? Json(*q.finding + 1) : Json(nullptr)},
          {"ranks", q.change.ranks},
          {"nodes", nodes},
          {"period", {{"begin_s", session::finite(w.begin_s)}, {"end_s", session::finite(w.end_s)}}},
          {"covered", session::finite(w.covered)},
          {"measured_s", session::finite(w.measured_s)},
          {"replayed_s", session::finite(w.replayed_s)},
          {"predicted_s", session::finite(w.predicted_s)},
          {"gain", session::finite(w.gain())},
          {"gain_s", session::finite(w.gain_s())},
          {"fit_error", session::finite(w.fit_error())},
          {"ahead_s", session::finite(w.ahead_s)},
          {"ahead_ranks", w.ahead_ranks},
          {"path",
           {{"named_s", session::finite(w.named_s)},
            {"others_s", session::finite(w.others_s)},
            {"inside_s", session::finite(w.inside_s)},
            {"untold_s", session::finite(w.untold_s)}}},
          {"run_s", session::finite(run.snapshot.duration_s)},
          {"predicted_run_s", session::finite(run.snapshot.duration_s - w.gain_s())},
          {"as", w.as},
          {"changed", w.changed},
          {"calls", w.calls},
          {"messages", w.messages},
          {"collectives", w.collectives},
          {"left_out", w.left_out},
          {"untold", session::finite(left.files + left.other)}};
}

int show_whatif(const InspectWords& words, InspectedRun& run) {
  if (run.session->live()) return fail(could_not, "a running job gives summaries only: give the dump file instead");
  auto question = question_of(words, run);
  if (!question) return fail(question.error());
  auto found = answer(*question, run);
  if (!found && question->finding && !words.from_ns) {  // the computation may have begun before those who waited did
    Question longer = *question;
    longer.span.begin_ns = INT64_MIN;
    if (auto of_all = answer(longer, run)) {
      question = std::move(longer);
      found = std::move(of_all);
    }
  }
  if (!found) return fail(could_not, found.error().message);
  return show(
      words, run, why_partial(run),
      [&](const views::PageOptions&) { return lines_of(*question, found->what_if, found->left, run); },
      [&] { return views::Rows(); }, [&] { return json_of(*question, found->what_if, found->left, run); });
}

}  // namespace

extern const Topic whatif_topic;
const Topic whatif_topic{"whatif", takes::rank | takes::period | takes::change, show_whatif};

}  // namespace pclscope::commands
