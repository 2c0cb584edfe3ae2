// The pattern of a phase's messages.
#include <algorithm>

#include "analysis/logical/clusters.hpp"

namespace pclscope::logical {

Pattern pattern_of(const LogicalTime& time, const Phase& phase) {
  std::size_t messages = 0, at_once = 0, next_step = 0;
  bool sends_first = true;
  std::vector<std::int32_t> to, from;
  for (const Part& part : time.parts_of(phase)) {
    to.clear(), from.clear();
    for (std::uint32_t i = part.first; i < part.end; ++i) {
      const Event& e = time.events[i];
      if (e.kind == Kind::collective) continue;
      for (const std::uint32_t partner : time.partners_of(e))
        (e.kind == Kind::send ? to : from).push_back(time.rank_of[partner]);
      if (e.kind == Kind::send) {
        sends_first = sends_first && from.empty();
        continue;
      }
      messages += e.count;
      if (e.count > 1) at_once += e.count;
      for (const std::uint32_t send : time.partners_of(e)) next_step += time.events[send].step + 1 == e.step;
    }
    for (std::vector<std::int32_t>* list : {&to, &from}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    if (to != from) return Pattern::none;
  }
  if (messages == 0) return Pattern::none;
  if (2 * at_once > messages) return Pattern::waitall;
  if (2 * next_step > messages) return Pattern::alternating;
  return sends_first ? Pattern::sends_first : Pattern::other;
}

const char* name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::none: return "none";
    case Pattern::alternating: return "alternating";
    case Pattern::sends_first: return "sends_first";
    case Pattern::waitall: return "waitall";
    case Pattern::other: return "other";
  }
  return "none";
}

}  // namespace pclscope::logical
