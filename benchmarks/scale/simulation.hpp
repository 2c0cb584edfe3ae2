// One job of N aggregators in this process, over a link in memory. Whole: every node is a nodes::Node, fed with the
// events of its ranks. Sampled: the root, the nodes on one path from it to a leaf, and stubs (stubs.hpp) for the
// rest.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/scale/meter.hpp"
#include "benchmarks/scale/program.hpp"
#include "benchmarks/scale/stubs.hpp"

namespace pclscope::benchmark {

enum class Part { root, inner, leaf };
inline constexpr std::size_t parts = 3;
inline constexpr const char* part_names[parts] = {"root", "inner", "leaf"};

struct Setting {
  std::string pattern = "halo";
  int nodes = 64;
  std::int32_t ranks_per_node = 16;
  int windows = 30;
  bool whole = false;
};

struct PartResult {
  std::vector<Cost> windows;  // of each window while the program ran
  std::vector<char> rare;     // of each: regions, places or statuses were told in it
  std::int64_t memory = 0;    // bytes at the program's end
  double status_s = 0;        // one telling of the statuses
  double finish_s = 0;        // from the program's end until all was over
};

struct Outcome {
  std::array<PartResult, parts> of;
  bool right = false;
  std::string wrong;  // what was not right
  std::size_t regions = 0, pairs = 0;
  std::uint64_t matched = 0, expected = 0, left_out = 0, collectives = 0;
  double snapshot_ms = 0;  // the root's results, once, as they go to viewers and the store
  double wall_s = 0;
};

class Simulation {
 public:
  explicit Simulation(const Setting& setting);
  Outcome run();

 private:
  struct Real {
    int node = 0;
    std::unique_ptr<MeteredLink> link;
    std::unique_ptr<nodes::Node> aggregator;
    int owner = 0;  // of its memory; 0 when it is not looked at
    std::array<double, works> seconds{};
    bool told_status = false;
  };
  void make(int node);
  void listen(Real& real);
  void end_epoch(Real& real, int epoch, bool running);
  void epoch(int number, bool running);
  void tell_status(Real& real);
  void note_window(Outcome& out);
  void check(Outcome& out);
  template <class Do>
  void measured(Real& real, Work work, const Do& what);
  bool all_over() const;
  Real* real(Part part);

  Setting setting_;
  Layout layout_;
  Program program_;
  nodes::MemoryLinks links_;
  std::vector<Real> real_;  // leaves first: what the leaf sends up stubs imitate in the same epoch
  std::vector<std::unique_ptr<Stub>> stubs_;
  std::array<int, parts> node_of_part_{};
  int status_every_ = 5;  // windows
  std::uint64_t regions_version_ = 0;
  std::vector<std::int32_t> region_of_rank_;
  std::uint64_t clock_ = 0;
};

}  // namespace pclscope::benchmark
