#include "viewer/layout/clock_picture.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace pclscope::layout {
namespace {

using logical::Kind;
using session::LogicalBox;
using session::LogicalPhase;
using session::LogicalRun;

constexpr std::size_t most_entries = 16'000'000;  // of all clocks together, 4 bytes each
constexpr std::size_t most_columns = 256;
constexpr std::int32_t most_known = 256;  // ranks, to know of all of them
constexpr std::uint32_t unknown = UINT32_MAX;

bool in_period(const LogicalPhase& phase, const LogicalBox& box, const ClockRequest& request) {
  return phase.begin_ns(box) < request.to_ns && phase.end_ns(box) >= request.from_ns;
}

// Boxes of a rank, one phase after the other: visit(phase, box).
template <class Visit>
void each_box_of(const LogicalRun& run, std::int32_t rank, Visit visit) {
  for (const auto& phase : run.phases)
    if (const logical::Part* part = phase->part_of(rank))
      for (std::uint32_t b = part->first; b < part->end; ++b) visit(*phase, b);
}

std::int32_t latest_rank(const ClockRequest& request) {
  std::int32_t rank = -1;
  float most = -1;
  for (const auto& phase : request.run->phases)
    for (const logical::Part& part : phase->parts)
      for (std::uint32_t b = part.first; b < part.end; ++b) {
        const LogicalBox& box = phase->boxes[b];
        if (box.lateness_ns > most && in_period(*phase, box, request)) most = box.lateness_ns, rank = part.rank;
      }
  return rank;
}

// The rank, and those with most messages from and to it; in the period, if it has any there.
std::vector<std::int32_t> neighbours_of(const ClockRequest& request, std::int32_t rank) {
  std::map<std::int32_t, std::size_t> inside, all;
  each_box_of(*request.run, rank, [&](const LogicalPhase& phase, std::uint32_t b) {
    const bool in = in_period(phase, phase.boxes[b], request);
    for (const std::uint32_t other : phase.partners_of(phase.boxes[b])) {
      const std::int32_t of = phase.rank_of(other);
      if (of == rank) continue;
      ++all[of];
      if (in) ++inside[of];
    }
  });
  std::vector<std::int32_t> found{rank};
  for (auto* counts : {&inside, &all}) {
    std::vector<std::pair<std::int32_t, std::size_t>> most(counts->begin(), counts->end());
    std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [of, count] : most) {
      if (found.size() >= std::max<std::size_t>(request.most_ranks, 1)) break;
      if (std::find(found.begin(), found.end(), of) == found.end()) found.push_back(of);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

void choose_ranks(const ClockRequest& request, ClockPicture& picture) {
  std::vector<std::int32_t> ranks;
  for (const std::int32_t rank : request.ranks)
    if (rank >= 0 && rank < request.run->ranks && (ranks.empty() || ranks.back() < rank)) ranks.push_back(rank);
  const std::size_t most = std::max<std::size_t>(request.most_ranks, 1);
  if (ranks.size() < 2) {
    const std::int32_t focus = request.focus >= 0 ? request.focus : ranks.empty() ? latest_rank(request) : ranks[0];
    if (focus >= 0 && focus < request.run->ranks) ranks = neighbours_of(request, focus);
  } else if (ranks.size() > most) {
    const auto focus = std::lower_bound(ranks.begin(), ranks.end(), request.focus);
    const auto at = static_cast<std::size_t>(focus - ranks.begin());
    const std::size_t first = std::min(at > most / 2 ? at - most / 2 : 0, ranks.size() - most);
    picture.ranks_left_out = ranks.size() - most;
    ranks = {ranks.begin() + static_cast<std::ptrdiff_t>(first),
             ranks.begin() + static_cast<std::ptrdiff_t>(first + most)};
  }
  picture.ranks = std::move(ranks);
}

// Columns: the steps of the rows in the period, and what lies around it while there is room.
void choose_steps(const ClockRequest& request, ClockPicture& picture) {
  std::vector<std::uint32_t> all;
  std::uint32_t first = unknown, last = 0, next = unknown;  // next: behind a period without events
  for (const std::int32_t rank : picture.ranks)
    each_box_of(*request.run, rank, [&](const LogicalPhase& phase, std::uint32_t b) {
      const LogicalBox& box = phase.boxes[b];
      all.push_back(box.step);
      if (in_period(phase, box, request)) first = std::min(first, box.step), last = std::max(last, box.step);
      if (phase.begin_ns(box) >= request.to_ns) next = std::min(next, box.step);
    });
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.empty()) return;
  if (first == unknown) first = last = next == unknown ? all.back() : next;
  const auto index = [&](std::uint32_t step) {
    return static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), step) - all.begin());
  };
  std::size_t begin = index(first), end = index(last) + 1;
  if (end - begin > most_columns) {
    picture.steps_left_out = end - begin - most_columns;
    end = begin + most_columns;
  }
  const std::size_t wanted = std::min({request.columns, all.size(), most_columns});
  if (end - begin < wanted) {
    const std::size_t before = std::min((wanted - (end - begin)) / 2, begin);
    begin -= before;
    end = std::min(begin + wanted, all.size());
    begin = end - wanted;
  }
  picture.steps.assign(all.begin() + static_cast<std::ptrdiff_t>(begin),
                       all.begin() + static_cast<std::ptrdiff_t>(end));
}

