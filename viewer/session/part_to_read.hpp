// Which part of a long run's dump is read for pictures of single messages and calls, that all fit into memory.
// Functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "viewer/session/session.hpp"

namespace pclscope::session {

struct PartToRead {
  TimeSpan span;    // open at the run's ends
  bool all = true;  // the whole run
  bool has(const TimeSpan& wanted) const { return wanted.begin_ns >= span.begin_ns && wanted.end_ns <= span.end_ns; }
};

// Windows with at most `most` messages together (of a window with more its first part): those of `wanted` from its
// begin on, and where there is room as many before and after it. `windows`: by time.
PartToRead part_to_read(std::span<const Window> windows, double most, const TimeSpan& wanted);
// The same of a dump. Fails as Session::windows() does.
Result<PartToRead> part_to_read(Session& session, double most, const TimeSpan& wanted);

// "12 million of 200 million stored calls, from 02:57 to 03:20; a selected period is read instead"
std::string words_of_part(const char* what, std::uint64_t read, std::uint64_t stored, std::int64_t begin_ns,
                          std::int64_t end_ns);

}  // namespace pclscope::session
