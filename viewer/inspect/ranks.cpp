// pclscope inspect TARGET ranks.
#include "viewer/inspect/topic.hpp"

namespace pclscope::commands {
namespace {

int show_ranks(const InspectWords& words, InspectedRun& run) {
  Snapshot& s = run.snapshot;
  std::erase_if(s.ranks, [&](const RankSummary& rank) { return !run.chosen(words, rank.rank); });
  cut(words, s.ranks);
  const auto json = [&]() -> session::Json {
    return {{"ranks", array_of(s.ranks, [&](const auto& rank) { return session::rank_json(rank, s.application); })}};
  };
  return show(
      words, run, std::nullopt,
      [&](const views::PageOptions& page) { return views::rank_lines(s.ranks, s.application, page.width); },
      [&] { return views::rank_rows(s.ranks, s.application); }, json);
}

}  // namespace

extern const Topic ranks_topic;
const Topic ranks_topic{"ranks", takes::tables | takes::rank, show_ranks};

}  // namespace pclscope::commands
