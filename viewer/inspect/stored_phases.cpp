#include "viewer/inspect/stored_phases.hpp"

#include <algorithm>

#include "viewer/session/logical_run.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::commands {
namespace {

constexpr std::size_t most_records = 8'000'000;

}  // namespace

Result<StoredPhases> read_phases(const InspectWords& words, InspectedRun& run) {
  if (run.session->live())
    return Error{ErrorCode::not_found, "a running job gives summaries only: give the dump file instead"};
  const std::int32_t ranks = run.snapshot.application.ranks;
  if (!words.ranks.empty() && words.ranks.back() >= ranks)
    return Error{ErrorCode::not_found,
                 "no rank " + std::to_string(words.ranks.back()) + ": the run has " + std::to_string(ranks)};
  const auto span = span_of(words, run);
  if (!span) return span.error();
  logical::Records records(ranks);
  records.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(run.session->message_count(), most_records)));
  records.same_lines(session::same_lines(run.snapshot.sites));
  bool cut = false;
  const auto first_of = [&](auto batch, std::size_t already) {
    const std::size_t room = most_records - std::min(most_records, already);
    cut = cut || batch.size() > room;
    return batch.first(std::min(batch.size(), room));
  };
  Status read = run.session->messages(*span, [&](std::span<const Message> batch) {
    records.add(first_of(batch, records.messages()));
    return !cut;
  });
  if (!read) return read.error();
  read = run.session->collectives(*span, [&](std::span<const CollectiveCall> batch) {
    records.add(first_of(batch, records.collectives()));
    return !cut;
  });
  if (!read) return read.error();
  auto time = std::move(records).logical_time();
  if (!time) return time.error();
  StoredPhases stored{std::move(*time), why_partial(run)};
  if (cut)
    stored.why_partial = both(stored.why_partial, "only the first " + text::format_count(most_records) +
                                                      " messages of the period were looked at: ask for a shorter one");
  if (words.phase && *words.phase >= stored.time.phases.size())
    return Error{ErrorCode::not_found, "there is no phase " + std::to_string(*words.phase) + ": this period has " +
                                           text::format_count(stored.time.phases.size()) + ", numbered from 0"};
  return stored;
}

std::vector<std::uint32_t> chosen_phases(const InspectWords& words, const StoredPhases& stored) {
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t p = 0; p < stored.time.phases.size(); ++p) {
    if (words.phase && p != *words.phase) continue;
    const auto parts = stored.time.parts_of(stored.time.phases[p]);
    if (words.ranks.empty() || std::any_of(parts.begin(), parts.end(), [&](const logical::Part& part) {
          return std::binary_search(words.ranks.begin(), words.ranks.end(), part.rank);
        }))
      chosen.push_back(p);
  }
  return chosen;
}

}  // namespace pclscope::commands
