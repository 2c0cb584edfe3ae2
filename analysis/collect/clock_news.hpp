// The newest estimate of this machine's clock on the node's board: written by the one anchor that measures it, taken by
// the others of its node, so that all their workers convert times alike.
#pragma once

#include <algorithm>
#include <cstring>

#include "analysis/collect/tick_clock.hpp"
#include "analysis/nodes/link.hpp"
#include "interpose/record/board.hpp"

namespace pclscope::collect {

inline constexpr std::int64_t clock_news_ahead_ns = 50'000'000;  // long enough for all to have it
static_assert(sizeof(nodes::ClockUpdate) <= sizeof(std::uint64_t) * record::ClockNews::length);

// One thread of the node writes. Sets the time from which on it is to be applied.
inline void write_clock_news(record::Board& board, nodes::ClockUpdate& news) {
  record::ClockNews& on_board = board.clock_news;
  const TickScale scale{board.clock_origin_ticks, board.clock_ns_per_tick};
  news.from_ns = scale.to_ns(read_ticks(record::ClockSource{board.clock_source})) + clock_news_ahead_ns;
  std::uint64_t words[record::ClockNews::length] = {};
  std::memcpy(words, &news, sizeof news);
  const std::uint64_t number = on_board.written.load();
  for (std::size_t i = 0; i < record::ClockNews::length; ++i)
    on_board.words[number % record::ClockNews::kept][i].store(words[i]);
  on_board.written.store(number + 1);
}

// The oldest that was not taken yet and is still there; false: there is none. `next`: its number, counted up.
inline bool read_clock_news(record::Board& board, std::uint64_t& next, nodes::ClockUpdate& news) {
  const record::ClockNews& on_board = board.clock_news;
  const std::uint64_t written = on_board.written.load();
  if (next >= written) return false;
  if (written - next >= record::ClockNews::kept) next = written - 1;
  std::uint64_t words[record::ClockNews::length];
  for (std::size_t i = 0; i < record::ClockNews::length; ++i)
    words[i] = on_board.words[next % record::ClockNews::kept][i].load();
  if (on_board.written.load() - next >= record::ClockNews::kept) return false;  // it was being written anew
  std::memcpy(&news, words, sizeof news);
  ++next;
  return true;
}

}  // namespace pclscope::collect
