// Where a NetworkCase comes from: a dump or running job with its network, a traffic file, or a route file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "analysis/values/snapshot.hpp"
#include "viewer/session/network_case.hpp"
#include "viewer/session/session.hpp"

namespace pclscope::session {

// As the user gave them.
struct NetworkWords {
  std::string topology;                        // empty: what is known of the run's, else `nodes:N`
  std::string traffic;                         // a file with the bytes of a route file's routes
  std::optional<std::int32_t> ranks_per_node;  // rank r on node r / this; none: as the run had it, else 1
};

// Whether the file holds routes or traffic: whether the first line that says anything looks so.
bool is_network_file(const std::string& path);
// Errors: not readable, a line that is none, a topology that is needed, none or too small.
Result<NetworkFacts> read_network_file(const std::string& path, const NetworkWords& words);
// Traffic of a dump, or of a running job until now. Without a topology in `words` the one that Slurm told the run.
// Nodes of a topology from a file are found by their names.
Result<NetworkFacts> read_network_of_run(Session& session, const Snapshot& run, const std::string& title,
                                         const NetworkWords& words);

// A run of which only ranks and their places are known: a window for a traffic or route file shows it.
std::unique_ptr<Session> open_network(std::shared_ptr<const NetworkFacts> facts);

// What `now` has more than `before`: pairs with more messages, or more bytes.
mapping::Traffic more_than(const mapping::Traffic& now, const mapping::Traffic& before);
// Between different ranks that are there, each pair once.
mapping::Traffic traffic_of(std::int32_t ranks, const std::vector<PairTraffic>& pairs);

}  // namespace pclscope::session
