#include "viewer/session/placement_gain.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "viewer/text/quantities.hpp"

namespace pclscope::session {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t most_replayed = 2'000'000;  // messages; of a longer run the last ones

// The last windows that have no more than that.
TimeSpan last_windows(std::span<const Window> windows) {
  TimeSpan span;
  std::uint64_t messages = 0;
  for (std::size_t i = windows.size(); i-- > 0;) {
    messages += windows[i].all.messages;
    if (messages > most_replayed) break;
    span.begin_ns = std::llround(windows[i].begin_s * 1e9);
  }
  return span;
}

std::vector<std::string> split_at_commas(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) words.push_back(word);
  return words;
}

}  // namespace

double PlacementGain::share() const {
  const double of = part ? what_if.length_s() : run_s;
  return of > 0 ? what_if.gain_s() / of : 0;
}

Result<RecordedCalls> RecordedCalls::read(const std::string& path) {
  const auto session = open_stored(path);
  if (!session) return session.error();
  auto news = (*session)->newer(milliseconds{0});
  if (!news) return news.error();
  if (!*news) return Error{ErrorCode::not_found, "the dump has no summary"};
  return read(**session, std::move(**news));
}

Result<RecordedCalls> RecordedCalls::read(Session& session, Snapshot of, const std::function<bool()>& ended) {
  RecordedCalls run;
  run.snapshot_ = std::move(of);
  run.node_of_rank_ = run.snapshot_.application.node_of_rank;
  if (session.message_count() > most_replayed) {
    const auto windows = session.windows();
    if (!windows) return windows.error();
    run.span_ = last_windows(*windows);
    run.part_ = true;
  }
  auto calls = read_calls(session, run.span_, run.span_, ended);
  if (!calls) return calls.error();
  run.calls_ = std::move(*calls);
  run.left_ = not_replayed(run.calls_, run.span_, {}, run.snapshot_);
  if (const Status there = cut_to_calls(run.span_, run.calls_); !there) return there.error();
  return run;
}

void RecordedCalls::number_nodes(std::vector<std::int32_t> node_of_rank) { node_of_rank_ = std::move(node_of_rank); }

std::optional<LinkTimes> RecordedCalls::link_times(const whatif::Hops& hops) const {
  return whatif::link_times({snapshot_.application.ranks, calls_.messages, calls_.collectives, node_of_rank_}, hops);
}

PlacementGain RecordedCalls::gain(const std::vector<std::int32_t>& placed, const whatif::Hops& hops,
                                  const std::optional<LinkTimes>& given, const TimeSpan& of) const {
  PlacementGain gain;
  const TimeSpan span{std::max(span_.begin_ns, of.begin_ns), std::min(span_.end_ns, of.end_ns)};
  whatif::Change change = whatif::to_nodes(placed, hops);
  change.given = given;
  gain.run_s = snapshot_.duration_s;
  gain.part = part_;
  gain.left = left_;
  const auto found = replay_stored(snapshot_.application.ranks, node_of_rank_, calls_, span, change);
  if (!found) {
    gain.why_not = found.error().message;
    return gain;
  }
  gain.what_if = *found;
  const double ranks_s = found->measured_s * std::max(1, snapshot_.application.ranks);
  gain.collective = ranks_s > 0 ? found->collective_s / ranks_s : 0;
  if (const Status told = is_told(*found, left_, {}); !told) gain.why_not = told.error().message;
  return gain;
}

std::vector<std::string> lines_of(const PlacementGain& gain) {
  if (!gain.why_not.empty()) return {"what it brings: " + gain.why_not};
  const WhatIf& w = gain.what_if;
  const double gain_s = w.gain_s(), of_s = gain.part ? w.length_s() : gain.run_s;
  if (w.changed == 0) return {"what it brings: nothing, as no message goes another distance"};
  std::vector<std::string> lines = {
      std::string("what it brings: ") +
      (gain.part ? "the part from " + text::format_moment(w.begin_s) + " on takes " : "the run takes ") +
      text::format_seconds(of_s - gain_s) + " instead of " + text::format_seconds(of_s) +
      (gain_s < 0 ? ", loses " : ", gains ") + text::format_seconds(std::abs(gain_s)) + " (" +
      text::format_share(std::abs(gain.share())) + ")"};
  if (!gain.worth())
    lines.push_back(gain_s < 0 ? "Not worth it: it takes longer so."
                               : "Not worth it: less than " + text::format_share(PlacementGain::least_worth) +
                                     " cannot be told from what runs differ by.");
  lines.push_back("replayed: " + text::format_count(w.calls) + " calls of " + text::format_share(w.covered) +
                  " of that time, " + text::format_count(w.changed) + " messages " + w.as);
  std::string left;
  const auto add = [&](double share, const char* what) {
    if (share >= PlacementGain::least_worth)
      left += (left.empty() ? "stays as measured: " : ", ") + text::format_share(share) + " of ranks' time " + what;
  };
  add(gain.collective, "inside collectives");
  add(gain.left.files, "in one-sided calls and on files");
  add(gain.left.other, "in MPI calls whose waits are not known");
  if (w.untold > 0)
    left += (left.empty() ? "stays as measured: " : ", ") + text::format_count(w.untold) +
            " messages of which nothing alike was seen";
  if (!left.empty()) lines.push_back(left);
  return lines;
}

Json json_of(const PlacementGain& gain) {
  if (!gain.why_not.empty()) return {{"told", false}, {"why", gain.why_not}};
  const WhatIf& w = gain.what_if;
  return {{"told", true},
          {"worth", gain.worth()},
          {"gain_s", finite(w.gain_s())},
          {"share", finite(gain.share())},
          {"run_s", finite(gain.run_s)},
          {"predicted_run_s", finite(gain.run_s - w.gain_s())},
          {"period", {{"begin_s", finite(w.begin_s)}, {"end_s", finite(w.end_s)}}},
          {"part", gain.part},
          {"covered", finite(w.covered)},
          {"measured_s", finite(w.measured_s)},
          {"replayed_s", finite(w.replayed_s)},
          {"predicted_s", finite(w.predicted_s)},
          {"as", w.as},
          {"changed", w.changed},
          {"untold_messages", w.untold},
          {"collectives", finite(gain.collective)},
          {"untold", finite(gain.left.files + gain.left.other)}};
}

Result<LinkTimes> parse_link_times(const std::string& latency, const std::string& bandwidth) {
  const std::vector<std::string> times = split_at_commas(latency), rates = split_at_commas(bandwidth);
  const Error wrong{ErrorCode::bad_argument,
                    "--latency IN,FIRST[,MORE] are durations, as in 500ns,2us,100ns, and --bandwidth IN,BETWEEN bytes "
                    "per second, as in 10GB,12GB: both are needed"};
  if (times.size() < 2 || times.size() > 3 || rates.size() != 2) return wrong;
  double s[3] = {}, per_byte[2] = {};
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto ns = text::parse_duration_ns(times[i]);
    if (!ns) return wrong;
    s[i] = static_cast<double>(*ns) * 1e-9;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const auto bytes = text::parse_bytes(rates[i]);
    if (!bytes || *bytes == 0) return wrong;
    per_byte[i] = 1 / static_cast<double>(*bytes);
  }
  return LinkTimes{s[0], per_byte[0], s[1], s[2], per_byte[1]};
}

}  // namespace pclscope::session
