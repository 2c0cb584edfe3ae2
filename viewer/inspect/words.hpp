// What the words after `pclscope inspect` ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/logical/clusters.hpp"
#include "viewer/views/message_rows.hpp"

namespace pclscope::commands {

struct TableFormat;
enum class Format { text, json, table, dot };

struct InspectWords {
  std::string target;
  std::string topic = "summary";
  Format format = Format::text;
  const TableFormat* table = nullptr;  // Format::table: which
  bool ascii = false;
  bool fold = false;
  std::optional<std::uint64_t> limit;
  std::vector<std::int32_t> ranks;  // ascending; empty = all
  std::optional<views::MessageOrder> order;
  std::optional<std::uint16_t> function;  // MPI function
  std::optional<std::int32_t> region;
  std::optional<std::int64_t> from_ns;  // since the start of the run; negative: before its end
  std::optional<std::int64_t> to_ns;
  std::optional<std::uint64_t> cut;  // regions
  std::optional<double> cut_height;
  bool whole = false;                    // regions of the whole run
  std::optional<std::uint64_t> finding;  // whatif: without it; from 1
  bool balance = false;                  // whatif: with equal load
  std::vector<std::string> skipped;      // by --skip
  bool folded = false;                   // tree: as stacks
  std::optional<std::uint64_t> phase;    // of logical time
  std::optional<std::uint32_t> clusters;
  logical::Metric metric = logical::Metric::lateness;
  std::string compare;  // summary: an earlier run
  bool gdb = false;     // findings: as breakpoints
};

// Fills `words`, or gives the exit status: help printed, or the usage error said in one line.
std::optional<int> parse_inspect(const std::vector<std::string>& words, InspectWords& inspect);

}  // namespace pclscope::commands
