#include "analysis/conditions/proc_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace pclscope::conditions {
namespace {

constexpr std::size_t most_cores = 65'536;
constexpr std::size_t most_text = std::size_t{4} << 20;
constexpr int most_levels = 64;  // of cgroups

// The next number of `text`, which is cut behind it; nullopt: there is none.
template <class T>
std::optional<T> number(std::string_view& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return std::nullopt;
  T value{};
  const auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::string_view line_of(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// The value behind `key` and white space at the begin of a line.
std::optional<std::uint64_t> value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = line_of(text);
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ' ') continue;
    line.remove_prefix(key.size());
    return number<std::uint64_t>(line);
  }
  return std::nullopt;
}

bool names_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::size_t end = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, end) == "cpu") return true;
    controllers.remove_prefix(std::min(end + 1, controllers.size()));
  }
  return false;
}

}  // namespace

std::optional<SchedTimes> parse_schedstat(std::string_view text) {
  const auto ran = number<std::int64_t>(text);
  const auto waited = number<std::int64_t>(text);
  if (!ran || !waited || *ran < 0 || *waited < 0) return std::nullopt;
  return SchedTimes{*ran, *waited};
}

// A name may hold blanks and parentheses: it ends at the last one.
std::optional<ProcessStat> parse_stat(std::string_view text) {
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  ProcessStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  text.remove_prefix(close + 1);
  for (int field = 3; field <= 39; ++field) {  // as proc(5) counts them
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) return std::nullopt;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find(' '));
    std::string_view digits = word;
    if (field == 14 || field == 15) {
      const auto ticks = number<std::uint64_t>(digits);
      if (!ticks) return std::nullopt;
      stat.used_ticks += *ticks;
    } else if (field == 20) {
      stat.threads = number<std::uint32_t>(digits).value_or(0);
    } else if (field == 39) {
      stat.core = number<std::int32_t>(digits).value_or(-1);
    }
    text.remove_prefix(word.size());
  }
  return stat;
}

std::vector<std::int32_t> parse_cpu_list(std::string_view text) {
  std::vector<std::int32_t> cores;
  while (true) {
    const auto first = number<std::int32_t>(text);
    if (!first || *first < 0) break;
    std::int32_t last = *first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = number<std::int32_t>(text).value_or(*first);
    }
    for (std::int32_t core = *first; core <= last && cores.size() < most_cores; ++core) cores.push_back(core);
    if (!text.starts_with(',')) break;
    text.remove_prefix(1);
  }
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

std::vector<std::int32_t> parse_allowed(std::string_view status) {
  constexpr std::string_view key = "Cpus_allowed_list:";
  while (!status.empty()) {
    const std::string_view line = line_of(status);
    if (line.starts_with(key)) return parse_cpu_list(line.substr(key.size()));
  }
  return {};
}

// user nice system idle iowait irq softirq: all but those two. What a hypervisor took is not of this machine.
std::vector<std::uint64_t> parse_busy(std::string_view stat) {
  std::vector<std::uint64_t> busy;
  while (stat.starts_with("cpu")) {
    std::string_view line = line_of(stat);
    line.remove_prefix(3);
    if (line.starts_with(' ')) continue;  // all together
    const auto core = number<std::size_t>(line);
    if (!core || *core >= most_cores) continue;
    std::uint64_t sum = 0;
    for (int field = 0; field < 7; ++field) {
      const auto ticks = number<std::uint64_t>(line);
      if (!ticks) break;
      if (field != 3 && field != 4) sum += *ticks;
    }
    if (busy.size() <= *core) busy.resize(*core + 1);
    busy[*core] = sum;
  }
  return busy;
}

