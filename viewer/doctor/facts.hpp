// What `pclscope doctor` looks at, as it is on this machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "interpose/record/segment.hpp"
#include "viewer/launch/detect_mpi.hpp"

namespace pclscope::doctor {

struct MpiFacts {
  launch::Mpi mpi = launch::Mpi::openmpi;
  bool installed = false;          // our library and aggregator for it
  std::vector<std::string> lacks;  // libraries that the aggregator needs and nobody finds
  std::string launcher;            // path; empty: none
};

struct Facts {
  int ranks = 1;  // that a run would have on this node
  int cores = 1;
  bool rank_program = true;
  std::vector<MpiFacts> mpis;
  bool shm_writable = true;
  std::uint64_t shm_total = 0, shm_free = 0;
  bool memory_shared = true;                                  // memory without a name can be opened through /proc
  std::optional<std::uint64_t> address_space, locked_memory;  // limits in bytes; nothing: unlimited
  std::optional<int> ptrace_scope;                            // nothing: this kernel has no such setting
  record::ClockSource clock = record::ClockSource::tsc;
  std::string clock_of_kernel;
  std::string runtime_problem, shared_problem;  // why there is no directory for what runs; empty: there is
  bool directory_writable = true;
  bool viewer = true;
  std::vector<std::string> viewer_lacks;
  bool display = true;
  bool batch = false, srun = false;  // inside an allocation; Slurm's launcher is there
};

Facts look_around(std::optional<int> ranks);

}  // namespace pclscope::doctor
