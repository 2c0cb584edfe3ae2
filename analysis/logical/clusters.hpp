// Ranks of a phase that behave alike, and the exchange pattern of a phase (docs/methods.md, "Logical time"). The
// distance of two ranks and both stages of clustering are of the paper that logical_time.hpp names: CLARA (Kaufman and
// Rousseeuw 1990: k-medoids of samples), then single linkage of the medoids. Functions of a LogicalTime alone.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/logical/logical_time.hpp"

namespace pclscope::logical {

enum class Metric : std::uint8_t { lateness, entry_lateness, duration, wait, bytes };
inline constexpr std::size_t metrics = 5;
// Of an event: seconds, or bytes.
double value_of(const LogicalTime& time, const Phase& phase, const Event& event, Metric metric);

// What a rank's events were in the steps of a phase, in the metric's unit. `steps` ascending.
struct Series {
  std::vector<std::uint32_t> steps;
  std::vector<double> values;
};
Series series_of(const LogicalTime& time, const Phase& phase, const Part& part, Metric metric);

// Mean squared difference (s^2; of bytes bytes^2, as all distances here) over the steps in which one of both has an
// event, the other one's value being that of its event before. Steps before the first event of either are passed over.
// 0 if one of them has no events.
double distance(const Series& a, const Series& b);

struct ClusterOptions {
  std::uint32_t clusters = 8;  // at most, and at most 64; fewer where ranks do not differ
  std::uint32_t samples = 5;
  std::uint64_t seed = 1;
  Metric metric = Metric::lateness;
};

struct Clusters {
  // `a` and `b` become one: clusters, or with the i-th merge's number: number of clusters + i. Ascending distances.
  struct Merge {
    std::uint32_t a = 0, b = 0;
    double distance = 0;  // s^2, least one of medoids
  };
  std::vector<std::int32_t> ranks;        // of the phase, ascending
  std::vector<std::uint32_t> cluster_of;  // of each; clusters are numbered by their least rank
  std::vector<std::int32_t> medoids;      // a rank of each cluster
  std::vector<double> mean_s;             // of each cluster: mean of its events' metric; of bytes in bytes
  std::vector<Merge> merges;              // one less than clusters
  double mean_distance = 0;               // of ranks to their medoids, s^2
};

// The same for the same seed. A phase without parts has no clusters.
Clusters clusters_of(const LogicalTime& time, const Phase& phase, const ClusterOptions& options = {});
// Clusters when only the first merges were made, so that `most` are left; numbered by their least rank.
std::vector<std::uint32_t> cut(const Clusters& clusters, std::uint32_t most);

// How the ranks of a phase exchange messages with the same partners, each with its own.
enum class Pattern : std::uint8_t {
  none,         // some rank does not send to those that it receives from
  alternating,  // most messages are received in the step behind their send
  sends_first,  // all sends, then receives one by one
  waitall,      // most messages are received by calls that receive several
  other,        // in no order that has a name
};
Pattern pattern_of(const LogicalTime& time, const Phase& phase);
const char* name_of(Pattern pattern);

}  // namespace pclscope::logical
