// A program of any number of ranks, written down as its ranks' rings would have it, any part of any rank at a
// time: nothing is kept but who exchanges messages with whom. Every step each rank posts a receive from each partner,
// sends one message to each, and waits for all; at a window's end there is an Allreduce. Times: ns since the
// program's start.
//
// Partners are mutual and as many for every rank, so that each rank receives as many messages as any other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/values/message.hpp"
#include "interpose/record/event.hpp"

namespace pclscope::benchmark {

inline constexpr std::int64_t window_ns = 100'000'000;
inline constexpr int epochs_of_window = 5;
inline constexpr std::int64_t epoch_ns = window_ns / epochs_of_window;

class Program {
 public:
  // "halo": 6 neighbours in a three-dimensional torus. "cg": as NPB CG, hypercube along the rows of a square, and a
  // transpose. "irregular": 6 random partners among 64 neighbours, 2 far away. `ranks`: a power of two, 512 or more.
  Program(const std::string& pattern, std::int32_t ranks);

  std::int32_t ranks() const { return ranks_; }
  int degree() const { return degree_; }
  int steps_of_window() const { return epochs_of_window * steps_of_epoch_; }
  int steps_of_epoch() const { return steps_of_epoch_; }
  std::uint64_t messages_of_window() const {
    return static_cast<std::uint64_t>(ranks_) * static_cast<std::uint64_t>(degree_ * steps_of_window());
  }
  std::span<const std::int32_t> partners(std::int32_t rank) const {
    return std::span(partners_).subspan(static_cast<std::size_t>(rank * degree_), static_cast<std::size_t>(degree_));
  }

  // What the rank records in an epoch; begin and end are ticks of the job's axis.
  void events(std::int32_t rank, int epoch, std::vector<record::Event>& into) const;
  // The send to its k-th partner alone; the message as the receiver's node matches it; the Allreduce of a window.
  record::Event send(std::int32_t rank, int step, int k) const;
  Message message(std::int32_t destination, int step, int k) const;  // from its k-th partner
  record::Event collective(std::int32_t rank, int window) const;

 private:
  void halo();
  void cg();
  void irregular();
  std::int64_t step_begin(std::int32_t rank, int step) const;
  std::int64_t step_end(std::int32_t rank, int step) const;
  std::int64_t step_ns() const { return epoch_ns / steps_of_epoch_; }
  int place_of(std::int32_t rank, std::int32_t partner) const;

  std::int32_t ranks_;
  int degree_ = 0, steps_of_epoch_ = 1;
  std::vector<std::int32_t> partners_;  // degree_ of each rank
};

}  // namespace pclscope::benchmark
