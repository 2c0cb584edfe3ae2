// Collective operations summed up by MPI function, for people and programs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/snapshot.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::views {

struct CollectiveRow {
  std::uint16_t function = 0;
  std::uint64_t operations = 0;
  std::uint64_t calls = 0;         // of ranks, in those
  std::uint64_t nonblocking = 0;   // of the calls: no wait is claimed for them
  double wait_s = 0;               // of ranks for the last that they needed
  double worst_s = 0;              // the longest single wait
  std::int32_t awaited_rank = -1;  // for whom ranks waited longest in sum, -1: nobody
  double awaited_s = 0;            // and how long
};

// Sums over calls as they come, by their ends: those of one operation have others between them. Memory: functions x
// ranks, and the operations of the newest 2 million calls.
class CollectiveSums {
 public:
  void add(const CollectiveCall& call);
  std::vector<CollectiveRow> rows() const;  // most wait first

 private:
  struct Sum {
    CollectiveRow row;
    std::map<std::int32_t, double> awaited_s;
    std::set<std::pair<std::uint64_t, std::uint64_t>> newer, older;  // operations: communicator and number on it
    bool is_new(const CollectiveCall& call);
  };
  std::map<std::uint16_t, Sum> sums_;
};

session::Json collective_json(const CollectiveRow& row);
Rows collective_rows(const std::vector<CollectiveRow>& rows);
std::vector<std::string> collective_lines(const CollectiveTotals& totals, const std::vector<CollectiveRow>& rows,
                                          std::size_t width);

}  // namespace pclscope::views
