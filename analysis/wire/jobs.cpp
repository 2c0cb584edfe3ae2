#include "analysis/wire/jobs.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

namespace pclscope::wire {
namespace {

using nlohmann::json;

constexpr char suffix[] = ".job";
constexpr std::size_t longest_file = 256 * 1024;

bool is_name(const std::string& name) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
  return !name.empty() && name.size() <= 64 && name[0] != '.' && std::all_of(name.begin(), name.end(), allowed);
}

std::string read_small(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content(longest_file, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return content;
}

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string boot_id() {
  std::string id = read_small("/proc/sys/kernel/random/boot_id");
  return id.substr(0, id.find('\n'));
}

// When the process started, in clock ticks since boot; 0 when there is no such process (a zombie is none).
// With the pid it names a process for good, a pid alone may be reused.
std::uint64_t start_ticks(std::uint32_t pid) {
  const std::string line = read_small("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t command_end = line.rfind(')');  // the command may contain anything
  if (command_end == std::string::npos) return 0;
  std::istringstream fields(line.substr(command_end + 1));
  std::string field;
  for (int number = 3; number <= 22 && fields >> field; number++) {
    if (number == 3 && (field == "Z" || field == "X")) return 0;
    if (number == 22) return std::strtoull(field.c_str(), nullptr, 10);
  }
  return 0;
}

struct Announcement {
  Job job;
  std::string host;  // of the announcing process, whatever the job calls its node
  std::string boot;
  std::uint64_t started_ticks = 0;
};

json to_json(const Job& job) {
  return {{"name", job.name},
          {"endpoint", job.endpoint},
          {"command", job.command},
          {"mpi", job.mpi},
          {"node", job.node},
          {"ranks", job.ranks},
          {"aggregator_pid", job.aggregator_pid},
          {"started_realtime_ns", job.started_realtime_ns},
          {"aggregator_start_ticks", start_ticks(job.aggregator_pid)},
          {"host", host_name()},
          {"boot_id", boot_id()}};
}

template <class T>
T field(const json& from, const char* name) {
  const auto found = from.find(name);
  if (found == from.end()) return T{};
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->get<std::string>() : T{};
  } else {
    return found->is_number_integer() ? found->get<T>() : T{};
  }
}

std::optional<Announcement> parse(const std::string& content) {
  const json from = json::parse(content, nullptr, false);
  if (!from.is_object()) return std::nullopt;
  Announcement to;
  to.job.name = field<std::string>(from, "name");
  to.job.endpoint = field<std::string>(from, "endpoint");
  to.job.command = field<std::string>(from, "command");
  to.job.mpi = field<std::string>(from, "mpi");
  to.job.node = field<std::string>(from, "node");
  to.job.ranks = field<std::int32_t>(from, "ranks");
  to.job.aggregator_pid = field<std::uint32_t>(from, "aggregator_pid");
  to.job.started_realtime_ns = field<std::int64_t>(from, "started_realtime_ns");
  to.host = field<std::string>(from, "host");
  to.boot = field<std::string>(from, "boot_id");
  to.started_ticks = field<std::uint64_t>(from, "aggregator_start_ticks");
  if (!is_name(to.job.name) || to.job.endpoint.empty()) return std::nullopt;
  return to;
}

enum class Standing { running, gone, elsewhere };

Standing standing(const Announcement& announced) {
  if (announced.boot != boot_id()) {  // before a reboot, or on another node that shares the directory
    return announced.host == host_name() ? Standing::gone : Standing::elsewhere;
  }
  const std::uint64_t ticks = start_ticks(announced.job.aggregator_pid);
  return ticks != 0 && ticks == announced.started_ticks ? Standing::running : Standing::gone;
}

// The job's file, and its sockets if they lie beside it.
void remove_traces(const std::string& directory, const Job& job) {
  ::unlink((directory + "/" + job.name + suffix).c_str());
  if (job.endpoint != "ipc://" + directory + "/" + job.name) return;
  ::unlink((directory + "/" + job.name + ".pub").c_str());
  ::unlink((directory + "/" + job.name + ".ask").c_str());
}

}  // namespace

Status announce(const Job& job) {
  if (!is_name(job.name)) {
    return Error{ErrorCode::bad_argument,
                 "job name '" + job.name + "': use up to 64 letters, digits, '-', '_' and '.'"};
  }
  const auto directory = runtime_directory();
  if (!directory) return directory.error();
  const std::string path = *directory + "/" + job.name + suffix;
  const std::string draft = *directory + "/." + job.name + "." + std::to_string(::getpid());
  const std::string content = to_json(job).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  ::unlink(draft.c_str());
  const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0) ::fchmod(fd, 0600);  // whatever the umask is
  bool done = fd >= 0;
  if (done) {
    done =
        ::fchmod(fd, 0600) == 0 && ::write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size());
    done = ::close(fd) == 0 && done && ::rename(draft.c_str(), path.c_str()) == 0;
  }
  if (done) return {};
  const int error = errno;
  ::unlink(draft.c_str());
  return Error{error == ENOSPC ? ErrorCode::no_space : ErrorCode::io,
               "cannot announce the job in " + path + ": " + std::strerror(error)};
}

void withdraw(const std::string& name) {
  if (!is_name(name)) return;
  if (const auto directory = runtime_directory()) ::unlink((*directory + "/" + name + suffix).c_str());
}

Result<std::vector<Job>> list_jobs() {
  const auto directory = runtime_directory();
  if (!directory) return directory.error();
  std::vector<Job> jobs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(*directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name[0] == '.' || entry.path().extension() != suffix || !entry.is_regular_file(error)) continue;
    const auto announced = parse(read_small(entry.path().string()));
    if (!announced || announced->job.name + suffix != name) continue;
    const Standing now = standing(*announced);
    if (now == Standing::running) jobs.push_back(announced->job);
    if (now == Standing::gone) remove_traces(*directory, announced->job);
  }
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) {
    return a.started_realtime_ns != b.started_realtime_ns ? a.started_realtime_ns < b.started_realtime_ns
                                                          : a.name < b.name;
  });
  return jobs;
}

}  // namespace pclscope::wire
