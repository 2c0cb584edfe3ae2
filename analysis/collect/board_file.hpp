// The node's notice board of a job (interpose/record/board.hpp), opened by token.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/values/result.hpp"
#include "interpose/record/board.hpp"
#include "interpose/record/segment.hpp"

namespace pclscope::collect {

// "pclscope-TOKEN-NODE-": what the names of a job's files on a node begin with.
std::string shm_names(const std::string& token, std::uint32_t node = record::this_node_key());
// Names in a directory that begin so, sorted.
std::vector<std::string> files_with_prefix(const std::string& directory, const std::string& prefix);
// Removes all of them. Returns how many there were.
std::size_t remove_files_of(const std::string& token, const std::string& directory, std::uint32_t node);
// Not a process that ended and was not reaped.
bool is_running(std::uint32_t pid);

// Ranks' processes that the aggregators of a node tell each other of.
void note_process(record::Board& board, std::uint32_t pid);
std::vector<std::uint32_t> processes_found(const record::Board& board);

class BoardFile {
 public:
  // Opens the board of a node (record::node_key), creating it (mode 0600) when it is not there yet. Fails with
  // no_space, not_permitted, not_ours, io.
  static Result<std::unique_ptr<BoardFile>> open(const std::string& token, const std::string& directory = "/dev/shm",
                                                 std::uint32_t node = record::this_node_key());
  // The same without creating it: fails with not_found, damaged, not_ours as well.
  static Result<std::unique_ptr<BoardFile>> open_existing(const std::string& token,
                                                          const std::string& directory = "/dev/shm",
                                                          std::uint32_t node = record::this_node_key());
  ~BoardFile();
  BoardFile(const BoardFile&) = delete;
  BoardFile& operator=(const BoardFile&) = delete;

  record::Board& board() { return *board_; }
  // Sleeps until something on the board changes after `seen` (value of board().change), a signal, or the timeout.
  void wait(std::uint32_t seen, std::chrono::milliseconds timeout);
  void notify();  // counts a change and wakes all waiters
  // Of the programs started on this node, how many still run. A program that ended but was not reaped counts as ended.
  std::uint32_t alive() const;

 private:
  static Result<std::unique_ptr<BoardFile>> map(const std::string& path, bool create);
  explicit BoardFile(record::Board* board) : board_(board) {}
  record::Board* board_;
};

}  // namespace pclscope::collect
