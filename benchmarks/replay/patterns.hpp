// Event streams as ranks of known programs would record them: a stretch of time, repeated with advancing clocks and
// ordinals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/pipeline/pipeline.hpp"
#include "interpose/record/event.hpp"

namespace pclscope::benchmark {

struct Stretch {
  std::string name;
  std::vector<std::vector<record::Event>> events;           // per rank
  std::vector<std::uint64_t> sends, receives, collectives;  // ordinals taken per rank
  std::uint64_t ticks = 0;                                  // length; a tick is a nanosecond
  std::uint64_t messages = 0;

  explicit Stretch(std::string name, int ranks)
      : name(std::move(name)), events(ranks), sends(ranks), receives(ranks), collectives(ranks) {}
  std::uint64_t event_count() const;
  // The same stretch one length later.
  void advance();
};

// 8 ranks in a ring of 4 neighbours each: Irecv x 4, Isend x 4, Waitall, an Allreduce every tenth step.
Stretch halo(int steps);
// Rank 0 hands out work and takes results from ANY_SOURCE with ANY_TAG; 7 workers use blocking calls.
Stretch master_worker(int tasks);
// NPB CG on 4 x 4: three exchanges along the row and one with the transpose partner per iteration.
Stretch cg(int iterations);
// 8 ranks that only send to and receive from MPI_PROC_NULL, and make other calls.
Stretch quiet_calls(int calls);

// So many stretches, one after the other, through a pipeline, which is finished then.
void analyse(Pipeline& pipeline, Stretch& stretch, int stretches);

}  // namespace pclscope::benchmark
