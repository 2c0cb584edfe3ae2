#include "viewer/doctor/facts.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "analysis/discovery/directories.hpp"
#include "analysis/installation/installation.hpp"
#include "interpose/record/clock_choice.hpp"
#include "viewer/launch/batch.hpp"
#include "viewer/launch/launcher.hpp"
#include "viewer/launch/libraries.hpp"
#include "viewer/launch/machine.hpp"
#include "viewer/launch/program.hpp"

namespace pclscope::doctor {
namespace {

std::string value_of(const char* name, const char* otherwise = "") {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

std::string first_word(const char* path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

std::vector<std::string> missing_libraries(const std::string& program) {
  std::vector<std::string> missing;
  const auto search = launch::system_search_path(value_of("LD_LIBRARY_PATH"), "/etc/ld.so.conf");
  launch::walk_libraries(program, search, [&](const launch::LinkedLibrary& library, const elf::ElfFile* file) {
    if (file == nullptr && library.name.rfind("ld-linux", 0) != 0) missing.push_back(library.name);
    return true;
  });
  return missing;
}

MpiFacts look_at(launch::Mpi mpi, const std::string& path) {
  MpiFacts facts;
  facts.mpi = mpi;
  const std::string key(launch::mpi_key(mpi));
  const std::string aggregator = program_part("pclscope-aggregator-" + key);
  const std::string library = library_part("libpclscope-" + key + ".so");
  facts.installed = ::access(aggregator.c_str(), X_OK) == 0 && ::access(library.c_str(), R_OK) == 0;
  if (facts.installed) facts.lacks = missing_libraries(aggregator);
  if (const auto launcher = launch::find_launcher(mpi, "", path)) facts.launcher = launcher->path;
  return facts;
}

// As an aggregator does with a rank's buffer: memory of another process, by its file in /proc.
bool memory_is_shared() {
  const int memory = ::memfd_create("pclscope-doctor", MFD_CLOEXEC);
  if (memory < 0) return false;
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) ::pause();
  }
  bool shared = false;
  if (child > 0) {
    const std::string path = "/proc/" + std::to_string(child) + "/fd/" + std::to_string(memory);
    const int seen = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    shared = seen >= 0;
    if (seen >= 0) ::close(seen);
    ::kill(child, SIGKILL);
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
  }
  ::close(memory);
  return shared;
}

std::optional<std::uint64_t> limit_of(__rlimit_resource which) {
  rlimit limit{};
  if (::getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace

Facts look_around(std::optional<int> ranks) {
  Facts facts;
  const std::string path = value_of("PATH", "/usr/local/bin:/usr/bin:/bin");
  facts.cores = launch::usable_cores();
  facts.ranks = ranks.value_or(facts.cores);
  facts.rank_program = ::access(program_part("pclscope-rank").c_str(), X_OK) == 0;
  for (const launch::Mpi mpi : {launch::Mpi::openmpi, launch::Mpi::mpich}) facts.mpis.push_back(look_at(mpi, path));
  struct statvfs shm {};
  facts.shm_writable = ::access("/dev/shm", W_OK | X_OK) == 0 && ::statvfs("/dev/shm", &shm) == 0;
  if (facts.shm_writable) {
    facts.shm_total = std::uint64_t{shm.f_blocks} * shm.f_frsize;
    facts.shm_free = std::uint64_t{shm.f_bavail} * shm.f_frsize;
  }
  facts.memory_shared = memory_is_shared();
  facts.address_space = limit_of(RLIMIT_AS);
  facts.locked_memory = limit_of(RLIMIT_MEMLOCK);
  const std::string scope = first_word("/proc/sys/kernel/yama/ptrace_scope");
  if (!scope.empty()) facts.ptrace_scope = std::atoi(scope.c_str());
  facts.clock = record::choose_clock(record::clock_choice(std::getenv(record::clock_variable)));
  facts.clock_of_kernel = first_word("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (facts.clock_of_kernel.empty()) facts.clock_of_kernel = "an unknown clock";
  if (const auto runtime = discovery::runtime_directory(); !runtime) facts.runtime_problem = runtime.error().message;
  if (value_of("PCLSCOPE_SHARED") != "none")
    if (const auto shared = discovery::shared_directory(); !shared) facts.shared_problem = shared.error().message;
  facts.directory_writable = ::access(".", W_OK) == 0;
  const std::string viewer = program_part("pclscope-view");
  facts.viewer = ::access(viewer.c_str(), X_OK) == 0;
  if (facts.viewer) facts.viewer_lacks = missing_libraries(viewer);
  facts.display = !value_of("DISPLAY").empty() || !value_of("WAYLAND_DISPLAY").empty();
  facts.batch = launch::allocation().inside;
  facts.srun = launch::find_program("srun", path).state == launch::ProgramState::found;
  return facts;
}

}  // namespace pclscope::doctor
