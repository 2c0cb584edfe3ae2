// What this process tells the rest of the tool outside of the rings: the node's board, and one line on stderr.
#pragma once

#include "interpose/record/board.hpp"

namespace pclscope {

// One line on stderr in one write. Never more than a few per process.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...);

// The board of this job, opened at the first question; none without a job or without room in /dev/shm.
bool board_available();
// Adds one and wakes who waits for changes. Returns the value before, 0 without a board.
std::uint32_t count_on_board(std::atomic<std::uint32_t> record::Board::*counter);
void uncount_on_board(std::atomic<std::uint32_t> record::Board::*counter);
// Waits until it is not zero, for so many milliseconds at most.
void wait_on_board(std::atomic<std::uint32_t> record::Board::*word, int milliseconds);
// The aggregator's worker on this node, 0 when there is none (yet).
std::uint32_t aggregator_pid();
bool aggregator_alive();
// The board itself, for what is written there but not counted.
record::Board* open_board();
// It ran on this node and left or died.
bool aggregator_ended();
// True for the first process of the node that asks about this bit of Board::said; also without a board.
bool first_to_say(std::uint32_t bit);

}  // namespace pclscope
