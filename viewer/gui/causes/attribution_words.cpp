#include "viewer/gui/causes/attribution_words.hpp"

#include <algorithm>

#include "viewer/text/function_name.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/views/finding_rows.hpp"
#include "viewer/views/node_rows.hpp"

namespace pclscope::gui {
namespace {

void add(std::string& line, const std::string& part) {
  if (!line.empty() && !part.empty()) line += ", ";
  line += part;
}

}  // namespace

std::string finding_title(const Finding& f) {
  if (f.cause == Cause::none) return "no cause to name";
  if (f.cause == Cause::unknown) return "cause not known";
  std::string title = views::cause_word(f.cause);
  return f.detail.empty() ? title : title + " (" + text::printable(f.detail) + ")";
}

std::string finding_place(const Finding& f, std::int32_t region, const Snapshot& s, const views::Sites& sites) {
  std::string line =
      region >= 0 ? std::string("region ").append(std::to_string(region)) : std::string("all over the job");
  if (!f.ranks.empty()) {
    const std::string ranks = (f.ranks.size() == 1 ? "rank " : "ranks ") + text::compact_ranks(f.ranks, 20);
    add(line, f.cause == Cause::mapping ? "moves " + ranks : ranks);
  }
  for (std::size_t i = 0; i + 1 < std::min<std::size_t>(f.nodes.size(), 4); i += 2)
    add(line, "from " + views::node_name(s, f.nodes[i]) + " to " + views::node_name(s, f.nodes[i + 1]));
  if (f.nodes.size() > 4) line += " and others";
  if (f.site != 0 && sites.find(f.site) != nullptr) add(line, sites.brief(f.site));
  return line;
}

std::string finding_time(const Finding& f) {
  std::string line = f.open ? "since " + text::format_moment(f.begin_s)
                            : text::format_moment(f.begin_s) + " to " + text::format_moment(f.end_s);
  if (f.periods.size() > 1) line += " in " + std::to_string(f.periods.size()) + " periods";
  if (f.lost_s > 0)
    line += ", cost " + text::format_seconds(f.lost_s) + " (" + text::format_share(f.score) + " of ranks' time)";
  return line;
}

std::string finding_site(const Finding& f, const views::Sites& sites) {
  const CallSite* site = f.site != 0 ? sites.find(f.site) : nullptr;
  if (site == nullptr) return "";
  std::string line = std::string("call site: ").append(text::printable(sites.location(f.site)));
  if (!site->function.empty()) line += " in " + text::printable(text::short_function(site->function));
  return line;
}

const char* cause_meaning(Cause cause) {
  switch (cause) {
    case Cause::none: return "What ranks wait for messages is a small part of their time.";
    case Cause::unknown: return "Time is lost, but no cause is certain.";
    case Cause::mapping: return "Ranks that talk much sit on different nodes, and a better placement was found.";
    case Cause::pattern:
      return "Messages or work are unequally shared: a few ranks have most, many send to one, or each waits for the "
             "next.";
    case Cause::background:
      return "Messages between nodes take longer than the same sizes usually do: something else uses the network.";
    case Cause::late_sender: return "Some ranks compute longer before they send, and others wait for them.";
    case Cause::late_receiver: return "Senders wait because receives are posted late.";
    case Cause::collective_wait: return "Ranks wait in collective operations for the last to come.";
    case Cause::load_imbalance: return "What ranks compute differs over all of them: no single one is the cause.";
    case Cause::outage: return "For a time no message came between nodes that usually talk with each other.";
    case Cause::one_sided_wait: return "Ranks wait in one-sided synchronisation for another rank.";
    case Cause::file: return "Time goes into reading and writing files by MPI.";
    case Cause::startup: return "Ranks wait in MPI_Init for the last to come.";
    case Cause::blocked:
      return "Ranks are inside MPI calls that do not return: a deadlock, or for a rank that does not come.";
  }
  return "A cause that this version does not know.";
}

}  // namespace pclscope::gui
