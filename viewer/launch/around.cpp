#include "viewer/launch/around.hpp"

#include <array>
#include <string_view>

#include "analysis/elf/dynamic.hpp"
#include "analysis/elf/static_mpi.hpp"

namespace pclscope::launch {
namespace {

// Calls by their profiling names whose answers differ with the tool's ranks in the world, or that tell a rank apart.
// A program has a name of such in its dynamic symbols when it calls it, or when a tool that does is linked into it.
constexpr std::array<std::string_view, 14> profiling_names{
    "PMPI_Init",    "PMPI_Init_thread", "PMPI_Finalize", "PMPI_Comm_size", "PMPI_Comm_rank",
    "PMPI_Barrier", "PMPI_Send",        "PMPI_Isend",    "PMPI_Recv",      "PMPI_Irecv",
    "PMPI_Bcast",   "PMPI_Allreduce",   "PMPI_Comm_dup", "PMPI_Comm_split"};

}  // namespace

std::optional<std::string> goes_around(const std::string& program) {
  const auto elf = elf::read_elf(program);
  if (!elf) return std::nullopt;
  for (const std::string_view name : profiling_names)
    if (elf->names(name))
      return "calls MPI by its profiling names (" + std::string(name) + "), or has a tool linked in that does";
  const bool links_mpi = elf->names("MPI_Init") || elf->names("MPI_Init_thread");
  if (!links_mpi && elf::contains_mpi(program)) return "has its MPI linked statically";
  return std::nullopt;
}

}  // namespace pclscope::launch
