// Summaries for tests of the store, and dumps as older versions of the format have them.
#pragma once

#include <hdf5.h>
#include <zlib.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/analysis/wire/random_snapshot.hpp"
#include "tests/test_data.hpp"

namespace pclscope::testing {

// A forest over some of the ranks: every cluster is part of at most one other.
inline Dendrogram random_dendrogram(std::uint64_t seed, std::int32_t ranks) {
  std::mt19937_64 random(seed);
  Dendrogram d;
  d.method = seed % 3 == 0 ? "" : "free-energy";
  d.modularity = static_cast<double>(random() % 1000) / 1000;
  std::vector<std::int32_t> clusters;
  for (std::int32_t rank = 0; rank < ranks; rank++) {
    const bool alone = random() % 5 == 0;
    d.leaf_of_rank.push_back(alone ? -1 : static_cast<std::int32_t>(clusters.size()));
    if (!alone) clusters.push_back(static_cast<std::int32_t>(clusters.size()));
  }
  const auto leaves = static_cast<std::int32_t>(clusters.size());
  while (clusters.size() > 1 && random() % 20 != 0) {
    DendrogramMerge merge{0, 0, 0.5 * static_cast<double>(d.merges.size())};
    for (std::int32_t* part : {&merge.left, &merge.right}) {
      std::swap(clusters[random() % clusters.size()], clusters.back());
      *part = clusters.back();
      clusters.pop_back();
    }
    clusters.push_back(leaves + static_cast<std::int32_t>(d.merges.size()));
    d.merges.push_back(merge);
  }
  return d;
}

// Call sites are not part of what summarize() stores.
inline Snapshot snapshot_without_sites(std::uint64_t seed, std::uint64_t most_ranks = 300) {
  Snapshot snapshot = RandomSnapshot(seed, most_ranks).make();
  snapshot.sites.clear();
  for (RankSummary& rank : snapshot.ranks) rank.mark_missing(INT64_MAX);  // a dump that is to be complete
  snapshot.dendrogram = random_dendrogram(seed, snapshot.application.ranks);
  for (std::uint64_t i = 0; i < seed % 30; i++) {
    const double at_s = 0.5 * static_cast<double>(i), correction_s = static_cast<double>(seed) * 1e-6 - at_s * 1e-7;
    snapshot.network.corrections.push_back({0, at_s, correction_s, 1e-6});
  }
  return snapshot;
}

// The same of a job whose clocks need no correction: rows are read as they were written.
inline Snapshot snapshot_beside_rows(std::uint64_t seed, std::uint64_t most_ranks = 300) {
  Snapshot snapshot = snapshot_without_sites(seed, most_ranks);
  snapshot.network.clocks.clear();
  snapshot.network.corrections.clear();
  return snapshot;
}

// A dump that pclscope wrote when the format was at version 1.1: messages_of(0, 99) in chunks of 16, window_of(0) to
// window_of(20), sites_of(1, 5, named), and the summary that tests/viewer/hand_made.hpp had then.
inline void unpack_version_1_1(const std::string& path) {
  const gzFile packed = ::gzopen(test::data_file("store/version_1_1.h5.gz").c_str(), "rb");
  std::ofstream file(path, std::ios::binary);
  char bytes[65536];
  for (int got = 0; packed && (got = ::gzread(packed, bytes, sizeof bytes)) > 0;) file.write(bytes, got);
  ::gzclose(packed);
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
    for (const char* table :
         {"functions",          "function_history", "deadlocks",           "deadlock_members",  "waits_for",
          "site_activity",      "findings",         "finding_ranks",       "finding_nodes",     "finding_texts",
          "attribution_slices", "transfer_lines",   "transfer_values",     "traffic",           "ranks/call_site",
          "ranks/call_comm",    "ranks/call_tag",   "ranks/waits_for_any", "ranks/waits_begin", "ranks/waits_count"}) {
      H5Ldelete(file, (copy + table).c_str(), H5P_DEFAULT);
    }
    H5Adelete_by_name(file, copy.c_str(), "half_recorded", H5P_DEFAULT);
  }
  H5Fclose(file);
}

}  // namespace pclscope::testing
