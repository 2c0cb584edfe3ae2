// Why messages are late: keeps the measures of the job in slices of time and derives findings from them
// (docs/attribution.md). Fed by the pipeline, the same live and on a stored run. One thread owns an Attributor.
// Memory: Slices, Exposure, and 8 bytes per rank.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analysis/attribute/better_mapping.hpp"
#include "analysis/attribute/computing.hpp"
#include "analysis/attribute/exposure.hpp"
#include "analysis/attribute/slices.hpp"
#include "analysis/delay/delays.hpp"
#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/snapshot.hpp"
#include "analysis/values/time_share.hpp"
#include "analysis/values/what_if.hpp"

namespace pclscope::attribute {

struct AttributorOptions {
  std::int64_t window_ns = 100'000'000;
  double time_share = 1;                   // of wall time, for deriving findings (a running job: 0.03)
  Computing::InsideMpi inside_mpi;         // of a rank; nothing: not known
  std::function<std::uint64_t()> threads;  // of all ranks, that call MPI; nothing: one of each
  BeforeInit before_init_ns;               // of a rank; nothing: not known
  std::function<std::span<const std::string>()> node_names;  // nothing: they have numbers
  // Looks for a better placement of the job's present traffic; nothing: there is none, or it cannot be told. Costly.
  std::function<std::optional<BetterMapping>()> find_mapping;
  // Replays the period of a finding without it, at the end; nothing: its calls are not there, or it cannot be told.
  // `mapping`: of a finding of that cause, the placement that it is about; else null.
  std::function<std::optional<WhatIf>(const Finding&, const BetterMapping* mapping)> without;
};

class Attributor final : public DelayListener {
 public:
  Attributor(std::int32_t ranks, AttributorOptions options);

  // --- fed, in this order, for every window ---
  // Messages of a pair of ranks, all of them in one call, counted with the next window. Nodes are -1 where not known.
  void count(std::int32_t source, std::int32_t destination, std::int32_t from_node, std::int32_t to_node,
             std::uint64_t messages, std::uint64_t bytes);
  // A window is over. `counted`: messages counted so far include its. All spans are read during the call only.
  void window(std::int64_t begin_ns, std::int64_t end_ns, std::span<const Message> messages,
              std::span<const CollectiveCall> calls, std::span<const std::int32_t> node_of_rank,
              std::span<const std::int32_t> region_of_rank);
  // The rank was runnable but off its core, outside MPI, for so long in [begin, end). In any order; counted once the
  // slices have come so far.
  void add_off_core(std::int32_t rank, std::int64_t begin_ns, std::int64_t end_ns, double off_s);
  void waited(const Wait& wait) override;
  void goes_back(const Wait& wait, std::int32_t rank, std::uint32_t site, std::int64_t visit_ns, double ns) override;

  // Derives findings if it is time to (0.5 s of the job's time later, within the share of wall time).
  void refresh(std::size_t regions);
  void finish(std::size_t regions);  // no more will come
  const Attribution& result() const { return result_; }
  const Slices& slices() const { return slices_; }

 private:
  using Wall = std::chrono::steady_clock;
  void edges(std::span<const CollectiveCall> calls);
  void alone(std::span<const CollectiveCall> calls);
  void spread_off_core(bool all);
  void look_at_transfers(std::span<const Message> messages, std::span<const std::int32_t> node_of_rank);
  void look_for_mapping(bool last);
  void derive(std::size_t regions);

  AttributorOptions options_;
  Slices slices_;
  Exposure exposure_;
  Computing computing_;
  Edges edges_;
  std::vector<std::int32_t> region_of_rank_;
  struct Counted {  // since the last window
    std::vector<std::uint64_t> sent, received;
    std::vector<double> sent_bytes, received_bytes;
    std::vector<std::uint32_t> partners;  // that a rank sent to
    std::uint64_t intra = 0, inter = 0, inter_bytes = 0;
    bool any = false;
  } counted_;
  struct OffCore {
    std::int32_t rank = 0;
    std::int64_t begin_ns = 0, end_ns = 0;
    double off_s = 0;
  };
  std::vector<OffCore> off_core_;        // that slices have not come to
  std::vector<const Message*> by_call_;  // of one window
  std::uint64_t messages_ = 0, inter_messages_ = 0, mapped_at_ = 0;
  std::int64_t derived_ns_ = INT64_MIN;
  TimeShare time_;
  std::optional<BetterMapping> mapping_;
  bool finished_ = false;
  Attribution result_;
};

}  // namespace pclscope::attribute
