// Runs a scenario under one schedule after the other and judges what came of each.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/explore/hashes.hpp"
#include "tests/explore/reader.hpp"
#include "tests/explore/scenarios.hpp"
#include "tests/explore/scheduler.hpp"

namespace explore {

struct Schedule {
  bool reader_first = false;    // else the ranks come before the aggregator
  std::uint32_t killed_at = 0;  // step of the first aggregator, 0: it is not
  std::vector<Deviation> deviations;
  std::uint64_t seed = 0;  // not 0: at random instead
  std::string text() const;
};

struct Sums {
  std::uint64_t schedules = 0, steps = 0, states = 0;
  std::uint64_t matched = 0, ambiguous = 0;
  bool cut_off = false;  // time was up
};

class Search {
 public:
  Search(const std::string& library, const Scenario& scenario);

  // Every schedule with up to `deviations` of them, as long as there is time. What went wrong, if anything.
  std::optional<std::string> exhaust(int deviations, double seconds);
  std::optional<std::string> at_random(std::uint64_t seed, double seconds);
  std::optional<std::string> run(const Schedule& schedule);
  const Sums& sums() const { return sums_; }

 private:
  struct Readers {
    Read first, second;
  };
  void start_fibers(const Schedule& schedule, Readers& readers);
  std::string judge(const Read& read, bool whole) const;
  void add_children(const Schedule& schedule, std::vector<Schedule>& next);
  std::vector<Schedule> beginnings();

  const Scenario& scenario_;
  World world_;
  std::vector<int> rank_fibers_;
  int first_reader_ = -1, second_reader_ = -1;
  Hashes states_, tried_;
  Sums sums_;
  bool show_ = false;
};

}  // namespace explore
