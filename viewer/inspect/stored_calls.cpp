#include "viewer/inspect/stored_calls.hpp"

#include "viewer/text/quantities.hpp"

namespace pclscope::commands {
namespace {

constexpr std::size_t most_rows = 8'000'000;
constexpr std::int64_t look_back_ns = 60'000'000'000;

}  // namespace

Result<StoredCalls> read_calls(const session::TimeSpan& span, InspectedRun& run) {
  StoredCalls calls;
  session::TimeSpan wanted = span;
  if (wanted.begin_ns > INT64_MIN + look_back_ns) wanted.begin_ns -= look_back_ns;
  bool cut = false;
  const auto append = [&](auto& rows, auto batch) {
    for (const auto& row : batch) {
      if (rows.size() >= most_rows) return !(cut = true);
      rows.push_back(row);
    }
    return true;
  };
  Status read =
      run.session->messages(wanted, [&](std::span<const Message> batch) { return append(calls.messages, batch); });
  if (!read) return read.error();
  read = run.session->collectives(
      wanted, [&](std::span<const CollectiveCall> batch) { return append(calls.collectives, batch); });
  if (!read) return read.error();
  calls.why_partial = why_partial(run);
  if (cut) {
    calls.why_partial = both(calls.why_partial, "only the first " + text::format_count(most_rows) +
                                                    " messages of the period were looked at: ask for a shorter one");
  }
  return calls;
}

std::vector<RankLife> lives_of(const StoredCalls& calls, const Snapshot& snapshot) {
  std::vector<RankLife> lives;
  if (!calls.why_partial.empty()) return lives;
  for (const RankSummary& r : snapshot.ranks) {
    if (!(r.begin_s >= 0) || !(r.end_s >= r.begin_s) || !(r.end_s < 1e9)) return {};
    lives.push_back({static_cast<std::int64_t>(r.begin_s * 1e9), static_cast<std::int64_t>(r.end_s * 1e9)});
  }
  return lives;
}

}  // namespace pclscope::commands
