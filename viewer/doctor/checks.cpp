#include "viewer/doctor/checks.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "interpose/record/shm_needs.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::doctor {
namespace {

constexpr std::uint64_t ring_bytes = std::uint64_t{65536} * 64;  // of a rank with one thread, by default
constexpr std::uint64_t plenty = 16;                             // of what MPI leaves, a sixteenth may be rings
constexpr std::uint64_t little_locked = std::uint64_t{64} << 20;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string title(const MpiFacts& mpi) { return std::string(launch::mpi_title(mpi.mpi)); }

bool usable(const MpiFacts& mpi) { return mpi.installed && mpi.lacks.empty() && !mpi.launcher.empty(); }

Check check_mpi(const MpiFacts& mpi, bool another) {
  const Verdict bad = another ? Verdict::note : Verdict::stops;  // who uses the other one does not care
  if (!mpi.installed)
    return {bad, title(mpi), "this installation has no library and aggregator for it",
            "build pclscope with -DPCLSCOPE_MPI_PREFIXES=/path/of/it, or install its package"};
  if (!mpi.lacks.empty())
    return {bad, title(mpi), "the aggregator does not find " + joined(mpi.lacks),
            "load the module of this MPI, or add the folder to LD_LIBRARY_PATH"};
  if (mpi.launcher.empty())
    return {bad, title(mpi), "no mpirun of it in PATH", "load its module, or give pclscope run --launcher PATH"};
  return {Verdict::good, title(mpi), "library, aggregator and " + mpi.launcher, ""};
}

// By the MPI that takes most of those that can be used.
Check check_shm(const Facts& facts) {
  constexpr const char* what = "/dev/shm";
  if (!facts.shm_writable)
    return {Verdict::stops, what, "cannot be written", "mount a tmpfs there, mode 1777: MPI itself needs it"};
  std::uint64_t needed = 0;
  std::string whose = "MPI";
  for (const MpiFacts& mpi : facts.mpis) {
    const record::ShmNeeds needs = mpi.mpi == launch::Mpi::openmpi ? record::openmpi_needs : record::mpich_needs;
    const std::uint64_t of_this = static_cast<std::uint64_t>(facts.ranks) * needs.of_rank + needs.of_tool;
    if (!usable(mpi) || of_this < needed) continue;
    needed = of_this;
    whose = title(mpi);
  }
  const auto bytes = [](std::uint64_t count) { return text::format_bytes(static_cast<double>(count)); };
  const std::string text = bytes(facts.shm_free) + " free of " + bytes(facts.shm_total) + "; " +
                           std::to_string(facts.ranks) + " ranks of " + whose + " take about " + bytes(needed);
  if (facts.shm_free < needed)
    return {Verdict::stops, what, text, "make it larger (docker run --shm-size=1g; mount -o remount,size=1g /dev/shm)"};
  const std::uint64_t rings = static_cast<std::uint64_t>(facts.ranks) * ring_bytes;
  if ((facts.shm_free - needed) / plenty >= rings) return {Verdict::good, what, text, ""};
  if (facts.memory_shared)
    return {Verdict::note, what, text, "nothing: buffers (" + bytes(rings) + ") go into memory without a name"};
  return {Verdict::note, what, text + "; buffers of " + bytes(rings) + " become smaller",
          "make it larger, or name another folder: pclscope run --ring-dir DIR"};
}

Check check_memory(const Facts& facts) {
  constexpr const char* what = "memory";
  if (!facts.memory_shared)
    return {Verdict::note, what, "/proc does not let processes share memory without a name",
            "mount /proc without hidepid, and start the application in the aggregator's PID namespace"};
  if (facts.address_space)
    return {Verdict::note, what,
            "addresses are limited to " + text::format_bytes(static_cast<double>(*facts.address_space)),
            "buffers do not grow; ulimit -v unlimited lets them"};
  return {Verdict::good, what, "processes can share memory without a name, addresses are not limited", ""};
}

Check check_locked(const Facts& facts) {
  constexpr const char* what = "locked memory";
  if (!facts.locked_memory) return {Verdict::good, what, "not limited", ""};
  const std::string text = "limited to " + text::format_bytes(static_cast<double>(*facts.locked_memory));
  if (*facts.locked_memory >= little_locked) return {Verdict::good, what, text, ""};
  return {Verdict::note, what, text,
          "pclscope needs none; MPI over InfiniBand does: ulimit -l unlimited, in Slurm PropagateResourceLimitsExcept"};
}

Check check_ptrace(const Facts& facts) {
  constexpr const char* what = "ptrace";
  const int scope = facts.ptrace_scope.value_or(0);
  if (scope < 2) return {Verdict::good, what, "processes of yours may be looked into", ""};
  return {Verdict::note, what, "kernel.yama.ptrace_scope is " + std::to_string(scope),
          "pclscope records without; a debugger cannot be attached to ranks (1 or 0 allows it to your own)"};
}

Check check_clock(const Facts& facts) {
  if (facts.clock == record::ClockSource::tsc) return {Verdict::good, "clock", "tsc, one for the node", ""};
  return {Verdict::note, "clock",
          "the kernel uses " + facts.clock_of_kernel + ", so time stamps are system calls' time",
          "each event costs some 10 ns more (hpet, acpi_pm: 1 us); --clock tsc where you know that it is one clock"};
}

Check check_files(const Facts& facts) {
  if (!facts.runtime_problem.empty())
    return {Verdict::stops, "runtime directory", facts.runtime_problem,
            "set XDG_RUNTIME_DIR to a directory that is yours alone, or pclscope run --publish none"};
  if (!facts.shared_problem.empty())
    return {Verdict::note, "home", facts.shared_problem,
            "jobs are seen on their own node only; PCLSCOPE_SHARED names a directory that all nodes share"};
  if (!facts.directory_writable)
    return {Verdict::note, "files", "this directory cannot be written", "give --dump a path elsewhere"};
  return {Verdict::good, "files", "runtime directory, home and this directory can be written", ""};
}

Check check_view(const Facts& facts) {
  if (!facts.viewer)
    return {Verdict::note, "window", "this installation has none",
            "use pclscope watch, inspect and report; build with -DPCLSCOPE_GUI=ON, or install pclscope-gui"};
  if (!facts.viewer_lacks.empty())
    return {Verdict::note, "window", "it does not find " + joined(facts.viewer_lacks), "install these libraries"};
  if (!facts.display)
    return {Verdict::note, "window", "no display here (DISPLAY, WAYLAND_DISPLAY)",
            "pclscope view --screenshot, or on your desk: pclscope view --via this-host"};
  return {Verdict::good, "window", "there is a display", ""};
}

Check check_cores(const Facts& facts) {
  const std::string cores = std::to_string(facts.cores) + (facts.cores == 1 ? " core" : " cores");
  const std::string text = std::to_string(facts.ranks) + " ranks on " + cores;
  if (facts.ranks <= facts.cores) return {Verdict::good, "cores", text, ""};
  return {Verdict::note, "cores", text, "ranks wait for cores: times in MPI are not the network's (docs/limits.md)"};
}

}  // namespace