KeptFile::KeptFile(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
KeptFile::~KeptFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}
KeptFile::KeptFile(KeptFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
KeptFile& KeptFile::operator=(KeptFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

std::string_view KeptFile::read(char* buffer, std::size_t size) const {
  if (descriptor_ < 0) return {};
  const ssize_t length = ::pread(descriptor_, buffer, size, 0);
  return {buffer, length > 0 ? static_cast<std::size_t>(length) : 0};
}

std::string ProcTree::text(const std::string& path) const {
  std::string all;
  const int file = ::open((root_ + path).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return all;
  std::array<char, 4096> part;
  for (ssize_t length = 0; all.size() < most_text && (length = ::read(file, part.data(), part.size())) > 0;)
    all.append(part.data(), static_cast<std::size_t>(length));
  ::close(file);
  return all;
}

bool ProcTree::is_process(std::uint32_t pid, const std::string& executable) const {
  std::array<char, 4096> target;
  const std::string link = root_ + "/proc/" + std::to_string(pid) + "/exe";
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  return length > 0 && std::string_view(target.data(), static_cast<std::size_t>(length)).starts_with(executable);
}

KeptFile ProcTree::schedstat(std::uint32_t pid, std::uint32_t thread) const {
  return KeptFile(root_ + "/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread) + "/schedstat");
}
KeptFile ProcTree::stat(std::uint32_t pid) const { return KeptFile(root_ + "/proc/" + std::to_string(pid) + "/stat"); }
KeptFile ProcTree::busy() const { return KeptFile(root_ + "/proc/stat"); }

std::vector<std::int32_t> ProcTree::allowed(std::uint32_t pid) const {
  return parse_allowed(text("/proc/" + std::to_string(pid) + "/status"));
}

std::vector<std::uint32_t> ProcTree::processes() const {
  std::vector<std::uint32_t> list;
  DIR* all = ::opendir((root_ + "/proc").c_str());
  if (all == nullptr) return list;
  while (const dirent* entry = ::readdir(all)) {
    std::string_view name = entry->d_name;
    const auto pid = number<std::uint32_t>(name);
    if (pid && name.empty()) list.push_back(*pid);
  }
  ::closedir(all);
  return list;
}

std::optional<ProcessStat> ProcTree::process(std::uint32_t pid) const {
  return parse_stat(text("/proc/" + std::to_string(pid) + "/stat"));
}

std::optional<Quota> ProcTree::quota_of(const std::string& directory) const {
  Quota quota;
  quota.directory = directory;
  if (const std::string max = text(directory + "/cpu.max"); !max.empty()) {  // version 2: "max 100000", "50000 100000"
    std::string_view rest = max;
    const auto most = number<double>(rest);
    const auto period = number<double>(rest);
    if (!most || !period || *period <= 0) return std::nullopt;
    quota.cores = *most / *period;
  } else {
    const std::string most = text(directory + "/cpu.cfs_quota_us"), period = text(directory + "/cpu.cfs_period_us");
    std::string_view most_text = most, period_text = period;
    const auto most_us = number<double>(most_text), period_us = number<double>(period_text);
    if (!most_us || !period_us || *most_us <= 0 || *period_us <= 0) return std::nullopt;
    quota.cores = *most_us / *period_us;
  }
  const std::string stat = text(directory + "/cpu.stat");
  quota.periods = value_of(stat, "nr_periods").value_or(0);
  quota.throttled = value_of(stat, "nr_throttled").value_or(0);
  return quota;
}

std::optional<Quota> ProcTree::quota(std::uint32_t pid) const {
  const std::string memberships = text("/proc/" + std::to_string(pid) + "/cgroup");
  std::optional<Quota> tightest;
  for (std::string_view rest = memberships; !rest.empty();) {
    const std::string_view line = line_of(rest);
    const std::size_t first = line.find(':'), second = line.find(':', first == std::string_view::npos ? 0 : first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    std::vector<std::string> mounts;
    if (controllers.empty()) mounts = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    else if (names_cpu(controllers)) mounts = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/" + std::string(controllers)};
    for (const std::string& mount : mounts) {
      std::string path(line.substr(second + 1));
      if (path.find("..") != std::string::npos) path.clear();  // above what this namespace shows
      for (int level = 0; level < most_levels; ++level) {
        while (path.ends_with('/')) path.pop_back();
        const auto found = quota_of(mount + path);
        if (found && (!tightest || found->cores < tightest->cores)) tightest = found;
        if (path.empty()) break;
        path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
      }
    }
  }
  return tightest;
}

}  // namespace pclscope::conditions
