#include "analysis/delay/history.hpp"

#include <algorithm>

#include "analysis/delay/calls_of_ranks.hpp"

namespace pclscope {
namespace {

constexpr std::uint32_t calls_of_stretch = 64;  // of the newest

}  // namespace

std::uint8_t kinds_of(const RankCall& before, const RankCall& after) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(before.kind) << 4 | static_cast<unsigned>(after.kind));
}

void Stretch::add(const Phase& phase) {
  const auto put = [](Phase& into, const Phase& from) {
    into.ns += from.ns;
    if (from.longest_ns <= into.longest_ns) return;
    into.longest_ns = from.longest_ns;
    into.visit_ns = from.visit_ns;
  };
  std::size_t at = 0;
  for (; at < most && phases[at].ns > 0; ++at) {
    const Phase& p = phases[at];
    if (p.site != phase.site || p.after_site != phase.after_site || p.kinds != phase.kinds) continue;
    put(phases[at], phase);
    break;
  }
  if (at == most) {
    if (phase.ns <= phases[most - 1].ns) return put(phases[most], phase);
    put(phases[most], phases[--at]);  // the least gives its place
    phases[at] = phase;
  } else if (phases[at].ns == 0) {
    phases[at] = phase;
  }
  for (; at > 0 && phases[at].ns > phases[at - 1].ns; --at) std::swap(phases[at], phases[at - 1]);
}

void Stretch::add(const Part& part) {
  std::size_t at = 0;
  while (at < most && parts[at].ns > 0 && parts[at].blame.origin != part.blame.origin) ++at;
  if (at == most) {
    if (part.ns <= parts[most - 1].ns) return;  // unknown
    parts[--at] = {};
  }
  Part& p = parts[at];
  if (p.ns > 0 && p.blame.visit_ns != part.blame.visit_ns) p.blame.visit_ns = several_visits;
  else p.blame = part.blame;
  p.ns += part.ns;
  for (; at > 0 && parts[at].ns > parts[at - 1].ns; --at) std::swap(parts[at], parts[at - 1]);
}

void Stretch::join(const Stretch& later) {
  end_ns = later.end_ns;
  waited_ns += later.waited_ns;
  inside_ns += later.inside_ns;
  calls += later.calls;
  for (std::size_t i = 0; i < most && later.phases[i].ns > 0; ++i) add(later.phases[i]);
  Phase& rest = phases[most];
  rest.ns += later.phases[most].ns;
  if (later.phases[most].longest_ns > rest.longest_ns) {
    rest.longest_ns = later.phases[most].longest_ns;
    rest.visit_ns = later.phases[most].visit_ns;
  }
  for (std::size_t i = 0; i < most && later.parts[i].ns > 0; ++i) add(later.parts[i]);
}

void History::add(const RankCall& call, std::span<const Blame> blames, std::size_t most_stretches) {
  if (stretches_.empty() || stretches_.back().calls >= calls_of_stretch) {
    const std::int64_t from = stretches_.empty() ? call.begin : stretches_.back().end_ns;
    if (stretches_.size() >= most_stretches) {  // older ones by twos; of an odd number the last stays
      std::vector<Stretch> joined;
      const std::size_t pairs = most_stretches * 3 / 8;
      for (std::size_t i = 0; i < stretches_.size(); ++i) {
        if (i < 2 * pairs && i % 2 == 1) joined.back().join(stretches_[i]);
        else joined.push_back(stretches_[i]);
      }
      stretches_ = std::move(joined);
    }
    Stretch& fresh = stretches_.emplace_back();
    fresh.begin_ns = fresh.end_ns = from;
  }
  Stretch& s = stretches_.back();
  RankCall before;
  before.kind = static_cast<RankCall::Kind>(last_kind_);
  if (const std::int64_t gap = call.begin - s.end_ns; gap > 0)
    s.add(Stretch::Phase{call.site, last_site_, kinds_of(before, call), gap, gap, s.end_ns});
  const std::int64_t begin = std::max(s.end_ns, call.begin), until = std::max(begin, call.end);
  const std::int64_t waited = std::clamp(call.wait_end, begin, until) - begin;
  s.waited_ns += waited;
  s.inside_ns += until - begin - waited;
  for (const Blame& blame : blames) {
    const double ns = static_cast<double>(waited) * static_cast<double>(blame.share);
    if (ns > 0) s.add(Stretch::Part{blame, ns});
  }
  s.end_ns = until;
  ++s.calls;
  last_site_ = call.site;
  last_kind_ = static_cast<std::uint8_t>(call.kind);
}

void History::renumber(const std::vector<std::uint32_t>& now_at) {
  for (Stretch& s : stretches_) {
    std::array<Stretch::Part, Stretch::most> old;
    std::swap(old, s.parts);
    for (Stretch::Part& part : old) {
      if (!(part.ns > 0)) continue;
      part.blame.origin = now_at[part.blame.origin];
      s.add(part);
    }
  }
}

}  // namespace pclscope
