// Summaries for tests of the store, and dumps as an older version of the format has them.
#pragma once

#include <hdf5.h>

#include <string>

#include "tests/analysis/wire/random_snapshot.hpp"

namespace pclscope::testing {

// Call sites are not part of what summarize() stores.
inline Snapshot snapshot_without_sites(std::uint64_t seed, std::uint64_t most_ranks = 300) {
  Snapshot snapshot = RandomSnapshot(seed, most_ranks).make();
  snapshot.sites.clear();
  return snapshot;
}

// Takes out of a dump what version 1.1 brought.
inline void make_version_1_0(const std::string& path) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const std::int32_t minor = 0;
  const hid_t version = H5Aopen(file, "version_minor", H5P_DEFAULT);
  H5Awrite(version, H5T_NATIVE_INT32, &minor);
  H5Aclose(version);
  for (const char* table : {"sites", "modules", "texts"}) H5Ldelete(file, table, H5P_DEFAULT);
  for (const std::string copy : {"/summary/0/", "/summary/1/"}) {
    for (const char* table : {"functions", "function_history", "deadlocks", "deadlock_members", "waits_for",
                              "site_activity", "ranks/call_site", "ranks/call_comm", "ranks/call_tag",
                              "ranks/waits_for_any", "ranks/waits_begin", "ranks/waits_count"}) {
      H5Ldelete(file, (copy + table).c_str(), H5P_DEFAULT);
    }
    H5Adelete_by_name(file, copy.c_str(), "half_recorded", H5P_DEFAULT);
  }
  H5Fclose(file);
}

}  // namespace pclscope::testing
