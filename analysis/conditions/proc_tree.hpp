// What /proc and the cgroups say of processes and cores. `root` is put before every path: tests read made-up trees.
// Nothing here trusts what it reads; what cannot be read is not known (nullopt, empty). Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pclscope::conditions {

// Times of one thread since it began, ns: /proc/PID/task/TID/schedstat.
struct SchedTimes {
  std::int64_t ran_ns = 0;
  std::int64_t waited_ns = 0;  // on a run queue, without running
};
std::optional<SchedTimes> parse_schedstat(std::string_view text);

// A process: /proc/PID/stat.
struct ProcessStat {
  std::string name;
  std::uint64_t used_ticks = 0;  // of processor time, all threads; sysconf(_SC_CLK_TCK) a second
  std::uint32_t threads = 0;
  std::int32_t core = -1;  // where it last ran
};
std::optional<ProcessStat> parse_stat(std::string_view text);

// "0-3,8" -> 0 1 2 3 8; at most 65,536 of them, ascending.
std::vector<std::int32_t> parse_cpu_list(std::string_view text);
// Cores that a thread may run on: Cpus_allowed_list of /proc/PID/status.
std::vector<std::int32_t> parse_allowed(std::string_view status);
// Ticks that each core was busy since boot, by number: /proc/stat. Cores that are not there: 0.
std::vector<std::uint64_t> parse_busy(std::string_view stat);

// A cgroup whose processor time is limited.
struct Quota {
  std::string directory;  // below root
  double cores = 0;
  std::uint64_t periods = 0;    // so far; periods in which the cgroup's processes were runnable
  std::uint64_t throttled = 0;  // of those: it was used up
};

// A descriptor that is read again and again from its begin. Owns it.
class KeptFile {
 public:
  KeptFile() = default;
  explicit KeptFile(const std::string& path);
  ~KeptFile();
  KeptFile(KeptFile&& other) noexcept;
  KeptFile& operator=(KeptFile&& other) noexcept;
  bool open() const { return descriptor_ >= 0; }
  // What is in it now, up to the buffer's size; empty: nothing, or it cannot be read any more.
  std::string_view read(char* buffer, std::size_t size) const;

 private:
  int descriptor_ = -1;
};

class ProcTree {
 public:
  explicit ProcTree(std::string root = "") : root_(std::move(root)) {}

  // The process is the one that says of itself to be `executable` (cut off, as its header has room for): a number may
  // be another process's here, when the rank is in a container of its own.
  bool is_process(std::uint32_t pid, const std::string& executable) const;
  KeptFile schedstat(std::uint32_t pid, std::uint32_t thread) const;
  KeptFile stat(std::uint32_t pid) const;
  KeptFile busy() const;
  std::vector<std::int32_t> allowed(std::uint32_t pid) const;  // of its main thread
  std::vector<std::uint32_t> processes() const;                // that can be seen
  std::optional<ProcessStat> process(std::uint32_t pid) const;
  // The tightest of the quotas of a process's cgroup and those above, version 1 or 2; none: unlimited, or not known.
  std::optional<Quota> quota(std::uint32_t pid) const;
  std::optional<Quota> quota_of(const std::string& directory) const;

 private:
  std::string text(const std::string& path) const;
  std::string root_;
};

}  // namespace pclscope::conditions
