#include "viewer/views/late_phase_lines.hpp"

#include <algorithm>

#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/function_names.hpp"

namespace pclscope::views {
namespace {

using session::LatePhase;
using session::LatePhases;
using session::LateRank;
using text::Align;

constexpr std::size_t ranks_named = 3;
// From so many columns on there is room for these.
constexpr std::size_t width_for_durations = 56, width_for_sums = 72, width_for_ranks = 88, width_for_came_late = 112;

double in_s(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::string counted_phases(std::uint64_t count) {
  return text::format_count(count) + (count == 1 ? " phase" : " phases");
}

// "most late: rank 5 in 37 of 40 phases (1.10 s of 1.50 s lateness), rank 3 in 2"
std::string ranks_line(const char* words, const std::vector<LateRank>& ranks, std::uint64_t phases, double all_s) {
  std::string line = words;
  if (ranks.empty()) return line + ": nobody";
  for (std::size_t i = 0; i < std::min(ranks.size(), ranks_named); ++i) {
    const LateRank& r = ranks[i];
    line += i == 0 ? ": rank " : ", rank ";
    line += std::to_string(r.rank) + " in " + text::format_count(r.phases);
    if (i == 0)
      line += " of " + counted_phases(phases) + " (there " + text::format_seconds(r.late_s) + " of all ranks' " +
              text::format_seconds(all_s) + ")";
  }
  if (ranks.size() > ranks_named) line += ", " + std::to_string(ranks.size() - ranks_named) + " others";
  return line;
}

// "MPI_Isend at halo.c:42"; where that is not known, what it did.
std::string call_text(const logical::LatenessSum& of, const Sites& sites) {
  if (of.rank < 0) return "-";
  const CallSite* site = sites.find(of.site);
  if (site != nullptr)
    return (site->mpi_function != 0 ? function_name(site->mpi_function) + " at " : "") + sites.brief(of.site);
  return of.kind == logical::Kind::send ? "a send" : of.kind == logical::Kind::receive ? "a receive" : "a collective";
}

std::string rank_text(const logical::LatenessSum& of) { return of.rank < 0 ? "-" : std::to_string(of.rank); }

}  // namespace

std::string late_phase_title(const LatePhases& phases) {
  const std::string all = counted_phases(phases.all);
  if (phases.stored) return all + " of the run";
  return all + " in the newest " + text::format_seconds(phases.to_s - phases.from_s) +
         " of the job's messages, without collectives";
}

std::vector<std::string> late_rank_lines(const LatePhases& phases) {
  if (phases.all == 0) return {};
  return {ranks_line("most late", phases.late, phases.all, phases.late_s),
          ranks_line("came late", phases.came_late, phases.all, phases.came_late_s)};
}

std::vector<std::string> late_phase_lines(const LatePhases& phases, PhaseOrder order, const Sites& sites,
                                          std::size_t width, std::size_t most) {
  if (phases.phases.empty())
    return {phases.stored ? "no phases: no messages or collectives are stored (record with --keep all)"
                          : "no messages in that time"};
  std::vector<const LatePhase*> rows;
  for (auto phase = phases.phases.rbegin(); phase != phases.phases.rend(); ++phase) rows.push_back(&*phase);
  if (order == PhaseOrder::latest)
    std::stable_sort(rows.begin(), rows.end(),
                     [](const LatePhase* a, const LatePhase* b) { return a->lateness.sum_ns > b->lateness.sum_ns; });
  if (rows.size() > most) rows.resize(most);
  const auto has_room = [&](std::size_t least) { return width == 0 || width >= least; };
  text::Table table;
  if (phases.stored) table.column("phase", Align::right);
  table.column("from", Align::right);
  if (has_room(width_for_durations)) table.column("took", Align::right);
  if (has_room(width_for_sums))
    for (const char* title : {"steps", "lateness"}) table.column(title, Align::right);
  if (has_room(width_for_ranks)) table.column("ranks", Align::left);
  for (const char* title : {"rank", "late by"}) table.column(title, Align::right);
  table.column("first in", Align::left);
  if (has_room(width_for_came_late)) {
    for (const char* title : {"came", "late by"}) table.column(title, Align::right);
    table.column("to", Align::left);
  }
  for (const LatePhase* p : rows) {
    std::vector<std::string> cells;
    if (phases.stored) cells.push_back(p->number ? std::to_string(*p->number) : "-");
    cells.push_back(text::format_moment(p->begin_s));
    if (has_room(width_for_durations)) cells.push_back(text::format_seconds(p->end_s - p->begin_s));
    if (has_room(width_for_sums)) {
      cells.push_back(std::to_string(p->steps));
      cells.push_back(text::format_seconds(p->lateness.sum_ns * 1e-9));
    }
    if (has_room(width_for_ranks)) cells.push_back(p->ranks);
    cells.push_back(rank_text(p->lateness));
    cells.push_back(text::format_seconds(in_s(p->lateness.rank_most_ns)));
    cells.push_back(call_text(p->lateness, sites));
    if (has_room(width_for_came_late)) {
      cells.push_back(rank_text(p->entry));
      cells.push_back(text::format_seconds(in_s(p->entry.rank_most_ns)));
      cells.push_back(call_text(p->entry, sites));
    }
    table.row(std::move(cells));
  }
  std::vector<std::string> lines = table.lines(width);
  if (rows.size() < phases.all)
    lines.push_back("... and " + text::format_count(phases.all - rows.size()) +
                    (order == PhaseOrder::newest ? " older" : " in which ranks were less late"));
  return lines;
}

}  // namespace pclscope::views
