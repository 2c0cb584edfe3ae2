// pclscope inspect FILE whatif: what the time would be without a delay, with equal load, with a healthy link.
#include "analysis/whatif/whatif.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/values/wait_state.hpp"
#include "viewer/inspect/topic.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/views/finding_rows.hpp"

namespace pclscope::commands {
namespace {

using session::Json;
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
    q.change.ranks = words.ranks;
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

constexpr std::size_t most_messages = 3'000'000;  // some 300 bytes each while they are replayed

struct Stored {
  std::vector<Message> messages;
  std::vector<CollectiveCall> collectives;
};

// What is under way in the span; empty when that is too much.
Result<std::optional<Stored>> stored_in(session::TimeSpan span, InspectedRun& run) {
  Stored stored;
  bool all = true;
  const auto append = [&](auto& rows, auto batch) {
    rows.insert(rows.end(), batch.begin(), batch.end());
    return all = rows.size() <= most_messages;
  };
  span.or_end = true;
  Status read = run.session->messages(span, [&](std::span<const Message> b) { return append(stored.messages, b); });
  if (!read) return read.error();
  if (all)
    read = run.session->collectives(span,
                                    [&](std::span<const CollectiveCall> b) { return append(stored.collectives, b); });
  if (!read) return read.error();
  if (!all) return std::optional<Stored>();
  return std::optional<Stored>(std::move(stored));
}

// The period within the run: what a replay begins and ends with.
void cut_to_run(session::TimeSpan& span, Stored& calls) {
  std::erase_if(calls.collectives, [](const CollectiveCall& c) { return group_of(c) != WaitGroup::collective; });
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  for (const Message& m : calls.messages) {
    first = std::min({first, m.send_begin, m.recv_post});
    last = std::max(last, m.recv_end);
  }
  for (const CollectiveCall& c : calls.collectives) {
    first = std::min(first, c.begin);
    last = std::max(last, c.end);
  }
  span.begin_ns = std::max(span.begin_ns, first);
  span.end_ns = std::min(span.end_ns, last);
}

Result<WhatIf> answer(Question& q, InspectedRun& run) {
  if (const std::uint64_t lost = run.session->collectives_not_stored(); lost > 0)
    return Error{ErrorCode::not_found, text::format_count(lost) +
                                           " calls of collectives are not in the dump, for which it had no room: a "
                                           "replay would miss who waited in them"};
  // What is usual, before and after it, is looked for as far as a period of the same length.
  session::TimeSpan read = q.span;
  if (read.begin_ns != INT64_MIN && read.end_ns != INT64_MAX) {
    const std::int64_t length = std::max<std::int64_t>(read.end_ns - read.begin_ns, 1'000'000'000);
    read.begin_ns -= length;
    read.end_ns += length;
  }
  auto calls = stored_in(read, run);
  if (calls && !*calls) calls = stored_in(read = q.span, run);
  if (!calls) return calls.error();
  if (!*calls)
    return Error{ErrorCode::not_found, "more than " + text::format_count(most_messages) +
                                           " messages in this period: ask for a shorter one with --from and --to"};
  Stored& stored = **calls;
  cut_to_run(q.span, stored);
  if (q.span.begin_ns >= q.span.end_ns)
    return Error{ErrorCode::not_found, "no messages of this period are in the dump: nothing to replay"};
  std::vector<whatif::Period> whole = {{INT64_MIN, INT64_MAX}};
  const bool some_left_out = run.session->messages_not_stored() > 0;
  if (some_left_out) {
    const auto windows = run.session->windows();
    if (!windows) return windows.error();
    whole = whatif::whole_parts(*windows, stored.messages, read.begin_ns, read.end_ns);
  }
  const whatif::Records records{run.snapshot.application.ranks, stored.messages, stored.collectives,
                                run.snapshot.application.node_of_rank};
  auto result = whatif::what_if(records, whole, q.span.begin_ns, q.span.end_ns, q.change);
  if (!result && some_left_out)
    return Error{result.error().code, result.error().message + "; pclscope run --keep all keeps them"};
  return result;
}

// "without the delay of rank 2"
std::string title(const Question& q, const InspectedRun& run) {
  const std::string ranks = (q.change.ranks.size() == 1 ? "rank " : "ranks ") + text::compact_ranks(q.change.ranks, 24);
  std::string line;
  switch (q.change.kind) {
    case Change::Kind::delays: line = "without the delays of " + ranks; break;
    case Change::Kind::balanced: line = "with equal load on all ranks"; break;
    case Change::Kind::steady: line = "without ranks that are late now and then"; break;
    case Change::Kind::links: line = "with the slow links as usual"; break;
  }
  if (q.finding)
    line += " (finding " + std::to_string(*q.finding + 1) + ", " +
            views::cause_word(run.snapshot.attribution.findings[*q.finding].cause) + ")";
  return line;
}

// Share of ranks' time that is inside MPI, in ways that the records do not tell: the replay takes it for computation.
double untold(const InspectedRun& run) {
  double other = 0;
  for (const RankSummary& r : run.snapshot.ranks) other += r.other_s + r.one_sided_s + r.file_s;
  const double time = run.snapshot.duration_s * run.snapshot.application.ranks;
  return time > 0 ? other / time : 0;
}

std::vector<std::string> lines_of(const Question& q, const WhatIf& w, const InspectedRun& run) {
  constexpr double worth_telling = 0.02;
  const double gain_s = w.gain_s(), run_s = run.snapshot.duration_s;
  std::vector<std::string> lines = {
      title(q, run) + ": " + text::format_seconds(w.end_s - w.begin_s - gain_s) + " instead of " +
          text::format_seconds(w.end_s - w.begin_s) + " from " + text::format_moment(w.begin_s) + " to " +
          text::format_moment(w.end_s) + (gain_s >= 0 ? ", gains " : ", loses ") +
          text::format_share(std::abs(w.gain())),
      "the run: " + text::format_seconds(run_s - gain_s) + " instead of " + text::format_seconds(run_s),
      "how: " + text::format_count(w.changed) +
          (q.change.kind == Change::Kind::links ? " transfers" : " pieces of computation") + " " + w.as,
      "from " + text::format_count(w.calls) + " calls (" + text::format_count(w.messages) + " messages waited for, " +
          text::format_count(w.collectives) + " calls of collectives) of " + text::format_share(w.covered) +
          " of the period; with nothing changed the replay takes " + text::format_seconds(w.replayed_s) +
          ", measured " + text::format_seconds(w.measured_s)};
  if (w.ahead_ranks > 0 && w.ahead_s > gain_s + worth_telling * (w.end_s - w.begin_s))
    lines.push_back(text::format_count(w.ahead_ranks) + (w.ahead_ranks == 1 ? " rank comes" : " ranks come") +
                    " to the end of this period up to " + text::format_seconds(w.ahead_s) + " earlier, others as late" +
                    (w.end_s < run_s - worth_telling * (w.end_s - w.begin_s)
                         ? "; whether the run waits for them later, a period up to its end tells (--to " +
                               text::format_seconds(run_s) + ")"
                         : ", and the run ends with those"));
  if (w.left_out > 0) lines.push_back(text::format_count(w.left_out) + " dependences contradict each other: left out");
  if (const double share = untold(run); share >= worth_telling)
    lines.push_back("not replayed: " + text::format_share(share) +
                    " of ranks' time is in MPI calls whose waits are not known, and counts as computation");
  return lines;
}

Json json_of(const Question& q, const WhatIf& w, const InspectedRun& run) {
  static constexpr const char* kinds[] = {"delays", "balance", "steady", "links"};
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
          {"run_s", session::finite(run.snapshot.duration_s)},
          {"predicted_run_s", session::finite(run.snapshot.duration_s - w.gain_s())},
          {"as", w.as},
          {"changed", w.changed},
          {"calls", w.calls},
          {"messages", w.messages},
          {"collectives", w.collectives},
          {"left_out", w.left_out},
          {"untold", session::finite(untold(run))}};
}

int show_whatif(const InspectWords& words, InspectedRun& run) {
  if (run.session->live()) return fail(could_not, "a running job gives summaries only: give the dump file instead");
  auto question = question_of(words, run);
  if (!question) return fail(question.error());
  const auto found = answer(*question, run);
  if (!found) return fail(could_not, found.error().message);
  return show(
      words, run, why_partial(run), [&](const views::PageOptions&) { return lines_of(*question, *found, run); },
      [&] { return views::Rows(); }, [&] { return json_of(*question, *found, run); });
}

}  // namespace

extern const Topic whatif_topic;
const Topic whatif_topic{"whatif", takes::rank | takes::period | takes::change, show_whatif};

}  // namespace pclscope::commands
