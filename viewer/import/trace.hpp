// What a trace's definitions say, in our terms. Knows nothing of libotf2.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::importing {

inline constexpr std::uint32_t undefined = 0xffffffffu;

// As they stand in the archive, by their references.
struct Definitions {
  struct Location {
    std::uint64_t reference = 0, events = 0;
    std::uint32_t group = undefined;
  };
  struct Process {
    std::uint32_t node = undefined;  // a Node
  };
  struct Node {
    std::string name, kind;
    std::uint32_t parent = undefined;
  };
  struct Region {
    std::string name, file;
    std::uint32_t line = 0;
  };
  struct Group {
    std::vector<std::uint64_t> members;
    bool self = false;       // each member alone
    bool locations = false;  // members are locations: those of MPI's ranks, in that order
    bool global = false;     // members are ranks; else places in the list of these
    bool mpi = false;
  };
  struct Comm {
    std::string name;
    std::uint32_t group = undefined, other = undefined, parent = undefined;
  };
  struct Place {
    std::string file;
    std::uint32_t line = 0;
  };
  struct Context {
    std::uint32_t region = undefined, place = undefined, parent = undefined;
  };
  std::uint64_t resolution = 1'000'000'000, offset = 0;  // ticks per second; the first moment
  std::int64_t realtime_ns = 0;                          // CLOCK_REALTIME at that moment, 0 not known
  std::vector<Location> locations;                       // of CPU threads
  std::unordered_map<std::uint64_t, Process> processes;
  std::unordered_map<std::uint64_t, Node> nodes;
  std::unordered_map<std::uint64_t, Region> regions;
  std::unordered_map<std::uint64_t, Group> groups;
  std::unordered_map<std::uint64_t, Comm> comms;
  std::unordered_map<std::uint64_t, std::uint32_t> windows;  // their communicators
  std::unordered_map<std::uint64_t, Place> places;
  std::unordered_map<std::uint64_t, Context> contexts;
  std::string command, mpi, lacking;  // as `pclscope export` tells them
  std::uint64_t other_locations = 0;  // GPUs, metrics
};

struct TraceComm {
  std::uint64_t id = 0;      // as in events
  std::uint64_t parent = 0;  // 0 none
  bool self = false, inter = false;
  std::vector<std::int32_t> members;  // ranks in the world, by their rank here; of an intercommunicator: of one group
  std::vector<std::int32_t> others;   // and of the other
  std::vector<std::int32_t> sorted;   // members, ascending, to look for one
  bool has(std::int32_t rank) const;
  // The world's rank of this one of the group that `own` sends to; -1: there is none.
  std::int32_t peer(std::int32_t own, std::uint32_t rank) const;
  std::int32_t rank_of(std::int32_t world) const;  // here; -1: is no member
  std::uint64_t size() const { return members.size() + others.size(); }
};

struct Trace {
  Definitions defined;
  Application application;
  struct Place {
    std::int32_t rank = 0;
    std::uint32_t thread = 0;
  };
  std::unordered_map<std::uint64_t, Place> place_of;  // by location
  std::unordered_map<std::uint64_t, TraceComm> comms;
  std::unordered_map<std::uint64_t, std::uint16_t> function_of;  // MPI functions, by region
  std::vector<std::string> notes;                                // what is not as it should be

  // Nanoseconds since the first moment.
  std::int64_t ns_of(std::uint64_t ticks) const;
};

// Checks everything that refers to something else. Fails with damaged (circles, no locations, too much of something)
// and not_found (no MPI).
Result<Trace> understood(Definitions definitions);

}  // namespace pclscope::importing
