// Waits that another rank might have ended as well: a receive or a probe with MPI_ANY_SOURCE, MPI_Waitany,
// MPI_Waitsome. A rank that serves others waits in them for whoever is ready first. Who comes is no later than all
// the others, and to be idle until then delays nobody: such a wait is shared among all that computed meanwhile. Not
// so when the rank that waited sends to others (or enters a collective) before it takes the next one: then it had
// waited for the last one of them, and passed the delay on.
//
// One thread owns a FirstCome. Memory: 4 bytes for each of at most `most` senders per receiver.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/delay/calls_of_ranks.hpp"

namespace pclscope {

class FirstCome {
 public:
  static constexpr std::size_t most = 32;  // senders that came last, per receiver

  struct Candidate {
    std::int32_t rank = 0;
    std::uint32_t site = 0;  // of its next send to the receiver; 0: not known
    double share = 0;        // of the wait
  };

  // A message of `sender` ended such a call of `receiver`.
  void came(std::int32_t receiver, std::int32_t sender);
  // Who else might have ended `call` of `receiver`, each with its share; what is missing from 1 is the share of
  // call.peer. `call` is one of calls.ranks(). Empty: the wait was for call.peer alone. Good until the next call.
  std::span<const Candidate> others(const CallsOfRanks& calls, std::int32_t receiver, const RankCall& call);

 private:
  std::unordered_map<std::int32_t, std::vector<std::int32_t>> senders_;  // newest first
  std::vector<Candidate> others_;
};

}  // namespace pclscope