// The events of all ranks in a range of steps, and their clocks.
class Clocks {
 public:
  Clocks(const LogicalRun& run, std::uint32_t first, std::uint32_t last)
      : run_(run), first_(first), step_ends_(std::size_t{last} - first + 2) {
    ranges_.resize(run.phases.size());
    for (std::uint32_t p = 0; p < run.phases.size(); ++p) add_phase(p, first, last);
  }
  std::size_t size() const { return items_.size(); }

  // Components of these ranks, in their order.
  void compute(std::span<const std::int32_t> ranks) {
    width_ = ranks.size();
    component_.assign(static_cast<std::size_t>(run_.ranks), unknown);
    for (std::uint32_t i = 0; i < ranks.size(); ++i) component_[static_cast<std::size_t>(ranks[i])] = i;
    clocks_.assign(items_.size() * width_, 0);
    last_.assign(static_cast<std::size_t>(run_.ranks), unknown);
    done_.assign(items_.size(), 0);
    sort();
    for (std::size_t begin = 0, step = 0; step + 1 < step_ends_.size(); begin = step_ends_[step++]) {
      const std::size_t end = step_ends_[step];
      for (std::size_t i = begin; i < end; ++i) step_on(order_[i]);
      for (std::size_t i = begin; i < end; ++i) meet(order_[i], true);
      for (std::size_t i = begin; i < end; ++i) meet(order_[i], false);
    }
  }
  std::span<const std::uint32_t> clock(std::uint32_t item) const {
    return std::span(clocks_).subspan(item * width_, width_);
  }
  // Of a box; unknown: not in the range.
  std::uint32_t item(std::uint32_t phase, std::uint32_t box) const {
    const auto& ranges = ranges_[phase];
    const auto of = std::partition_point(ranges.begin(), ranges.end(), [&](const Range& r) { return r.end <= box; });
    return of == ranges.end() || box < of->begin ? unknown : of->item + (box - of->begin);
  }
  std::size_t contradictions() const { return contradictions_; }

 private:
  struct Item {
    std::uint32_t phase, box;
    std::int32_t rank;
  };
  struct Range {  // boxes of a part
    std::uint32_t begin, end, item;
  };
  const LogicalBox& box(std::uint32_t i) const { return run_.phases[items_[i].phase]->boxes[items_[i].box]; }

  void add_phase(std::uint32_t number, std::uint32_t first, std::uint32_t last) {
    const LogicalPhase& phase = *run_.phases[number];
    if (phase.first_step > last || phase.first_step + phase.steps <= first) return;
    for (const logical::Part& part : phase.parts) {
      if (part.rank < 0 || part.rank >= run_.ranks) continue;
      const auto at = [&](std::uint64_t step) {
        const auto found = std::partition_point(phase.boxes.begin() + part.first, phase.boxes.begin() + part.end,
                                                [&](const LogicalBox& b) { return b.step < step; });
        return static_cast<std::uint32_t>(found - phase.boxes.begin());
      };
      const std::uint32_t begin = at(first), end = at(std::uint64_t{last} + 1);
      if (begin == end) continue;
      ranges_[number].push_back({begin, end, static_cast<std::uint32_t>(items_.size())});
      for (std::uint32_t b = begin; b < end; ++b) items_.push_back({number, b, part.rank});
    }
  }

  // By step.
  void sort() {
    std::fill(step_ends_.begin(), step_ends_.end(), 0);
    for (std::uint32_t i = 0; i < items_.size(); ++i) ++step_ends_[box(i).step - first_ + 1];
    std::partial_sum(step_ends_.begin(), step_ends_.end(), step_ends_.begin());
    order_.resize(items_.size());
    for (std::uint32_t i = 0; i < items_.size(); ++i) order_[step_ends_[box(i).step - first_]++] = i;
  }

