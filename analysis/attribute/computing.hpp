// How much each rank computes: its time outside MPI, slice by slice. Waits alone do not say it: ranks that are coupled
// loosely wait for one late rank for different times, and compute the same.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/attribute/slices.hpp"

namespace pclscope::attribute {

class Computing {
 public:
  struct Inside {
    double seconds = 0;  // inside MPI calls until now, summed over threads
    std::uint32_t threads = 1;
  };
  using InsideMpi = std::function<Inside(std::int32_t rank)>;  // nothing: not known

  explicit Computing(InsideMpi inside_mpi) : inside_mpi_(std::move(inside_mpi)) {}

  // The slices have come to their newest end: what was spent since the last look goes to those since then.
  void look(Slices& slices);
  double inside_mpi_s(std::int32_t ranks) const;  // of all ranks until now; 0: not known

 private:
  InsideMpi inside_mpi_;
  std::vector<double> until_now_s_;  // of each rank
  std::int64_t looked_ns_ = INT64_MIN;
};

}  // namespace pclscope::attribute
