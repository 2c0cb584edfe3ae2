#include "viewer/session/logical_run.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/logical/stream.hpp"
#include "analysis/values/wait_state.hpp"

namespace pclscope::session {
namespace {

constexpr std::uint32_t most_sites = 1u << 20;          // more than a job can have: of damaged dumps
constexpr std::uint64_t most_pieces = 400;              // of the run
constexpr std::size_t most_pending = 4'000'000;         // records that wait for a silent rank
constexpr std::uint64_t events_between_news = 1 << 20;  // of what is published

// Operations in order of their first return: an operation goes to the stream at once.
class Operations {
 public:
  Status read(Session& session) {
    const Status status = session.collectives({}, [&](std::span<const CollectiveCall> batch) {
      for (const CollectiveCall& c : batch)
        if (group_of(c) == WaitGroup::collective) calls_.push_back(c);
      return true;
    });
    std::sort(calls_.begin(), calls_.end(), [](const CollectiveCall& a, const CollectiveCall& b) {
      return std::tie(a.comm, a.ordinal, a.rank, a.begin) < std::tie(b.comm, b.ordinal, b.rank, b.begin);
    });
    for (std::size_t i = 0; i < calls_.size();) {
      Operation of{calls_[i].end, i, i};
      for (; of.last < calls_.size() && same(calls_[of.last], calls_[i]); ++of.last)
        of.first_end = std::min(of.first_end, calls_[of.last].end);
      list_.push_back(of);
      i = of.last;
    }
    std::stable_sort(list_.begin(), list_.end(),
                     [](const Operation& a, const Operation& b) { return a.first_end < b.first_end; });
    return status;
  }
  void give_before(std::int64_t until, logical::Stream& stream) {
    for (; next_ < list_.size() && list_[next_].first_end < until; ++next_)
      stream.add(std::span(calls_).subspan(list_[next_].first, list_[next_].last - list_[next_].first));
  }