  std::uint32_t* entries(std::uint32_t i) { return clocks_.data() + i * width_; }
  void join(std::uint32_t into, std::uint32_t from) {
    std::transform(entries(into), entries(into) + width_, entries(from), entries(into),
                   [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
  }
  void step_on(std::uint32_t i) {
    const auto rank = static_cast<std::size_t>(items_[i].rank);
    if (last_[rank] != unknown) join(i, last_[rank]);
    last_[rank] = i;
    if (component_[rank] != unknown) ++entries(i)[component_[rank]];
    if (box(i).kind == Kind::receive)
      for (const std::uint32_t other : run_.phases[items_[i].phase]->partners_of(box(i))) {
        const std::uint32_t sent = item(items_[i].phase, other);
        if (sent == unknown) continue;  // before the range
        if (done_[sent] && box(sent).step < box(i).step) join(i, sent);
        else ++contradictions_;
      }
    done_[i] = 1;
  }
  // A collective's members: all tell the first of them, then it tells all.
  void meet(std::uint32_t i, bool gather) {
    if (box(i).kind != Kind::collective || box(i).partner == logical::none) return;
    const std::uint32_t first = item(items_[i].phase, box(i).partner);
    if (first == unknown || first == i || box(first).step != box(i).step) return;
    if (gather) join(first, i);
    else join(i, first);
  }

  const LogicalRun& run_;
  std::uint32_t first_;
  std::vector<std::size_t> step_ends_;  // of order_
  std::vector<Item> items_;
  std::vector<std::vector<Range>> ranges_;  // by phase
  std::vector<std::uint32_t> order_;        // by step
  std::size_t width_ = 0;
  std::vector<std::uint32_t> component_, last_;  // by rank
  std::vector<std::uint32_t> clocks_;
  std::vector<std::uint8_t> done_;
  std::size_t contradictions_ = 0;
};

void add_events(const ClockRequest& request, const Clocks& clocks, ClockPicture& picture) {
  const LogicalRun& run = *request.run;
  for (std::uint32_t p = 0; p < run.phases.size(); ++p) {
    const LogicalPhase& phase = *run.phases[p];
    for (std::uint32_t row = 0; row < picture.ranks.size(); ++row) {
      const logical::Part* part = phase.part_of(picture.ranks[row]);
      if (part == nullptr) continue;
      for (std::uint32_t b = part->first; b < part->end; ++b) {
        const std::uint32_t item = clocks.item(p, b);
        if (item == unknown) continue;
        const auto column = std::lower_bound(picture.steps.begin(), picture.steps.end(), phase.boxes[b].step);
        ClockEvent event{p,
                         b,
                         row,
                         static_cast<std::uint32_t>(column - picture.steps.begin()),
                         {},
                         0,
                         in_period(phase, phase.boxes[b], request)};
        const auto clock = clocks.clock(item);
        event.clock.assign(clock.begin(), clock.begin() + static_cast<std::ptrdiff_t>(picture.ranks.size()));
        for (std::size_t i = picture.ranks.size(); i < clock.size(); ++i) event.others += clock[i];
        picture.events.push_back(std::move(event));
      }
    }
  }
  std::sort(picture.events.begin(), picture.events.end(), [](const ClockEvent& a, const ClockEvent& b) {
    return std::pair(a.column, a.row) < std::pair(b.column, b.row);
  });
}

void add_messages(ClockPicture& picture) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> event_at;  // by phase and box
  for (std::uint32_t i = 0; i < picture.events.size(); ++i)
    event_at[{picture.events[i].phase, picture.events[i].box}] = i;
  for (std::uint32_t i = 0; i < picture.events.size(); ++i) {
    const ClockEvent& event = picture.events[i];
    const LogicalPhase& phase = *picture.run->phases[event.phase];
    const LogicalBox& box = phase.boxes[event.box];
    for (const std::uint32_t other : phase.partners_of(box)) {
      const bool sent = box.kind == Kind::send;
      const std::int32_t rank = phase.rank_of(other);
      if (!std::binary_search(picture.ranks.begin(), picture.ranks.end(), rank)) {
        picture.loose_ends.push_back({i, rank, sent});
      } else if (const auto there = event_at.find({event.phase, other}); sent && there != event_at.end()) {
        picture.messages.push_back({i, there->second});
      }
    }
  }
}

}  // namespace

ClockPicture clock_picture(const ClockRequest& request, const std::function<bool()>& stopping) {
  ClockPicture picture;
  if (!request.run) return picture;
  picture.run = request.run;
  choose_ranks(request, picture);
  choose_steps(request, picture);
  if (picture.steps.empty()) return picture;
  for (;;) {
    if (stopping && stopping()) return {};
    Clocks clocks(*request.run, picture.steps.front(), picture.steps.back());
    const std::size_t columns = picture.steps.size();
    if (clocks.size() * picture.ranks.size() > most_entries && columns > 1) {
      picture.steps_left_out += columns - columns / 2;
      picture.steps.resize(columns / 2);
      continue;
    }
    std::vector<std::int32_t> known = picture.ranks;
    picture.knows_others = request.run->ranks <= most_known &&
                           clocks.size() * static_cast<std::size_t>(request.run->ranks) <= most_entries;
    for (std::int32_t rank = 0; picture.knows_others && rank < request.run->ranks; ++rank)
      if (!std::binary_search(picture.ranks.begin(), picture.ranks.end(), rank)) known.push_back(rank);
    clocks.compute(known);
    picture.first_step = picture.steps.front();
    picture.contradictions = clocks.contradictions();
    add_events(request, clocks, picture);
    add_messages(picture);
    return picture;
  }
}

bool happened_before(const ClockPicture& picture, std::uint32_t a, std::uint32_t b) {
  const ClockEvent &first = picture.events[a], &second = picture.events[b];
  if (first.row == second.row) return first.column < second.column;
  // Members of one collective know of each other: neither was first.
  return second.clock[first.row] >= first.clock[first.row] && first.clock[second.row] < second.clock[second.row];
}

}  // namespace pclscope::layout
