// The node's notice board of a job (interpose/record/board.hpp), opened by token.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "analysis/result.hpp"
#include "interpose/record/board.hpp"

namespace pclscope::collect {

class BoardFile {
 public:
  // Opens the board, creating it (mode 0600) when it is not there yet. Fails with no_space, not_permitted, io.
  static Result<std::unique_ptr<BoardFile>> open(const std::string& token, const std::string& directory = "/dev/shm");
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
  explicit BoardFile(record::Board* board) : board_(board) {}
  record::Board* board_;
};

}  // namespace pclscope::collect
