// One MPI call of one thread: when, where from, and with whom. What of it was waiting follows from the messages and
// collective calls that lie in it.
#pragma once

#include <cstdint>

namespace pclscope {

enum class CallEnding : std::uint8_t {
  returned = 0,
  unseen = 1,  // it left no time of its return (MPI_Finalize; what posts nonblocking collectives): end == begin
};
inline constexpr CallEnding last_ending = CallEnding::unseen;

// Times are nanoseconds since the job's time origin.
struct MpiCall {
  static constexpr std::int32_t nobody = -1;   // MpiCall::peer: none, or not known
  static constexpr std::int32_t several = -2;  // messages with more than one partner

  std::uint64_t comm = 0;  // communicator, 0 none
  std::int32_t rank = 0;   // world rank
  std::uint16_t thread = 0;
  std::uint16_t function = 0;  // functions.def
  CallEnding ending = CallEnding::returned;
  std::int32_t peer = nobody;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t outside = -1;  // since the thread's last call returned, whether that is kept or not; -1: not known
  std::uint64_t bytes = 0;    // of its messages, received ones included; of a collective: this rank's contribution
  std::uint64_t site = 0;     // id in the store's /sites, 0 unknown; in a CallLog: Event::site

  bool operator==(const MpiCall&) const = default;
};

}  // namespace pclscope