std::vector<Check> judge(const Facts& facts) {
  std::vector<Check> checks;
  if (!facts.rank_program)
    checks.push_back({Verdict::stops, "installation", "pclscope-rank is missing", "install pclscope as a whole"});
  const auto all = facts.mpis.size();
  for (std::size_t i = 0; i < all; ++i) {
    const bool another = std::any_of(facts.mpis.begin(), facts.mpis.end(),
                                     [&](const MpiFacts& mpi) { return &mpi != &facts.mpis[i] && usable(mpi); });
    checks.push_back(check_mpi(facts.mpis[i], another));
  }
  for (const auto check :
       {check_shm, check_memory, check_locked, check_ptrace, check_clock, check_files, check_cores, check_view})
    checks.push_back(check(facts));
  if (facts.batch)
    checks.push_back(
        {Verdict::good, "batch", facts.srun ? "inside an allocation, with srun" : "inside an allocation", ""});
  return checks;
}

bool would_fail(const std::vector<Check>& checks) {
  return std::any_of(checks.begin(), checks.end(), [](const Check& check) { return check.verdict == Verdict::stops; });
}

std::string as_text(const std::vector<Check>& checks) {
  constexpr const char* words[] = {"ok", "note", "STOPS"};
  std::string text;
  long stops = 0;
  for (const Check& check : checks) {
    std::string line = words[static_cast<int>(check.verdict)];
    line.resize(7, ' ');
    line += check.what;
    line.resize(std::max<std::size_t>(line.size() + 1, 25), ' ');
    text += line + check.text + "\n";
    if (!check.advice.empty()) text += std::string(25, ' ') + "-> " + check.advice + "\n";
    stops += check.verdict == Verdict::stops;
  }
  if (stops == 0) return text + "Nothing here would stop a run.\n";
  return text + (stops == 1 ? "One thing" : std::to_string(stops) + " things") + " would stop a run.\n";
}

std::string as_json(const std::vector<Check>& checks) {
  constexpr const char* words[] = {"good", "note", "stops"};
  nlohmann::ordered_json out = {{"would_fail", would_fail(checks)}, {"checks", nlohmann::ordered_json::array()}};
  for (const Check& check : checks)
    out["checks"].push_back({{"what", check.what},
                             {"verdict", words[static_cast<int>(check.verdict)]},
                             {"text", check.text},
                             {"advice", check.advice}});
  return out.dump(1) + "\n";
}

}  // namespace pclscope::doctor
