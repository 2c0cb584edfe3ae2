#include "viewer/launch/launcher.hpp"

#include <filesystem>

#include "viewer/launch/capture.hpp"
#include "viewer/launch/program.hpp"

namespace pclscope::launch {
namespace {

namespace fs = std::filesystem;

std::string install_hint(Mpi mpi) {
  return mpi == Mpi::openmpi ? "install openmpi-bin or give --launcher PATH" : "install mpich or give --launcher PATH";
}

// /opt/openmpi/lib/libmpi.so.40 -> /opt/openmpi/bin. Empty for the system's own directories: there the names of the
// launchers tell the MPIs apart better than the place.
std::string private_bin(const std::string& library) {
  if (library.empty()) return "";
  for (fs::path directory = fs::path(library).parent_path(); directory.has_relative_path();
       directory = directory.parent_path()) {
    const std::string name = directory.filename().string();
    if (name != "lib" && name != "lib64") continue;
    const fs::path prefix = directory.parent_path();
    return prefix == "/usr" || prefix == "/" || prefix == "/usr/local" ? "" : (prefix / "bin").string();
  }
  return "";
}

}  // namespace

std::optional<Mpi> identify_launcher(const std::string& path) {
  std::error_code failed;
  const std::string real = fs::canonical(path, failed).string();
  const std::string_view name = base_name(failed ? path : real);
  if (name == "orterun" || name == "prterun" || name == "mpirun.openmpi") return Mpi::openmpi;
  if (name == "mpiexec.hydra" || name == "mpirun.mpich") return Mpi::mpich;
  const auto version = capture({path, "--version"}, std::chrono::seconds(10));
  if (!version) return std::nullopt;
  for (const char* sign : {"Open MPI", "OpenRTE", "PRRTE", "prterun"}) {
    if (version->find(sign) != std::string::npos) return Mpi::openmpi;
  }
  for (const char* sign : {"HYDRA", "MPICH", "Intel(R) MPI"}) {
    if (version->find(sign) != std::string::npos) return Mpi::mpich;
  }
  return std::nullopt;
}

std::string private_library(const std::string& library) { return private_bin(library).empty() ? "" : library; }

Result<Launcher> find_launcher(Mpi mpi, const std::string& library, const std::string& search) {
  const std::string bin = private_bin(library);
  if (!bin.empty()) {
    const Program beside = find_program(bin + "/mpirun", "");
    if (beside.state == ProgramState::found && identify_launcher(beside.path) == mpi) return Launcher{mpi, beside.path};
  }
  const std::string key(mpi_key(mpi));
  for (const std::string& name : {"mpirun." + key, "mpiexec." + key}) {
    const Program program = find_program(name, search);
    if (program.state == ProgramState::found) return Launcher{mpi, program.path};
  }
  for (const char* name : {"mpirun", "mpiexec"}) {
    const Program program = find_program(name, search);
    if (program.state == ProgramState::found && identify_launcher(program.path) == mpi) {
      return Launcher{mpi, program.path};
    }
  }
  return Error{ErrorCode::not_found, "no mpirun of " + std::string(mpi_title(mpi)) + " found: " + install_hint(mpi)};
}

Result<Launcher> default_launcher(const std::string& search) {
  for (const char* name : {"mpirun", "mpiexec", "mpirun.openmpi", "mpirun.mpich"}) {
    const Program program = find_program(name, search);
    if (program.state != ProgramState::found) continue;
    if (const auto mpi = identify_launcher(program.path)) return Launcher{*mpi, program.path};
  }
  return Error{ErrorCode::not_found, "no mpirun found: install openmpi-bin or mpich, or give --launcher PATH"};
}

}  // namespace pclscope::launch
