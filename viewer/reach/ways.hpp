// Whatever answers first: the ways to a running job on any node, started one after the other and tried side by side.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/discovery/jobs.hpp"
#include "analysis/values/result.hpp"
#include "analysis/wire/subscriber.hpp"

namespace pclscope::reach {

inline constexpr std::chrono::milliseconds head_start{300};       // of a way before the next one
inline constexpr std::chrono::milliseconds patience_tcp{5'000};   // with an address
inline constexpr std::chrono::milliseconds patience{10'000};      // with a login on another node
inline constexpr std::chrono::milliseconds patience_via{25'000};  // with a host that has to try its own ways

struct WayOptions {
  bool relays = true;                        // ssh and srun, too; a relay itself goes no further
  std::chrono::milliseconds interval{1000};  // between snapshots that a relay sends
  std::function<bool()> give_up;             // asked ten times a second meanwhile; may be none
};

// Errors: not_found when that is what every way says, wrong_version when one does, else unreachable.
struct Reached {
  std::unique_ptr<wire::Subscriber> subscriber;
  std::string job;  // its name
  std::string way;  // "tcp://node7:40123", "ssh to node7"; empty: the local socket
};

// A job of this user on another node: over TCP at all addresses that it announces, by ssh and a relay, by srun and a
// relay. Fails with
// the reason of each way, in one line. Waits `patience` and the head starts at most; what lost ends by itself.
Result<Reached> reach(const discovery::Job& job, const WayOptions& options = {});

// Through a login node that finds the job itself; `word` may be empty: the only job, or the newest.
Result<Reached> reach_via(const std::string& host, const std::string& word, const WayOptions& options = {});

}  // namespace pclscope::reach
