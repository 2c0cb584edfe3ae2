#include "viewer/views/period_text.hpp"

#include "viewer/text/quantities.hpp"

namespace pclscope::views {
namespace {

std::string messages_text(std::uint64_t count) {
  return text::format_count(count) + (count == 1 ? " message" : " messages");
}

}  // namespace

std::string newest_period(const Region& region) {
  if (region.periods.empty()) return "";
  const Period& p = region.periods.back();
  if (p.kind == PeriodKind::other) return "";
  const bool growth = p.kind == PeriodKind::growth;
  if (p.open) {
    return (growth ? "growing since " : "steady " + text::format_times(p.level()) + " since ") +
           text::format_moment(p.begin_s);
  }
  return (growth ? "grew to " + text::format_times(p.end_ratio) : "was " + text::format_times(p.level())) + " until " +
         text::format_moment(p.end_s);
}

std::string period_name(PeriodKind kind) {
  return kind == PeriodKind::growth ? "growth" : kind == PeriodKind::steady ? "steady" : "other";
}

std::string kept_line(const Retention& r) {
  if (r.budget_bytes == 0 && r.messages_left_out == 0) return "";
  std::string line = r.keep == Keep::all ? "all" : r.keep == Keep::interesting ? "interesting periods" : "summaries";
  if (r.budget_bytes > 0) line += ", " + text::format_bytes(r.file_bytes) + " of " + text::format_bytes(r.budget_bytes);
  if (r.messages_left_out > 0) line += "; " + messages_text(r.messages_left_out) + " left out";
  if (r.bites_since_s >= 0) line += ", by the budget since " + text::format_moment(r.bites_since_s);
  if (r.messages_shed > 0) line += "; " + shed_line(r);
  return line;
}

std::string shed_line(const Retention& r) {
  if (r.messages_shed == 0) return "";
  return messages_text(r.messages_shed) + " counted but not kept for lack of time, between " +
         text::format_moment(r.shed_from_s) + " and " + text::format_moment(r.shed_to_s);
}

std::string budget_line(const Retention& r) {
  if (!(r.bites_since_s >= 0)) return "";
  return "budget of " + text::format_bytes(r.budget_bytes) + " used up since " + text::format_moment(r.bites_since_s) +
         ": " + messages_text(r.messages_left_out) + " not in the dump";
}

}  // namespace pclscope::views