 private:
  struct Operation {
    std::int64_t first_end;
    std::size_t first, last;
  };
  static bool same(const CollectiveCall& a, const CollectiveCall& b) {
    return a.comm == b.comm && a.ordinal == b.ordinal;
  }
  std::vector<CollectiveCall> calls_;
  std::vector<Operation> list_;
  std::size_t next_ = 0;
};

void add_phase(const logical::LogicalTime& time, const logical::Phase& phase, LogicalRun& run) {
  const auto boxes = boxes_of(time, phase);
  run.steps = std::max(run.steps, boxes->first_step + boxes->steps);
  run.events += boxes->boxes.size();
  if (run.sums.size() < run.steps) run.sums.resize(run.steps);
  for (const LogicalBox& box : boxes->boxes)
    for (std::size_t m = 0; m < logical_metrics; ++m)
      run.sums[box.step][m] += boxes->value(box, static_cast<logical::Metric>(m)) * 1e-9f;
  run.phases.push_back(boxes);
}

void sort_phases(LogicalRun& run) {
  const auto first_rank = [](const LogicalPhase& p) { return p.parts.empty() ? -1 : p.parts.front().rank; };
  std::stable_sort(run.phases.begin(), run.phases.end(), [&](const auto& a, const auto& b) {
    return std::pair(a->first_step, first_rank(*a)) < std::pair(b->first_step, first_rank(*b));
  });
}

}  // namespace

std::vector<std::uint32_t> same_lines(const std::vector<CallSite>& sites) {
  std::uint32_t most = 0;
  for (const CallSite& s : sites)
    if (s.id <= most_sites) most = std::max(most, s.id);
  std::vector<std::uint32_t> line(std::size_t{most} + 1);
  std::iota(line.begin(), line.end(), 0);
  using Key = std::tuple<std::string, std::string, std::uint32_t, std::uint16_t, std::uint32_t>;
  // A caller's own line may be found later than that of what it calls: until nothing changes, which depth bounds.
  for (bool changed = true; changed;) {
    changed = false;
    std::map<Key, std::uint32_t> first;
    for (const CallSite& s : sites) {
      if (s.line == 0 || s.id >= line.size()) continue;
      const std::uint32_t caller = s.caller < line.size() ? line[s.caller] : s.caller;
      const Key key{s.module, s.file, s.line, s.mpi_function, caller};
      const std::uint32_t same = std::min(first.try_emplace(key, s.id).first->second, line[s.id]);
      changed = changed || line[s.id] != same;
      line[s.id] = same;
    }
  }
  return line;
}

std::int32_t LogicalPhase::rank_of(std::uint32_t box) const {
  const auto part = std::partition_point(parts.begin(), parts.end(), [&](const auto& p) { return p.end <= box; });
  return part == parts.end() ? -1 : part->rank;
}

const logical::Part* LogicalPhase::part_of(std::int32_t rank) const {
  const auto part = std::partition_point(parts.begin(), parts.end(), [&](const auto& p) { return p.rank < rank; });
  return part == parts.end() || part->rank != rank ? nullptr : &*part;
}

std::uint32_t LogicalPhase::box_at(std::int32_t rank, std::uint32_t step) const {
  const logical::Part* part = part_of(rank);
  if (part == nullptr) return logical::none;
  const auto begin = boxes.begin() + part->first, end = boxes.begin() + part->end;
  const auto box = std::partition_point(begin, end, [&](const LogicalBox& b) { return b.step < step; });
  return box == end || box->step != step ? logical::none : static_cast<std::uint32_t>(box - boxes.begin());
}

std::shared_ptr<const LogicalPhase> boxes_of(const logical::LogicalTime& time, const logical::Phase& phase) {
  auto made = std::make_shared<LogicalPhase>();
  made->first_step = phase.first_step;
  made->steps = phase.steps;
  const auto rows = std::span(time.earliest).subspan(phase.first_row, phase.steps);
  made->earliest.assign(rows.begin(), rows.end());
  const auto parts = time.parts_of(phase);
  std::size_t events = 0;
  for (const logical::Part& part : parts) events += part.end - part.first;
  made->parts.reserve(parts.size());
  made->boxes.reserve(events);
  // Of each rank between the first and the last one its part, to see where an event's box is.
  const std::int32_t least = parts.empty() ? 0 : parts.front().rank;
  std::vector<std::uint32_t> part_at(parts.empty() ? 0 : static_cast<std::size_t>(parts.back().rank - least) + 1,
                                     logical::none);
  for (std::uint32_t i = 0; i < parts.size(); ++i) part_at[static_cast<std::size_t>(parts[i].rank - least)] = i;
  const auto place = [&](std::uint32_t event) -> std::uint32_t {
    const auto rank = static_cast<std::size_t>(time.rank_of[event] - least);
    if (rank >= part_at.size() || part_at[rank] == logical::none) return logical::none;
    const logical::Part& of = parts[part_at[rank]];
    if (event < of.first || event >= of.end) return logical::none;
    return made->parts[part_at[rank]].first + (event - of.first);
  };
  std::uint32_t next = 0;
  for (const logical::Part& part : parts) {
    made->parts.push_back({part.rank, next, next + (part.end - part.first)});
    next = made->parts.back().end;
  }
  for (const logical::Part& part : parts) {
    for (std::uint32_t i = part.first; i < part.end; ++i) {
      const logical::Event& e = time.events[i];
      LogicalBox box;
      box.step = e.step;
      box.site = e.site < most_sites ? e.site : 0;
      box.kind = e.kind;
      box.lateness_ns = static_cast<float>(time.lateness(phase, e));
      box.duration_ns = static_cast<float>(e.end - e.begin);
      if (e.kind != logical::Kind::collective && e.count == 1) {
        box.partner = place(e.partner);
      } else if (e.kind != logical::Kind::collective && e.count > 1) {
        box.several = 1;
        box.partner = static_cast<std::uint32_t>(made->partners.size());
        made->partners.push_back(0);
        for (const std::uint32_t other : time.partners_of(e)) {
          if (const std::uint32_t at = place(other); at != logical::none) made->partners.push_back(at);
        }
        made->partners[box.partner] = static_cast<std::uint32_t>(made->partners.size()) - box.partner - 1;
      }
      made->boxes.push_back(box);
    }
  }
  made->partners.shrink_to_fit();
  for (const LogicalBox& box : made->boxes)
    for (std::size_t m = 0; m < logical_metrics; ++m)
      made->sums[m] += static_cast<double>(made->value(box, static_cast<logical::Metric>(m))) * 1e-9;
  return made;
}

LogicalRun run_of(const logical::LogicalTime& time, std::int32_t ranks) {
  LogicalRun run;
  run.ranks = ranks;
  for (const logical::Phase& phase : time.phases) add_phase(time, phase, run);
  sort_phases(run);
  run.whole = true;
  run.progress = 1;
  return run;
}

logical::LogicalTime time_of(const LogicalPhase& phase, std::int32_t ranks) {
  logical::LogicalTime time;
  const auto count = static_cast<std::uint32_t>(phase.boxes.size());
  time.events.reserve(count);
  time.rank_of.reserve(count);
  time.first.assign(static_cast<std::size_t>(std::max(ranks, 0)) + 1, 0);
  time.first_member = {0};
  for (const logical::Part& part : phase.parts) {
    for (std::uint32_t i = part.first; i < part.end; ++i) {
      const LogicalBox& box = phase.boxes[i];
      logical::Event e;
      e.begin = phase.begin_ns(box);
      e.end = phase.end_ns(box);
      e.step = box.step;
      e.site = box.site;
      e.kind = box.kind;
      const auto partners = phase.partners_of(box);
      e.count = static_cast<std::uint32_t>(partners.size()) & ((1u << 27) - 1);
      if (partners.size() == 1) {
        e.partner = partners[0];
      } else if (partners.size() > 1) {
        e.partner = static_cast<std::uint32_t>(time.partners.size());
        time.partners.insert(time.partners.end(), partners.begin(), partners.end());
      }
      time.events.push_back(e);
      time.rank_of.push_back(part.rank);
    }
    if (part.rank >= 0 && part.rank < ranks) time.first[static_cast<std::size_t>(part.rank) + 1] = part.end;
  }
  for (std::size_t r = 1; r < time.first.size(); ++r) time.first[r] = std::max(time.first[r], time.first[r - 1]);
  time.parts = phase.parts;
  time.earliest = phase.earliest;
  time.phases.push_back({phase.first_step, phase.steps, 0, static_cast<std::uint32_t>(phase.parts.size()), 0, false});
  return time;
}

Status read_logical(Session& session, const Snapshot& snapshot, const PublishLogical& publish,
                    std::uint64_t messages_at_once) {
  LogicalRun run;
  run.ranks = snapshot.application.ranks;
  logical::Stream stream(run.ranks, most_pending);
  stream.same_lines(same_lines(snapshot.sites));
  Operations operations;
  if (const Status read = operations.read(session); !read) return read;
  const std::uint64_t count = session.message_count();
  const std::uint64_t pieces =
      std::clamp<std::uint64_t>(count / std::max<std::uint64_t>(messages_at_once, 1), 1, most_pieces);
  const auto whole_ns = static_cast<std::int64_t>(std::clamp(snapshot.duration_s, 0.0, 4e9) * 1e9);
  std::uint64_t read_messages = 0, told = 0;
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    const bool last = piece + 1 == pieces;
    const auto edge = [&](std::uint64_t of) {
      return static_cast<std::int64_t>(static_cast<double>(whole_ns) * static_cast<double>(of) /
                                       static_cast<double>(pieces));
    };
    const TimeSpan span{piece == 0 ? INT64_MIN : edge(piece), last ? INT64_MAX : edge(piece + 1)};
    const Status read = session.messages(span, [&](std::span<const Message> batch) {
      stream.add(batch);
      read_messages += batch.size();
      return true;
    });
    if (!read) return read;
    operations.give_before(span.end_ns, stream);
    const auto time = last ? stream.finish() : stream.advance(span.end_ns);
    if (!time) return time.error();
    for (const logical::Phase& phase : time->phases) add_phase(*time, phase, run);
    run.progress = count > 0 ? static_cast<double>(read_messages) / static_cast<double>(count) : 1;
    if (last || run.events - told < events_between_news) continue;
    told = run.events;
    if (!publish(std::make_shared<const LogicalRun>(run))) return {};
  }
  sort_phases(run);
  run.whole = true;
  run.progress = 1;
  publish(std::make_shared<const LogicalRun>(std::move(run)));
  return {};
}

}  // namespace pclscope::session
