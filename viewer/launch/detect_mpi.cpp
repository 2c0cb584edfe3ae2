#include "viewer/launch/detect_mpi.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "viewer/launch/capture.hpp"
#include "viewer/launch/program.hpp"

namespace pclscope::launch {
namespace {

namespace fs = std::filesystem;
constexpr const char* openmpi_symbol = "ompi_mpi_comm_world";

// MPICH and Open MPI 1.10 share the name libmpi.so.12: then only the symbols tell.
std::optional<Mpi> identify(const std::string& name, const elf::ElfFile* library, const elf::ElfFile& program) {
  if (name.rfind("libmpich.so", 0) == 0) return Mpi::mpich;
  if (name.rfind("libmpi.so", 0) != 0 && name.rfind("libmpi_ibm.so", 0) != 0) return std::nullopt;
  if (library != nullptr) return library->names(openmpi_symbol) ? Mpi::openmpi : Mpi::mpich;
  if (program.names(openmpi_symbol)) return Mpi::openmpi;
  return name == "libmpi.so.12" ? Mpi::mpich : Mpi::openmpi;
}

bool starts_with_any(std::string_view name, const std::vector<std::string_view>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](auto prefix) { return name.rfind(prefix, 0) == 0; });
}

bool is_python(std::string_view name) { return starts_with_any(name, {"python", "pypy"}); }

// Programs that run what a file of theirs says: what they link themselves tells nothing.
bool is_interpreter(std::string_view name) {
  static const std::set<std::string_view> names = {"bash", "sh",   "dash",    "zsh", "ksh", "csh", "tcsh",
                                                   "fish", "node", "busybox", "R",   "lua", "java"};
  return names.contains(name) || is_python(name) ||
         starts_with_any(name, {"perl", "ruby", "julia", "octave", "matlab", "tclsh", "guile"});
}

// Programs whose arguments name the program proper.
bool is_starter(std::string_view name) {
  static const std::set<std::string_view> names = {
      "env", "nice",   "ionice", "numactl", "taskset", "time",       "timeout",  "stdbuf",    "nohup",   "valgrind",
      "gdb", "strace", "ltrace", "perf",    "setarch", "hwloc-bind", "unbuffer", "catchsegv", "prlimit", "chrt"};
  return names.contains(name);
}

// The extension module of the mpi4py that this python would import says which MPI it is for. Asking for a module's
// place does not load it, so no MPI is started.
Detection detect_python(const std::string& python, const SearchPath& libraries) {
  const auto places = capture({python, "-c",
                               "import importlib.util as u\n"
                               "s = u.find_spec('mpi4py')\n"
                               "print('\\n'.join(s.submodule_search_locations if s else []))"},
                              std::chrono::seconds(10));
  if (!places) return {};
  std::set<Mpi> found;
  Detection result;
  std::istringstream lines(*places);
  for (std::string directory; std::getline(lines, directory);) {
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(directory, failed)) {
      const std::string name = entry.path().filename().string();
      if (name.rfind("MPI.", 0) != 0 || entry.path().extension() != ".so") continue;
      const Detection module = detect_linked(entry.path().string(), libraries);
      if (!module.mpi) continue;
      found.insert(*module.mpi);
      result = module;
    }
  }
  result.certain = false;  // the script may use another module
  return found.size() == 1 ? result : Detection{};
}

// The first argument that is a program with an MPI.
Detection detect_started(const std::vector<std::string>& command, const Surroundings& around) {
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (command[i].empty() || command[i].front() == '-') continue;
    const Program program = find_program(command[i], around.path);
    if (program.state != ProgramState::found) continue;
    const std::vector<std::string> rest(command.begin() + static_cast<std::ptrdiff_t>(i), command.end());
    Detection result = detect_mpi(program.path, rest, around);
    result.certain = false;
    if (result.mpi) return result;
  }
  return {};
}

}  // namespace

std::string_view mpi_key(Mpi mpi) { return mpi == Mpi::openmpi ? "openmpi" : "mpich"; }
std::string_view mpi_title(Mpi mpi) { return mpi == Mpi::openmpi ? "Open MPI" : "MPICH"; }

Detection detect_linked(const std::string& program, const SearchPath& libraries) {
  Detection result;
  const auto elf = elf::read_elf(program);
  if (!elf) return result;
  walk_libraries(program, libraries, [&](const LinkedLibrary& library, const elf::ElfFile* file) {
    result.mpi = identify(library.name, file, *elf);
    if (!result.mpi) return true;
    result.certain = true;
    result.library = library.path;
    return false;
  });
  result.no_mpi = !result.mpi;
  return result;
}

Detection detect_mpi(const std::string& program, const std::vector<std::string>& command, const Surroundings& around) {
  const std::string_view name = base_name(command.empty() ? program : command.front());
  if (is_python(name)) return detect_python(program, around.libraries);
  const std::string interpreter = script_interpreter(program);
  if (!interpreter.empty()) {
    if (!is_python(interpreter)) return {};
    const Program python = find_program(interpreter, around.path);
    return python.state == ProgramState::found ? detect_python(python.path, around.libraries) : Detection{};
  }
  Detection result = detect_linked(program, around.libraries);
  if (result.mpi) return result;
  if (is_starter(name)) return detect_started(command, around);
  if (is_interpreter(name)) return {};
  return result;
}

}  // namespace pclscope::launch
