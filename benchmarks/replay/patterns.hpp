// Event streams as ranks of known programs would record them: a short trace, repeated with advancing clocks and
// ordinals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/pipeline/pipeline.hpp"
#include "interpose/record/event.hpp"

namespace pclscope::benchmark {

struct Trace {
  std::string name;
  std::vector<std::vector<record::Event>> events;           // per rank
  std::vector<std::uint64_t> sends, receives, collectives;  // ordinals taken per rank
  std::uint64_t ticks = 0;                                  // length; a tick is a nanosecond
  std::uint64_t messages = 0;

  explicit Trace(std::string name, int ranks)
      : name(std::move(name)), events(ranks), sends(ranks), receives(ranks), collectives(ranks) {}
  std::uint64_t event_count() const;
  // The same one length later.
  void advance();
};

// A ring of ranks with 4 neighbours each: Irecv x 4, Isend x 4, Waitall, an Allreduce every tenth step.
Trace halo(int steps, int ranks = 8);
// Rank 0 hands out work and takes results from ANY_SOURCE with ANY_TAG; 7 workers use blocking calls.
Trace master_worker(int tasks);
// NPB CG on 4 x 4: three exchanges along the row and one with the transpose partner per iteration.
Trace cg(int iterations);
// 8 ranks that only send to and receive from MPI_PROC_NULL, and make other calls.
Trace quiet_calls(int calls);

// The trace so many times, through a pipeline, which is finished then.
void analyse(Pipeline& pipeline, Trace& trace, int repeats);

}  // namespace pclscope::benchmark
