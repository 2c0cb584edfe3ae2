// What the worker feeds with what it reads from the rings of its node: a whole job (one_node.hpp), or a part of one
// (many_nodes.hpp). The worker's thread owns it.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/collect/segment_file.hpp"
#include "analysis/match/matcher.hpp"
#include "analysis/pipeline/evaluation.hpp"
#include "analysis/values/calls_part.hpp"
#include "analysis/values/density_part.hpp"

namespace pclscope::aggregator {

class Analysis {
 public:
  virtual ~Analysis() = default;

  // False: events cannot be taken yet, the rings are to be left as they are.
  virtual bool ready() { return true; }
  virtual void found(collect::SegmentFile& segment) = 0;
  // Events of one ring, as recorded (ticks of this node's clock).
  virtual void take(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events) = 0;
  virtual void take_paths(std::int32_t rank, std::span<const record::Event> events) = 0;
  virtual void set_dropped(std::int32_t rank, std::uint64_t total) = 0;
  virtual void set_muted(std::int32_t rank, bool muted) = 0;
  virtual void set_buffer(std::int32_t rank, const BufferUse& use) = 0;
  virtual void slice_read() = 0;  // between slices: what can be paired is paired
  // Every ring that was found has been read to where it stood at `began_ns` (local axis); drops were told. `all_found`:
  // no ring is missing.
  virtual void rings_read(std::int64_t began_ns, bool all_found) = 0;
  // Windows close so much later: the rings are read seldom.
  virtual void set_patience(std::int64_t) {}

  // The ranks of this node are at their end (in order), or the job is being ended: no more events will come.
  virtual void end(bool in_order) = 0;
  // True when nothing is left to be done with the other nodes.
  virtual bool over() { return true; }
  // Closes everything: results() are final then.
  virtual void finish() = 0;

  virtual const Matcher& matcher() const = 0;
  // The job's results; nullptr on nodes that do not have them.
  virtual Evaluation* results() = 0;
  // Live fields of a snapshot of results().
  virtual void fill(Snapshot& snapshot) = 0;
  // The density of calls of results(), in full resolution.
  virtual DensityPart density(const DensityQuestion& question) = 0;
  // The newest single calls: from the first question on, until nobody asks any more.
  virtual CallsPart calls(const CallsQuestion& question) = 0;
  // Marks whose record is not whole, and from when on. `over`: after finish(); else as far as the results have come.
  virtual void mark_missing(Snapshot& snapshot, bool over) = 0;
  virtual std::vector<CallSite> site_news() = 0;
  virtual void resolve_sites(std::chrono::milliseconds limit) = 0;
};

}  // namespace pclscope::aggregator
