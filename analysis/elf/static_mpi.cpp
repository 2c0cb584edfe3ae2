#include "analysis/elf/static_mpi.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string_view>

namespace pclscope::elf {
namespace {

// Texts that the libraries print or look up in the environment: they are there without symbols, too.
struct Marks {
  std::array<std::string_view, 2> all;
};
constexpr std::array<Marks, 2> implementations{
    {{{"mca_base_param_files", "ompi_mpi_init"}}, {{"MPIR_CVAR_ASYNC_PROGRESS", "MPI_COMM_WORLD"}}}};

}  // namespace

bool contains_mpi(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat found {};
  const bool regular = file >= 0 && ::fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0;
  const auto bytes = static_cast<std::size_t>(regular ? found.st_size : 0);
  void* memory = regular ? ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  if (file >= 0) ::close(file);
  if (memory == MAP_FAILED) return false;
  const auto has = [&](std::string_view text) { return ::memmem(memory, bytes, text.data(), text.size()) != nullptr; };
  bool inside = false;
  for (const Marks& marks : implementations) inside = inside || (has(marks.all[0]) && has(marks.all[1]));
  ::munmap(memory, bytes);
  return inside;
}

}  // namespace pclscope::elf
