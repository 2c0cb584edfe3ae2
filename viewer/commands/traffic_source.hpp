// Who sent how much to whom, for `map` and `route`: from a traffic file, a dump or a running job.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/mapping/traffic.hpp"
#include "analysis/values/machine.hpp"
#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"
#include "viewer/session/session.hpp"

namespace pclscope::commands {

inline constexpr std::int32_t most_ranks_per_node = 1 << 20;

struct SourcedTraffic {
  mapping::Traffic traffic;
  std::vector<std::int32_t> node_of_rank;  // of a run: an index into nodes, -1 when the rank has not shown up
  std::vector<std::string> nodes;          // of a run: their names
  std::vector<std::int64_t> names;         // of a file: what it calls the ranks; empty: as they are numbered
  FoundMachines machines;                  // of a run: what its nodes are inside, and where ranks are bound
  bool of_run = false;
};

bool is_dump(const std::string& path);

struct RunWithNews {
  std::unique_ptr<session::Session> session;
  Snapshot news;
};
// A dump, or a running job that answers within 2 s.
Result<RunWithNews> open_run_with_news(const std::string& word);

Result<SourcedTraffic> read_traffic_source(const std::string& word);

}  // namespace pclscope::commands
