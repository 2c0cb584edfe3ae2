// What the user has picked: the only state that views share. Any view may change it while it draws; all show it from
// the next frame on.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace pclscope::gui {

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

struct Selection {
  std::optional<std::int32_t> region;    // id
  std::optional<SelectedPeriod> period;  // none: views choose for themselves and say so
  std::vector<std::int32_t> ranks;       // ascending; of a lasso or a search; empty: none
  std::optional<std::int32_t> rank;      // the one in focus
  std::optional<SelectedMessage> message;
  std::optional<std::size_t> finding;  // index in Snapshot::attribution.findings
  bool operator==(const Selection&) const = default;
};

}  // namespace pclscope::gui
