#include "analysis/discovery/announcement.hpp"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/discovery/addresses.hpp"
#include "analysis/discovery/private_file.hpp"
#include "interpose/record/shared_folder.hpp"

namespace pclscope::discovery {
namespace {

using nlohmann::json;

constexpr std::size_t most_endpoints = 16;

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

template <class T>
T field(const json& from, const char* name) {
  const auto found = from.find(name);
  if (found == from.end()) return T{};
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->template get<std::string>() : T{};
  } else {
    return found->is_number_integer() ? found->template get<T>() : T{};
  }
}

std::vector<std::string> words(const json& from, const char* name) {
  std::vector<std::string> to;
  const auto found = from.find(name);
  if (found == from.end() || !found->is_array()) return to;
  for (const json& word : *found) {
    if (word.is_string() && to.size() < most_endpoints) to.push_back(word.get<std::string>());
  }
  return to;
}

std::string file_name(const std::string& job, const std::string& host, const std::string& boot,
                      const std::string& suffix = job_suffix) {
  std::string text = job + "@";
  for (const char c : host) text += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' ? c : '_';
  return text + "." + boot.substr(0, 8) + suffix;
}

}  // namespace

bool is_job_name(const std::string& name) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
  return !name.empty() && name.size() <= 64 && name[0] != '.' && name[0] != '-' &&
         std::all_of(name.begin(), name.end(), allowed);
}

std::string announcement_text(const Job& job) {
  const json all = {{"name", job.name},
                    {"endpoint", job.endpoint},
                    {"tcp", job.tcp},
                    {"command", job.command},
                    {"mpi", job.mpi},
                    {"node", job.node},
                    {"program", job.program},
                    {"batch_job", job.batch_job},
                    {"cluster", job.cluster},
                    {"ranks", job.ranks},
                    {"aggregator_pid", job.aggregator_pid},
                    {"started_realtime_ns", job.started_realtime_ns},
                    {"aggregator_start_ticks", start_ticks(job.aggregator_pid)},
                    {"host", host_name()},
                    {"boot_id", boot_id()}};
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::optional<Announcement> parse_announcement(const std::string& text) {
  const json from = json::parse(text, nullptr, false);
  if (!from.is_object()) return std::nullopt;
  Announcement to;
  to.job.name = field<std::string>(from, "name");
  to.job.endpoint = field<std::string>(from, "endpoint");
  to.job.tcp = words(from, "tcp");
  to.job.command = field<std::string>(from, "command");
  to.job.mpi = field<std::string>(from, "mpi");
  to.job.node = field<std::string>(from, "node");
  to.job.program = field<std::string>(from, "program");
  to.job.batch_job = field<std::string>(from, "batch_job");
  to.job.cluster = field<std::string>(from, "cluster");
  to.job.ranks = field<std::int32_t>(from, "ranks");
  to.job.aggregator_pid = field<std::uint32_t>(from, "aggregator_pid");
  to.job.started_realtime_ns = field<std::int64_t>(from, "started_realtime_ns");
  to.host = field<std::string>(from, "host");
  to.boot = field<std::string>(from, "boot_id");
  to.started_ticks = field<std::uint64_t>(from, "aggregator_start_ticks");
  if (!is_job_name(to.job.name) || to.job.endpoint.empty()) return std::nullopt;
  return to;
}

Standing standing(const Announcement& announced) {
  if (announced.boot != boot_id()) {  // before a reboot, or on another node that shares the directory
    return announced.host == host_name() ? Standing::gone : Standing::elsewhere;
  }
  const std::uint64_t ticks = start_ticks(announced.job.aggregator_pid);
  return ticks != 0 && ticks == announced.started_ticks ? Standing::running : Standing::gone;
}

bool is_here(const std::string& host, const std::string& boot) { return host == host_name() && boot == boot_id(); }

std::optional<DormantAnnouncement> parse_dormant(const std::string& text) {
  const json from = json::parse(text, nullptr, false);
  if (!from.is_object()) return std::nullopt;
  DormantAnnouncement to;
  to.host = field<std::string>(from, "host");
  to.boot = field<std::string>(from, "boot_id");
  to.job.node = to.host;
  to.job.boot = to.boot;
  to.job.name = field<std::string>(from, "name");
  to.job.command = field<std::string>(from, "command");
  to.job.mpi = field<std::string>(from, "mpi");
  to.job.batch_job = field<std::string>(from, "batch_job");
  to.job.cluster = field<std::string>(from, "cluster");
  to.job.ranks = field<std::int32_t>(from, "ranks");
  to.job.nodes = field<std::int32_t>(from, "nodes");
  to.job.started_realtime_ns = field<std::int64_t>(from, "started_realtime_ns");
  if (!is_job_name(to.job.name) || to.host.empty()) return std::nullopt;
  return to;
}

std::string shared_file_name(const std::string& job) { return file_name(job, host_name(), boot_id()); }

std::string shared_file_name(const Announcement& announced) {
  return file_name(announced.job.name, announced.host, announced.boot);
}

std::string dormant_file_name(const DormantAnnouncement& announced) {
  return file_name(announced.job.name, announced.host, announced.boot, record::dormant_suffix);
}

void sort_by_start(std::vector<Job>& jobs) {
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) {
    return a.started_realtime_ns != b.started_realtime_ns ? a.started_realtime_ns < b.started_realtime_ns
                                                          : a.name < b.name;
  });
}

}  // namespace pclscope::discovery
