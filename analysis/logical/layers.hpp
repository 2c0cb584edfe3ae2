// Cuts a run into layers, and joins layers to phases (docs/methods.md, "Logical time"): layers.cpp, phases.cpp. Private
// to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analysis/logical/last_seen.hpp"
#include "analysis/logical/trace.hpp"

namespace pclscope::logical {

class Layers {
 public:
  explicit Layers(std::int32_t ranks);

  // Goes on with other events: of each rank those of its open phase, whose layers are known, and new ones behind them.
  // What is given stays the caller's, and in its place, until the next attach().
  void attach(LogicalTime& time, Stepper& stepper, std::span<const std::uint32_t> line_of_site);
  // Gives phases to the stepper. Events of `until` and later are not all known: a layer for which one would have to be
  // is left for later, or with `decides` does without it. INT64_MAX: all are known, and nothing remains.
  void find(std::int64_t until, bool decides);
  // Of each rank the first event of its open phase, of the attached ones.
  std::vector<std::uint32_t> open_phases() const;

 private:
  struct RankState {
    std::uint32_t phase = 0;  // first event of its open phase, of the layer that is looked for
    std::uint32_t layer = 0;
    std::uint32_t done = 0;         // events before it were looked at
    std::uint32_t until = 0;        // events before it are wanted
    std::uint32_t known = 0;        // events before it are all there are
    std::uint32_t since = 0;        // the first layer of its open phase
    std::uint32_t limit = none;     // this event and those behind it repeat too much, because of
    std::int32_t limit_rank = -1;   // this rank (-1: because of what is not known),
    std::uint32_t limit_first = 0;  // as long as this event of it is in no layer
    bool is_limited = false;        // it is in `limited_`
    std::uint32_t attempt = 0;      // the last that touched it
    std::int32_t next = 0;          // rank of the same open phase, in a circle
  };

  RankState& state(std::int32_t rank) { return ranks_[at(rank)]; }
  bool ended(std::int32_t rank) { return state(rank).done == time_->first[at(rank) + 1]; }
  std::uint32_t line_of(const Event& e) const { return e.site < line_of_site_.size() ? line_of_site_[e.site] : e.site; }

  // --- layers.cpp ---
  bool find_layer();
  bool ask_all();
  void ask(const std::vector<std::int32_t>& ranks);
  bool reach(std::uint32_t event);
  bool want(std::uint32_t event);
  bool look_at(std::int32_t rank, std::uint32_t event);
  bool tie(std::int32_t rank, std::uint32_t other);
  bool note(const LastSeen::Key& what, std::uint32_t event);
  bool is_beyond(RankState& s, std::uint32_t event);
  void set_limit(std::int32_t rank, std::uint32_t event);
  void clear_limits();
  void accept();
  void take_back();
  void take_back_layer();
  void clear_attempt();
  // --- phases.cpp ---
  void join_or_close();
  void close(std::int32_t set);

  LogicalTime* time_ = nullptr;
  Stepper* stepper_ = nullptr;
  std::span<const std::uint32_t> line_of_site_;
  RankSets open_;    // ranks that the open phases connect,
  RankSets joined_;  // phases that the layer connects, by their names in `open_`,
  RankSets pieces_;  // ranks that the layer connects
  std::vector<RankState> ranks_;
  std::vector<char> seen_;  // operations
  std::vector<char> repeats_, goes_on_;
  LastSeen last_seen_;
  std::uint32_t layer_ = 0, attempt_ = 0, most_ = 1;
  bool all_known_ = true, decides_ = false, lacks_ = false;  // an event that is not known was needed
  std::vector<std::int32_t> alive_, active_, before_;        // not ended; in this layer; in the one before
  // Of an attempt to have a rank's next event in the layer, and (last two) of the layer.
  std::vector<std::int32_t> waiting_, repeating_;
  std::vector<std::pair<std::int32_t, std::uint32_t>> touched_;  // ranks, and what was done of them
  std::vector<std::pair<std::int32_t, std::int32_t>> ties_;
  std::vector<std::uint32_t> operations_;
  std::vector<LastSeen::Undo> undo_;
  std::int32_t failed_rank_ = -1;  // why the attempt failed: as RankState::limit_rank, limit_first
  std::uint32_t failed_first_ = 0;
  std::size_t operations_before_ = 0, undo_before_ = 0;  // when the attempt began
  std::vector<std::int32_t> limited_, over_, unjoined_;
  std::vector<std::size_t> closes_;
  std::vector<Part> parts_;
};

}  // namespace pclscope::logical
