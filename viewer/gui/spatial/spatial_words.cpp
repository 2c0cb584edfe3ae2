#include "viewer/gui/spatial/spatial_words.hpp"

#include <cmath>
#include <set>

#include "viewer/session/harm.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/sentences.hpp"

namespace pclscope::gui {
namespace {

std::string ratio_words(double ratio) { return ratio > 0 ? text::format_times(ratio) : std::string("-"); }

std::string period_words(const SelectedPeriod& period) {
  return text::format_moment(period.begin_s).append(" - ").append(text::format_moment(period.end_s));
}

std::size_t nodes_of(const layout::PlacedRegion& region, const std::vector<std::int32_t>& node_of_rank) {
  std::set<std::int32_t> nodes;
  for (const layout::PlacedRank& rank : region.ranks) {
    const auto at = static_cast<std::size_t>(rank.rank);
    if (at < node_of_rank.size() && node_of_rank[at] >= 0) nodes.insert(node_of_rank[at]);
  }
  return nodes.size();
}

std::string waits_words(double late_sender_s, double late_receiver_s, double transfer_s) {
  return std::string("blocked by late senders ")
      .append(text::format_seconds(late_sender_s))
      .append(", late receivers ")
      .append(text::format_seconds(late_receiver_s))
      .append(", exposed transfers ")
      .append(text::format_seconds(transfer_s));
}

std::string counted(std::size_t count, const char* one) {
  return text::format_count(count).append(" ").append(one).append(count == 1 ? "" : "s");
}

}  // namespace

std::string region_words(const layout::SpatialLayout& placed, std::size_t index, const layout::RegionValue& value,
                         const std::optional<SelectedPeriod>& period, bool open) {
  const layout::PlacedRegion& place = placed.regions[index];
  const Region& region = placed.snapshot->regions[place.index];
  std::string words = std::string("region ")
                          .append(std::to_string(place.id))
                          .append(": ")
                          .append(layout::ranks_line(place, 60))
                          .append("\n");
  words.append(counted(place.ranks.size(), "rank"));
  const std::size_t nodes = nodes_of(place, placed.snapshot->application.node_of_rank);
  if (nodes > 0) words.append(" on ").append(counted(nodes, "node"));
  words.append("\n\ntypical latency ratio ").append(ratio_words(value.ratio)).append(", of ");
  words.append(period ? period_words(*period) : std::string("the whole run")).append("\n");
  words.append(text::format_count(value.messages)).append(" messages inside\n");
  if (period) words.append("whole run: ").append(ratio_words(region.level())).append("\n");
  words.append("mean of the whole run ").append(ratio_words(region.mean_latency_ratio)).append("\n");
  words.append("transfer alone ").append(ratio_words(region.mean_transfer_ratio)).append("\n");
  words.append(waits_words(region.late_sender_s, region.late_receiver_s, region.transfer_s)).append("\n");
  words.append("waited in collectives ").append(text::format_seconds(region.collective_wait_s));
  return words.append(open ? "\n\ndouble click: hide its ranks" : "\n\ndouble click: show its ranks");
}

std::string rank_words(const Snapshot& snapshot, std::int32_t rank, std::int32_t region, const RankSummary* summary,
                       bool of_period) {
  std::string words =
      std::string("rank ").append(std::to_string(rank)).append(", region ").append(std::to_string(region));
  if (summary == nullptr) return words.append("\n" + views::so_far(snapshot, "nothing recorded of it"));
  const auto node = static_cast<std::size_t>(summary->node);
  const std::vector<std::string>& names = snapshot.application.nodes;
  if (summary->node >= 0 && node < names.size()) words.append(", on ").append(text::printable(names[node]));
  words.append("\n\ntypical latency ratio ")
      .append(summary->receives > 0 ? ratio_words(summary->level()) : std::string("-"))
      .append(", of messages received in the whole run\n");
  words.append(text::format_count(summary->sends))
      .append(" sent, ")
      .append(text::format_count(summary->receives))
      .append(" received\n");
  words.append(waits_words(summary->late_sender_s, summary->late_receiver_s, summary->transfer_s)).append("\n");
  words.append("its own computation cost others ").append(text::format_seconds(summary->delay_caused_s));
  if (of_period)
    words.append("\n\ncolour: its region's in the selected period; of single ranks only the whole run is known");
  return words;
}

std::string link_words(const RegionLink& link) {
  std::string words = std::string("between region ")
                          .append(std::to_string(link.a))
                          .append(" and region ")
                          .append(std::to_string(link.b));
  words.append(", whole run\n\ntypical latency ratio ")
      .append(ratio_words(link.level()))
      .append(", transfer alone ")
      .append(ratio_words(link.mean_transfer_ratio))
      .append("\n");
  words.append(text::format_count(link.messages))
      .append(" messages, ")
      .append(text::format_bytes(static_cast<double>(link.bytes)))
      .append("\n");
  return words.append(waits_words(link.late_sender_s, link.late_receiver_s, link.transfer_s));
}

std::string pair_words(std::pair<std::int32_t, std::int32_t> ranks, std::uint64_t messages) {
  return std::string("ranks ")
      .append(std::to_string(ranks.first))
      .append(" and ")
      .append(std::to_string(ranks.second))
      .append(": ")
      .append(text::format_count(messages))
      .append(messages == 1 ? " message" : " messages")
      .append(" between them, whole run");
}

std::string worst_words(const layout::SpatialLayout& placed, const std::vector<layout::RegionValue>& values,
                        const std::optional<SelectedPeriod>& period) {
  const auto worst = layout::worst_region(values);
  const std::string when = period ? " in " + period_words(*period) : std::string();
  if (!worst) return std::string("no messages inside regions").append(when);
  std::string words =
      layout::latencies_alike(values)
          ? std::string("all alike: up to ").append(text::format_times(values[*worst].ratio)).append(when)
          : std::string("worst: ").append(layout::region_line(placed.regions[*worst], values[*worst], 24)).append(when);
  const RegionLink* late = nullptr;
  for (const layout::PlacedLink& link : placed.links) {
    const RegionLink& is = placed.snapshot->links[link.index];
    if (is.messages >= 10 && (late == nullptr || is.level() > late->level())) late = &is;
  }
  if (period || late == nullptr || !(late->level() > std::max(1.5, 1.2 * values[*worst].ratio))) return words;
  return words.append("; between ")
      .append(std::to_string(late->a))
      .append(" and ")
      .append(std::to_string(late->b))
      .append(": ")
      .append(text::format_times(late->level()));
}

std::string harm_words(const layout::SpatialLayout& placed, const std::vector<double>& harms) {
  const auto worst = session::stands_out(harms);
  if (!worst) {
    if (session::all_alike(harms)) return "all alike: no region delays others more than the rest";
    return "no single region stands out by the delay that it caused";
  }
  const layout::PlacedRegion& region = placed.regions[*worst];
  return std::string("delays others most: region ")
      .append(std::to_string(region.id))
      .append(" (")
      .append(layout::ranks_line(region, 24))
      .append("): as if ")
      .append(text::format_ratio(harms[*worst]))
      .append(" ranks stood still");
}

std::string empty_words(const Scene& scene) {
  if (!scene.snapshot) return "waiting for the first snapshot";
  const Snapshot& s = *scene.snapshot;
  const bool stored = scene.connection.phase == session::Phase::stored;
  if (stored && !s.finished) return "no regions: the file lacks the end of the run";
  if (s.messages.matched == 0)
    return stored ? "no regions: no messages between ranks" : "no regions: no messages between ranks so far";
  return views::is_over(s) ? "no regions: no ranks talked to each other often enough"
                           : "no regions yet: ranks that talk to each other often will appear here";
}

std::string legend_words(layout::SpatialColouring colouring) {
  std::string words = "Colour: the region, kept over time.";
  if (colouring == layout::SpatialColouring::latency) {
    words =
        "Colour: latency ratio, the time of a message divided by what is usual for its size. Blue is faster, grey (1x) "
        "as usual, "
        "red slower. Discs: mean of the messages inside a region; dots: of those that a rank received; lines: of those "
        "between "
        "two regions.";
  }
  if (colouring == layout::SpatialColouring::harm) {
    words =
        "Colour: the delay that ranks caused by what they computed, as so many ranks that stood still over the whole "
        "run; "
        "grey: next to none. Discs: the sum over a region's ranks; dots: each rank, on a scale of its own.";
  }
  return words.append(
      "\n\nEach disc is a region: ranks that talk to each other often. Its area grows with the number of ranks. Lines: "
      "messages "
      "between regions, the wider the more. Faint lines: pairs of ranks (stored runs only). Place has no meaning but "
      "nearness: "
      "regions that talk lie near.");
}

std::string help_words() {
  return "click: pick a region or rank; on a line: the ranks of both ends\n"
         "double click, or O: show or hide the ranks of a region\n"
         "drag a region: it stays where it is put\n"
         "shift + drag: lasso ranks\n"
         "wheel: zoom; drag the background: move; Home: all\n"
         "R, shift + R: turn\n"
         "L: colour by delay caused, by latency or by region\n"
         "Escape: pick nothing";
}

}  // namespace pclscope::gui
