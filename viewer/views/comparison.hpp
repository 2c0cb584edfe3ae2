// Two runs side by side: what changed from an earlier one, and whether it is more than the noise. Pure functions.
//
// Noise of a mean: twice its standard error, from how neighbouring parts of the run differ (32 parts of equal length,
// or the slices of the measures over time). Slow changes and steps inside a run are the run's own and no noise. What
// differs from run to run (nodes, other jobs) is not in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::views {

// What a run brings into a comparison.
struct ComparedRun {
  std::string name;  // of the file
  Snapshot snapshot;
  std::vector<Window> windows;
  bool whole = true;  // the record is not cut off
};

struct Measure {
  enum class Kind { seconds, share, number } kind = Kind::share;
  const char* name = "";              // in JSON
  const char* title = "";             // for people
  std::optional<double> before, now;  // empty: not known
  std::optional<double> noise;        // of the difference; empty: not known
  std::optional<double> change() const { return before && now ? std::optional(*now - *before) : std::nullopt; }
  bool within_noise() const;  // the change is known, and not more than the noise, or 5 % of a time, 3 points of a share
};

enum class Fate { gone, added, less, more, alike };  // added: it was not there before
const char* name_of(Fate fate);

struct ComparedFinding {
  Fate fate = Fate::alike;
  std::int32_t before = -1, now = -1;      // indices of Attribution::findings; -1: not there
  double before_share = 0, now_share = 0;  // lost_s as share of all ranks' time in the run
};

struct ComparedRegion {
  std::int32_t before = -1, now = -1;  // ids; -1: there is none with most of these ranks
  std::vector<std::int32_t> ranks;     // of now, else of before
  Measure waiting;                     // blocked in messages of the region, as share of its ranks' time
  Measure harm;                        // delay caused, in ranks (viewer/session/harm.hpp)
};

struct Comparison {
  std::vector<std::string> remarks;       // why they can be compared in part only
  std::vector<Measure> measures;          // the run time first
  std::vector<ComparedFinding> findings;  // those that are believed in one of both; by what they cost in either
  std::vector<ComparedRegion> regions;    // those that changed most first; none when the ranks are not the same
};
Comparison compare(const ComparedRun& before, const ComparedRun& now);

// Twice the standard error of the mean of these, from the differences of neighbours; empty: fewer than 6.
std::optional<double> noise_of(const std::vector<double>& parts);

std::vector<std::string> comparison_sentences(const Comparison& c);
std::vector<std::string> comparison_lines(const Comparison& c, const ComparedRun& before, const ComparedRun& now,
                                          std::size_t width);
session::Json comparison_json(const Comparison& c, const ComparedRun& before, const ComparedRun& now);
// "-22%", "+1.5 points"; "-" when it is not known.
std::string change_text(const Measure& measure);
std::string noise_text(const Measure& measure);  // "± 0.3 points", "not known"
// "2", or "2 > 3" where the numbers differ.
std::string compared_ids(const ComparedRegion& region);
std::string value_text(const Measure& measure, const std::optional<double>& value);
// "gone: late-sender (computation), rank 9 at halo.c:21", as it was, or is.
std::string compared_finding_text(const ComparedFinding& f, const ComparedRun& before, const ComparedRun& now);

}  // namespace pclscope::views
