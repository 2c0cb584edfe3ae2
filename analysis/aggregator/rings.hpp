// The rings of one node's ranks: found, read, and what their headers say handed on. Owned by the worker's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analysis/aggregator/options.hpp"
#include "analysis/collect/collector.hpp"
#include "analysis/values/buffer_use.hpp"

namespace pclscope::aggregator {

class Rings {
 public:
  using Clock = std::chrono::steady_clock;

  // `expected`: ranks that will show up here; asked again and again, as it may not be known at first.
  Rings(const Options& options, std::function<std::optional<std::size_t>()> expected)
      : collector_(options.token, "/dev/shm", record::this_node_key(), static_cast<std::uint32_t>(options.part)),
        expected_(std::move(expected)) {}

  collect::Collector& collector() { return collector_; }

  // Looks for new ones when it is time to.
  void search(Clock::time_point now, const std::function<void(collect::SegmentFile&)>& found);
  // The next search is due at once: nobody will come any more, and who came in the last moment must not be missed.
  void search_at_once() { next_search_ = {}; }
  // No ring is missing, as far as is known: reading can be complete.
  bool all_found();

  // Reads every ring to beyond where its head stood when it began, in slices (measured: handing over whole rings at
  // once takes three times as long). Returns the number of events.
  std::uint64_t read(const collect::Collector::Sink& sink, const std::function<void()>& slice_read);
  // What the headers say of a rank: sums over its threads.
  struct Told {
    std::uint64_t dropped = 0;  // events, so far
    bool muted = false;         // one of them is
    BufferUse buffer;
    bool here = false;
  };
  void tell_headers(const std::function<void(std::int32_t rank, const Told& told)>& tell);

 private:
  collect::Collector collector_;
  std::function<std::optional<std::size_t>()> expected_;
  bool everybody_ = false;  // every rank's ring was found
  Clock::time_point first_seen_{}, next_search_{};
  std::vector<Told> told_;  // by rank
};

}  // namespace pclscope::aggregator
