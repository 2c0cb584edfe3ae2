// The mpirun that fits an MPI.
#pragma once

#include <optional>
#include <string>

#include "analysis/values/result.hpp"
#include "viewer/launch/detect_mpi.hpp"

namespace pclscope::launch {

struct Launcher {
  Mpi mpi = Mpi::openmpi;
  std::string path;
};

// Which MPI a launcher belongs to: by the name of its real file, else by what its --version prints.
std::optional<Mpi> identify_launcher(const std::string& path);

// The application's MPI library when it lies outside of the system's own folders; else empty.
std::string private_library(const std::string& library);

// For a known MPI: beside the MPI library that the application links (when that is a private installation), then
// mpirun.openmpi or mpirun.mpich, then any mpirun of that MPI in `search` (PATH). Fails with not_found.
Result<Launcher> find_launcher(Mpi mpi, const std::string& library, const std::string& search);

// When nothing is known about the application: what a plain `mpirun` would be. Fails with not_found.
Result<Launcher> default_launcher(const std::string& search);

}  // namespace pclscope::launch
