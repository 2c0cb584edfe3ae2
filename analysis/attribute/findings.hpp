// From slices to findings: the rules (docs/attribution.md has them with their thresholds). Pure functions of the
// evidence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/attribute/exposure.hpp"
#include "analysis/attribute/slices.hpp"
#include "analysis/attribute/words.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::attribute {

struct BetterMapping;

struct Evidence {
  const std::vector<Slice>& slices;
  std::int32_t ranks = 0;
  double threads = 0;       // of all ranks that call MPI: what their time is shared by; at least `ranks`
  std::size_t regions = 0;  // how many there are
  const Exposure& exposure;
  const BetterMapping* mapping = nullptr;  // a better one, if it is known
  bool finished = false;
  double inside_mpi_s = 0;  // of all ranks; 0: not known
  const Edges& edges;
  BeforeInit before_init_ns{};  // nothing: not known
  words::NodeNames node_names{};
  std::span<const std::int32_t> region_of_rank{};  // -1: none; empty: not known
};

// Confident ones (above 0.5) by what they cost times confidence; then the others; `none` or `unknown` goes before
// those. Empty without messages.
std::vector<Finding> find_causes(const Evidence& e);
std::vector<AttributionSlice> slices_of(const Evidence& e);
std::vector<TransferLine> lines_of(const Evidence& e);

// --- the rules, one file each; candidates in any order, with their confidence ---
std::vector<Finding> find_guilty(const Evidence& e);       // guilty.cpp: ranks whose computation others wait for
std::vector<Finding> find_hubs(const Evidence& e);         // shapes.cpp: many to one
std::vector<Finding> find_chains(const Evidence& e);       // shapes.cpp
std::vector<Finding> find_late_comers(const Evidence& e);  // shapes.cpp: collectives, everybody comes late now and then
std::vector<Finding> find_edges(const Evidence& e);        // edges.cpp: begin and end of the job
std::vector<Finding> find_background(const Evidence& e);   // network.cpp
std::vector<Finding> find_outages(const Evidence& e);      // outage.cpp: silence between nodes
std::vector<Finding> find_heavy(const Evidence& e);        // heavy.cpp: a rank with more bytes than others
std::vector<Finding> find_mapping(const Evidence& e, const std::vector<Finding>& background);  // network.cpp

// What transfers between nodes cost beyond the usual, per slice (seconds), and for each slice its cells' usual ln(ns),
// 0 where unknown.
struct Excess {
  std::vector<double> slice_s;
  std::vector<std::vector<double>> usual;
};
Excess excess_of(const Evidence& e);

}  // namespace pclscope::attribute
