// One of the two copies of the summary in a dump. Private to analysis/store.
#pragma once

#include <vector>

#include "analysis/rows/snapshot_rows.hpp"
#include "analysis/store/table.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::store {

class SummaryWriter {
 public:
  bool create(const Layout& layout, hid_t parent, const char* name);
  // The file grows by at most `room` bytes: what does not fit is left out: the density of
  // calls becomes coarser, then lists go, at last all but the totals.
  bool write(const Snapshot& snapshot, std::uint64_t room);

 private:
  std::uint64_t growth(const SnapshotRows& rows) const;

  std::vector<AnyTableWriter> tables_;  // in the order of each_table()
  Hdf5Handle group_;                    // last: closed first
};

// Fills all of `snapshot` but sites, job, command and mpi (in the root). False when a part cannot be read.
// `most_rows` bounds every table: nobody can have more rows than the file has bytes.
bool read_summary(hid_t parent, const char* name, std::uint64_t most_rows, Snapshot& snapshot);

}  // namespace pclscope::store
