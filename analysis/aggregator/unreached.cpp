#include "analysis/aggregator/unreached.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "analysis/collect/whole_file.hpp"
#include "analysis/elf/static_mpi.hpp"

namespace pclscope::aggregator {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds long_enough{3};

std::string path_of(std::uint32_t pid) { return "/proc/" + std::to_string(pid); }

// Adds the children of a process, and theirs.
void add_descendants(std::uint32_t pid, std::vector<std::uint32_t>& out) {
  const std::string tasks = path_of(pid) + "/task";
  DIR* listing = ::opendir(tasks.c_str());
  if (listing == nullptr) return;
  while (const dirent* entry = ::readdir(listing)) {
    if (entry->d_name[0] == '.') continue;
    std::ifstream children(tasks + "/" + entry->d_name + "/children");
    for (std::uint32_t child = 0; children >> child;) {
      if (std::find(out.begin(), out.end(), child) != out.end()) continue;
      out.push_back(child);
      add_descendants(child, out);
    }
  }
  ::closedir(listing);
}

// The started programs and all that they started.
std::vector<std::uint32_t> programs(collect::BoardFile& board) {
  const std::uint32_t started = std::min(board.board().started.load(), record::board_pids);
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < started; ++i) {
    const std::uint32_t pid = board.board().pid[i].load();
    if (pid == 0) continue;
    all.push_back(pid);
    add_descendants(pid, all);
  }
  return all;
}

std::string executable_of(std::uint32_t pid) {
  char path[4096];
  const ssize_t length = ::readlink((path_of(pid) + "/exe").c_str(), path, sizeof path);
  return {path, static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

std::string program_of(std::uint32_t pid) {
  const std::string whole = executable_of(pid);
  return whole.empty() ? "a program" : whole.substr(whole.rfind('/') + 1);
}

// Our library by its path as the process was told to load it; empty: it was not.
std::string told_to_preload(std::uint32_t pid) {
  std::istringstream environment(collect::whole_file(path_of(pid) + "/environ"));
  for (std::string variable; std::getline(environment, variable, '\0');) {
    if (variable.rfind("LD_PRELOAD=", 0) != 0) continue;
    std::replace(variable.begin(), variable.end(), ':', ' ');
    std::istringstream libraries(variable.substr(variable.find('=') + 1));
    for (std::string path; libraries >> path;)
      if (path.find("/libpclscope-") != std::string::npos) return path;
  }
  return "";
}

// Whether a path is another file, or none, for a process in a container.
bool is_other_in_container(std::uint32_t pid, const std::string& path) {
  struct stat here {
  }, there{};
  if (::stat(path.c_str(), &here) != 0) return false;
  if (::stat((path_of(pid) + "/root" + path).c_str(), &there) != 0) return errno == ENOENT || errno == ENOTDIR;
  return here.st_dev != there.st_dev || here.st_ino != there.st_ino;
}

std::string words_for(Reach reach, std::uint32_t pid) {
  if (reach == Reach::linked_statically) return " has its MPI linked statically";
  if (reach == Reach::without_library) {
    const std::string library = told_to_preload(pid);
    if (!library.empty() && is_other_in_container(pid, library))
      return " is in a container without " + library + " (let the container see that directory)";
    return " uses MPI without the preloaded library (something between pclscope and it changed LD_PRELOAD, or it may "
           "not preload)";
  }
  if (is_other_in_container(pid, "/dev/shm")) return " has another /dev/shm, in a container (let it share the node's)";
  return " calls MPI around the preloaded library (it loads MPI itself, or another tool is linked into it)";
}

}  // namespace

// Both implementations load parts of theirs in MPI_Init: then it was called. Programs without MPI may load the same.
Reach reach_of(const std::string& maps) {
  const auto has = [&](const char* text) { return maps.find(text) != std::string::npos; };
  if (!has("/libmpi.so") && !has("/libmpich.so") && !has("/libmpi_")) return Reach::no_mpi;
  if (!has("/libpclscope-")) return Reach::without_library;
  return has("/mca_") || has("/libuct_") ? Reach::around_library : Reach::reached;
}

// A program without a library of MPI may have one inside; what lies in its file does not change.
Reach Unreached::reach_of_process(std::uint32_t pid) {
  const Reach reach = reach_of(collect::whole_file(path_of(pid) + "/maps"));
  if (reach != Reach::no_mpi) return reach;
  const std::string program = executable_of(pid);
  if (program.empty()) return reach;
  const auto known = has_mpi_inside_.find(program);
  const bool inside = known != has_mpi_inside_.end()
                          ? known->second
                          : (has_mpi_inside_[program] = elf::contains_mpi(path_of(pid) + "/exe"));
  return inside ? Reach::linked_statically : reach;
}

std::optional<std::string> Unreached::look(collect::BoardFile& board, Clock::time_point now) {
  for (const std::uint32_t pid : programs(board)) {
    seen_.insert(pid);
    const Reach reach = reach_of_process(pid);
    if (reach == Reach::no_mpi || reach == Reach::reached || board.board().initializing.load() > 0) {
      since_.erase(pid);
      continue;
    }
    if (now - since_.emplace(pid, now).first->second < long_enough) continue;
    return program_of(pid) + words_for(reach, pid);
  }
  return std::nullopt;
}

// The system tells children reliably only of processes that are stopped; one that was missed would go on without
// parents. A launcher may end this process as soon as the first of them is dead, and the others would stand still for
// ever: a child in a session of its own ends them all.
void Unreached::end_programs(collect::BoardFile& board) {
  for (int look = 0; look < 2; ++look) {
    for (const std::uint32_t pid : programs(board)) seen_.insert(pid);
    for (const std::uint32_t pid : seen_) ::kill(static_cast<pid_t>(pid), SIGSTOP);
  }
  const std::vector<std::uint32_t> all(seen_.begin(), seen_.end());
  const pid_t child = ::fork();
  if (child == 0) ::setsid();
  if (child <= 0)
    for (const std::uint32_t pid : all) ::kill(static_cast<pid_t>(pid), SIGKILL);
  if (child == 0) ::_exit(0);
  if (child > 0) ::waitpid(child, nullptr, 0);
}

}  // namespace pclscope::aggregator
