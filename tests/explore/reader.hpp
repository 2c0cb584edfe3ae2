// The aggregator's part in a schedule: what its worker does with rings and matcher, and what came of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "analysis/match/matcher.hpp"
#include "tests/explore/world.hpp"

namespace explore {

// Read from the rings and paired, in serial numbers of messages.
struct Read {
  std::map<std::pair<std::int32_t, std::int64_t>, std::uint64_t> sends;  // by rank and time
  std::set<std::uint64_t> sent, received;                                // with an event of their own
  std::vector<pclscope::Message> messages;
  pclscope::MatchCounts counts;
  bool finished = false;
  bool show = false;  // print the events as they are read
};

struct ReaderKind {
  bool attaches = false;     // to a job that was only preloaded, and leaves when told
  std::uint32_t pid = 0;     // as which it attaches
  std::vector<int> threads;  // ranks of which several threads may be in MPI
};

// Until all ranks have ended (`over`), or, attached, until `leave` says so. Runs in a fiber.
void run_reader(World& world, const ReaderKind& kind, const std::function<bool()>& over,
                const std::function<bool()>& leave, Read& read);

}  // namespace explore
