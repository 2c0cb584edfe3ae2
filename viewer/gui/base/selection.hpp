// What the user has picked: the only state that views share. Any view may change it while it draws; all show it from
// the next frame on.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace pclscope::gui {

// Where a call of a rank was made; when another rank is selected, it is no more (selected_site()).
struct SelectedSite {
  std::int32_t rank = 0;
  std::uint32_t site = 0;  // id in Snapshot::sites
  bool operator==(const SelectedSite&) const = default;
};

struct SelectedPeriod {
  double begin_s = 0;  // seconds since the time origin
  double end_s = 0;
  // By their bits: a period that is no number is the same as itself, or views would make its picture again for ever.
  bool operator==(const SelectedPeriod& other) const {
    return std::bit_cast<std::uint64_t>(begin_s) == std::bit_cast<std::uint64_t>(other.begin_s) &&
           std::bit_cast<std::uint64_t>(end_s) == std::bit_cast<std::uint64_t>(other.end_s);
  }
};

struct SelectedMessage {
  std::int32_t source = 0;
  std::int32_t destination = 0;
  double begin_s = 0;  // send began
  bool operator==(const SelectedMessage&) const = default;
};

// Logical steps, a part of the run's.
struct SelectedSteps {
  double first = 0;
  double end = 0;  // not included
  bool operator==(const SelectedSteps& other) const {
    return std::bit_cast<std::uint64_t>(first) == std::bit_cast<std::uint64_t>(other.first) &&
           std::bit_cast<std::uint64_t>(end) == std::bit_cast<std::uint64_t>(other.end);
  }
};

// One MPI call. Its rank and period are selected with it; when others are, it is no more (selected_call()).
struct SelectedCall {
  std::int32_t rank = 0;
  std::uint16_t thread = 0;
  std::uint16_t function = 0;
  std::uint64_t site = 0;  // id of its call site; 0 not known
  std::int64_t begin_ns = 0, end_ns = 0;
  bool operator==(const SelectedCall&) const = default;
  SelectedPeriod period() const {  // of a call without length the next nanosecond
    return {static_cast<double>(begin_ns) * 1e-9,
            static_cast<double>(end_ns > begin_ns ? end_ns : begin_ns + 1) * 1e-9};
  }
};

struct Selection {
  std::optional<std::int32_t> region;    // id
  std::optional<SelectedPeriod> period;  // none: views choose for themselves and say so
  std::optional<SelectedPeriod> pinned;  // to compare the period with; none: nothing
  std::vector<std::int32_t> ranks;       // ascending; of a lasso or a search; empty: none
  std::optional<std::int32_t> rank;      // the one in focus
  std::optional<SelectedMessage> message;
  std::optional<SelectedSite> site;
  std::optional<SelectedSteps> steps;     // what views of logical time show; none: all
  std::optional<std::uint32_t> phase;     // of logical time; none: views choose for themselves and say so
  std::optional<std::uint16_t> function;  // MPI function (functions.def)
  std::optional<std::size_t> finding;     // index in Snapshot::attribution.findings
  std::optional<SelectedCall> call;
  bool operator==(const Selection&) const = default;
};

// Keeps the period that is selected now to compare the next one with; a second time: no more.
inline void toggle_pin(Selection& selection) {
  if (selection.pinned) selection.pinned.reset();
  else selection.pinned = selection.period;
}

// Null: none, or something else was selected since.
inline const SelectedCall* selected_call(const Selection& selection) {
  const auto& call = selection.call;
  return call && selection.rank == call->rank && selection.period == call->period() ? &*call : nullptr;
}

}  // namespace pclscope::gui
