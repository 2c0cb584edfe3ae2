#include "analysis/collect/dormant.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "analysis/collect/text_field.hpp"
#include "interpose/record/segment.hpp"

namespace pclscope::collect {
namespace {

// Tokens of the boards of a node: "pclscope-TOKEN-NODE-board".
std::vector<std::string> tokens_in(const std::string& directory, std::uint32_t node) {
  std::vector<std::string> tokens;
  char key[9];
  record::write_node_key(node, key);
  const std::string prefix = record::shm_prefix, ending = std::string("-") + key + "-board";
  DIR* listing = ::opendir(directory.c_str());
  if (listing == nullptr) return tokens;
  while (const dirent* entry = ::readdir(listing)) {
    const std::string name = entry->d_name;
    if (name.size() > prefix.size() + ending.size() && name.starts_with(prefix) && name.ends_with(ending))
      tokens.push_back(name.substr(prefix.size(), name.size() - prefix.size() - ending.size()));
  }
  ::closedir(listing);
  return tokens;
}

constexpr std::size_t nodes_limit = 1 << 20;  // lines

std::vector<std::string> read_nodes(const std::string& path) {
  std::vector<std::string> nodes;
  std::ifstream file(path);
  for (std::string line; nodes.size() < nodes_limit && std::getline(file, line);) {
    if (!line.empty()) nodes.push_back(line);
  }
  return nodes;
}

}  // namespace

bool describe(BoardFile& file, DormantJob& job) {
  const record::Board& board = file.board();
  if (board.described.load(std::memory_order_acquire) != 2 || board.version != record::board_version) return false;
  job.name = text_of(board.job);
  job.executable = text_of(board.executable);
  job.mpi = text_of(board.mpi);
  job.first_node = text_of(board.node);
  job.node_count = board.nodes;
  job.ranks = board.ranks;
  job.node_ranks = board.node_ranks;
  job.started_ns = board.started_ns;
  const SessionProgress now = progress(file);
  job.living = now.living;
  job.recording = now.recording;
  job.aggregator = now.aggregator;
  return true;
}

std::vector<DormantJob> dormant_jobs(const std::string& directory, std::uint32_t node) {
  std::vector<DormantJob> jobs;
  for (const std::string& token : tokens_in(directory, node)) {
    auto board = BoardFile::open_existing(token, directory, node);
    DormantJob job;
    if (!board || !describe(**board, job)) continue;
    job.token = token;
    if (job.living == 0) {
      remove_files_of(token, directory, node);
      continue;
    }
    job.nodes = read_nodes(directory + "/" + shm_names(token, node) + "nodes");
    jobs.push_back(std::move(job));
  }
  std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return jobs;
}

Result<DormantJob> find_dormant(const std::string& name, const std::string& directory, std::uint32_t node) {
  for (DormantJob& job : dormant_jobs(directory, node)) {
    if (job.name == name) return std::move(job);
  }
  return Error{ErrorCode::not_found, "no job '" + name + "' waits on this node to be attached to: see `pclscope list`"};
}

Result<std::uint32_t> begin_session(BoardFile& file, std::uint32_t pid) {
  record::Board& board = file.board();
  std::uint32_t before = board.aggregator.load(std::memory_order_acquire);
  do {
    if (before != 0 && before != pid && is_running(before))
      return Error{ErrorCode::in_use, "the job is attached already: see `pclscope list`, or detach it first"};
  } while (!board.aggregator.compare_exchange_weak(before, pid));
  board.aggregator_done.store(0);
  // From here on nobody else writes `session`. One that a dead aggregator left odd is over.
  std::uint32_t number = board.session.load() + 1;
  if (number % 2 == 0) ++number;
  board.session.store(number, std::memory_order_release);
  file.notify();
  return number;
}

void end_session(BoardFile& file, std::uint32_t number) {
  std::uint32_t expected = number;
  file.board().session.compare_exchange_strong(expected, number + 1);
  file.notify();
}

// Who begins a session enters his pid first: while the dead one's still stands there, `number` was its own.
void end_session_of_dead(BoardFile& file, std::uint32_t pid) {
  const std::uint32_t number = file.board().session.load(std::memory_order_acquire);
  if (number % 2 == 1 && file.board().aggregator.load(std::memory_order_acquire) == pid) end_session(file, number);
}

void leave_session(BoardFile& file, std::uint32_t pid) {
  file.board().aggregator_done.store(1, std::memory_order_release);
  file.board().aggregator.compare_exchange_strong(pid, 0);
  file.notify();
}

SessionProgress progress(BoardFile& file) {
  const record::Board& board = file.board();
  // In this order: whose session it is has entered itself before.
  const std::uint32_t session = board.session.load(std::memory_order_acquire);
  const std::uint32_t pid = board.aggregator.load(std::memory_order_acquire);
  return {session, board.recording.load(std::memory_order_acquire), file.alive(), pid != 0 && is_running(pid) ? pid : 0,
          board.aggregator_done.load(std::memory_order_acquire) == 1};
}

}  // namespace pclscope::collect
