#include "analysis/collect/leftovers.hpp"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "analysis/collect/board_file.hpp"
#include "analysis/collect/segment_file.hpp"
#include "analysis/collect/whole_file.hpp"

namespace pclscope::collect {
namespace {

constexpr double young_s = 60;  // files that are being made belong to nobody yet

double seconds(const timespec& t) { return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec); }

double now_s(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return seconds(t);
}

// When the process was started, CLOCK_REALTIME; 0 when the system does not tell. proc(5), field 22 of stat.
double started_s(std::uint32_t pid) {
  const std::string text = whole_file("/proc/" + std::to_string(pid) + "/stat");
  const auto end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return 0;
  std::istringstream fields(text.substr(end_of_name + 1));
  std::string field;
  for (int number = 3; number <= 21; ++number) fields >> field;
  double ticks = 0;
  if (!(fields >> ticks)) return 0;
  return now_s(CLOCK_REALTIME) - now_s(CLOCK_BOOTTIME) + ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// Whether a process has the file mapped. Also when the system does not tell.
bool has_mapped(std::uint32_t pid, std::uint64_t inode) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/maps");
  if (!file) return true;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string addresses, mode, offset, device;
    std::uint64_t mapped = 0;
    if (fields >> addresses >> mode >> offset >> device >> mapped && mapped == inode) return true;
  }
  return false;
}

struct Found {
  double changed_s = 0;  // of a board: whenever a process opens it, as that allocates its pages
  std::uint64_t inode = 0;
  bool ours = false;
  bool empty = false;
};

Found look(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  return {seconds(status.st_ctim), status.st_ino, status.st_uid == ::geteuid(), status.st_size == 0};
}

// The number of a process that ended may be another's by now: one that was started after a process of the job last
// opened the board, and that does not have it mapped. (A program has not before its MPI_Init; and clocks are set.)
bool is_alive(std::uint32_t pid, const Found& board) {
  return pid != 0 && is_running(pid) && (started_s(pid) <= board.changed_s + 1 || has_mapped(pid, board.inode));
}

bool is_abandoned(const record::Board& board, const Found& found) {
  const std::uint32_t started = board.started.load();
  if (!record::same_process_ids(board) || started > record::board_pids) return false;
  // The aggregator of a job that was only preloaded may have come after all others.
  if (const std::uint32_t pid = board.aggregator.load(); pid != 0 && is_running(pid)) return false;
  if (is_alive(board.creator.load(), found)) return false;
  for (std::uint32_t i = 0; i < started; ++i)
    if (is_alive(board.pid[i].load(), found)) return false;
  return true;
}

// Who wrote a file that has no board; 0: nobody knows.
std::uint32_t writer_of(const std::string& path) {
  char target[64];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  unsigned pid = 0;
  if (length > 0 &&
      std::sscanf(std::string(target, static_cast<std::size_t>(length)).c_str(), "/proc/%u/fd/", &pid) == 1)
    return pid;
  const auto segment = SegmentFile::map(path);
  return segment ? (*segment)->header().pid : 0;
}

std::size_t remove(const std::string& path) { return ::unlink(path.c_str()) == 0 ? 1 : 0; }

}  // namespace

std::size_t sweep_leftovers(const std::string& directory, std::uint32_t node) {
  char key[9];
  record::write_node_key(node, key);
  const std::string middle = std::string("-") + key + "-";
  std::size_t removed = 0;
  std::set<std::string> alive, dead;  // what names of a job's files begin with
  const std::vector<std::string> names = files_with_prefix(directory, record::shm_prefix);
  const auto job_of = [&](const std::string& name) {
    const auto at = name.find(middle);
    return at == std::string::npos ? std::string() : name.substr(0, at + middle.size());
  };
  for (const std::string& name : names) {
    const std::string job = job_of(name);
    if (job.empty() || name != job + "board") continue;
    constexpr std::size_t head = sizeof record::shm_prefix - 1;
    const std::string token = job.substr(head, job.size() - middle.size() - head);
    const Found found = look(directory + "/" + name);
    const bool old = now_s(CLOCK_REALTIME) - found.changed_s > young_s;
    const auto board = BoardFile::open_existing(token, directory, node);
    // One of another size may be of another version of us.
    const bool abandoned = found.ours && (board ? is_abandoned((*board)->board(), found) : old && found.empty);
    (abandoned ? dead : alive).insert(job);
  }
  for (const std::string& name : names) {
    const std::string job = job_of(name), path = directory + "/" + name;
    if (job.empty() || alive.contains(job)) continue;
    const Found found = look(path);
    if (!found.ours) continue;
    if (dead.contains(job)) {
      removed += remove(path);
    } else if (now_s(CLOCK_REALTIME) - found.changed_s > young_s) {
      const std::uint32_t writer = writer_of(path);
      if (writer == 0 || !is_running(writer)) removed += remove(path);
    }
  }
  return removed;
}

}  // namespace pclscope::collect
