// Which MPI implementation an application uses, found without running it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/launch/libraries.hpp"

namespace pclscope::launch {

enum class Mpi { openmpi, mpich };

std::string_view mpi_key(Mpi mpi);    // "openmpi": as in options and file names
std::string_view mpi_title(Mpi mpi);  // "Open MPI"

struct Detection {
  std::optional<Mpi> mpi;
  bool certain = false;  // the program itself links this MPI dynamically
  bool no_mpi = false;   // an ordinary program that links none
  std::string library;   // the MPI library's file, empty when unknown
};

struct Surroundings {
  std::string path;  // PATH
  SearchPath libraries;
};

// Of one program file: what it links.
Detection detect_linked(const std::string& program, const SearchPath& libraries);

// Of a whole command (program first, already resolved to a file in `program`): looks through python (by its mpi4py)
// and through programs that start others (env, numactl, time ...). Nothing found and no_mpi false: cannot tell.
Detection detect_mpi(const std::string& program, const std::vector<std::string>& command, const Surroundings& around);

}  // namespace pclscope::launch
