// Figures of a run, and how they grow from run to run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/scale/simulation.hpp"

namespace pclscope::benchmark {

// Of one part of the tree in one run: per window of 100 ms, medians (bytes: means) over the second half of the run.
struct Figures {
  double usual_ms = 0;                  // processor time, windows without rare work
  double mean_ms = 0;                   // of all windows but those in which regions were sought or orders given
  double worst_ms = 0;                  // the most that any window took, rare work and the first windows included
  double first_ms = 0;                  // the first three windows together: first contact, first regions
  double status_ms = 0;                 // one telling of the statuses
  double finish_ms = 0;                 // from the program's end to the job's
  std::array<double, works> work_ms{};  // usual_ms by work: means
  std::array<double, kinds> sent{}, received{}, frames_sent{}, frames_received{};
  double memory_mb = 0;
  double bytes() const;  // sent and received
};

struct Row {
  std::string sweep;  // "nodes" or "ranks"
  Setting setting;
  Outcome outcome;
  std::array<Figures, parts> of;
};

Row row_of(const std::string& sweep, const Setting& setting, Outcome outcome);

// Exponent p of y ~ x^p by least squares of logarithms; 0 when there are no two different x, or a y is 0.
double exponent(const std::vector<double>& x, const std::vector<double>& y);

void print(const Row& row);
// Ratios against the sweep's smallest size, and exponents. False when time grows faster than allowed: n log n in
// ranks per aggregator, log n in nodes (with a margin for noise; the root, that takes part in all, is told and not
// judged).
bool print_growth(const std::vector<Row>& rows);
bool write_csv(const std::string& path, const std::vector<Row>& rows);
bool write_json(const std::string& path, const std::vector<Row>& rows);

}  // namespace pclscope::benchmark
