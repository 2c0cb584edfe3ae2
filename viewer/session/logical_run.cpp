#include "viewer/session/logical_run.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::session {
namespace {

constexpr std::uint64_t events_between_news = 1 << 20;  // of what is published; a copy of the list of phases each time
constexpr std::size_t phase_bytes = 400;                // beside its boxes, about

std::uint16_t share_of(float wait, float duration) {
  return duration > 0 ? static_cast<std::uint16_t>(std::lround(std::clamp(wait / duration, 0.f, 1.f) * 65535)) : 0;
}

void add_phase(const logical::LogicalTime& time, const logical::Phase& phase, LogicalRun& run) {
  const auto boxes = boxes_of(time, phase);
  run.steps = std::max(run.steps, boxes->first_step + boxes->steps);
  run.events += boxes->boxes.size();
  if (run.sums.size() < run.steps) run.sums.resize(run.steps);
  for (const LogicalBox& box : boxes->boxes)
    for (std::size_t m = 0; m < logical_metrics; ++m)
      run.sums[box.step][m] += boxes->value(box, static_cast<logical::Metric>(m)) *
                               static_cast<float>(unit_of(static_cast<logical::Metric>(m)));
  run.phases.push_back(boxes);
}

void sort_phases(LogicalRun& run) {
  const auto first_rank = [](const LogicalPhase& p) { return p.parts.empty() ? -1 : p.parts.front().rank; };
  std::stable_sort(run.phases.begin(), run.phases.end(), [&](const auto& a, const auto& b) {
    return std::pair(a->first_step, first_rank(*a)) < std::pair(b->first_step, first_rank(*b));
  });
  run.longest_phase = 0;
  for (const auto& phase : run.phases) run.longest_phase = std::max(run.longest_phase, phase->steps);
}

}  // namespace

std::pair<std::uint32_t, std::uint32_t> LogicalRun::phases_within(double from, double to) const {
  if (longest_phase == UINT32_MAX) return {0, static_cast<std::uint32_t>(phases.size())};
  const auto first = std::partition_point(phases.begin(), phases.end(), [&](const auto& p) {
    return static_cast<double>(p->first_step) + longest_phase <= from;
  });
  const auto end = std::partition_point(first, phases.end(), [&](const auto& p) { return p->first_step < to; });
  return {static_cast<std::uint32_t>(first - phases.begin()), static_cast<std::uint32_t>(end - phases.begin())};
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
      box.wait_share = share_of(e.wait_ns, box.duration_ns);
      box.short_bytes = to_short_bytes(e.bytes);
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
      } else if (e.kind == logical::Kind::collective && e.apart == 0 && e.partner + 1u < time.first_member.size()) {
        const auto members = time.members_of(e.partner);
        if (!members.empty()) box.partner = place(members.front());
      }
      made->boxes.push_back(box);
    }
  }
  made->partners.shrink_to_fit();
  for (const LogicalBox& box : made->boxes)
    for (std::size_t m = 0; m < logical_metrics; ++m)
      made->sums[m] += static_cast<double>(made->value(box, static_cast<logical::Metric>(m))) *
                       unit_of(static_cast<logical::Metric>(m));
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
      e.wait_ns = phase.value(box, logical::Metric::wait);
      e.bytes =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(from_short_bytes(box.short_bytes), logical::most_bytes));
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
                    const LogicalReading& reading) {
  LogicalRun run;
  run.ranks = snapshot.application.ranks;
  const std::uint64_t stored = session.message_count();
  if (stored > reading.most_messages) {
    const auto part = part_to_read(session, static_cast<double>(reading.most_messages), reading.wanted);
    if (!part) return part.error();
    run.part = *part;
  }
  std::uint64_t sends = 0;
  std::uint64_t told = 0;
  bool stopped = false;
  bool full = false;
  const auto take = [&](const logical::LogicalTime& time, std::int64_t before_ns, double progress) {
    for (const logical::Phase& phase : time.phases) add_phase(time, phase, run);
    for (const logical::Event& e : time.events) sends += e.kind == logical::Kind::send ? e.count : 0;
    run.progress = progress;
    full = run.events * sizeof(LogicalBox) + run.phases.size() * phase_bytes > reading.most_bytes;
    if (full) {
      run.part.span.end_ns = before_ns;
      run.part.all = false;
      return false;
    }
    if (run.events - told < std::max(events_between_news, run.events / 4)) return true;
    told = run.events;
    stopped = !publish(std::make_shared<const LogicalRun>(run));
    return !stopped;
  };
  const Status read = read_logical_time(session, snapshot, take, reading.messages_at_once, run.part.span);
  if (!read || stopped) return read;
  sort_phases(run);
  run.whole = true;
  run.progress = 1;
  if (!run.part.all) {
    const auto end_ns = static_cast<std::int64_t>(std::clamp(snapshot.duration_s, 0.0, 4e9) * 1e9);
    run.lacks = words_of_part("messages", sends, stored, std::max<std::int64_t>(run.part.span.begin_ns, 0),
                              std::min(run.part.span.end_ns, end_ns));
  }
  publish(std::make_shared<const LogicalRun>(std::move(run)));
  return {};
}

}  // namespace pclscope::session
