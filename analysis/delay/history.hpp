// What a rank did before those of its calls that are known one by one, as sums over stretches of time: long waits reach
// further back than the newest calls. The newer the shorter are the stretches. A value; one thread. Memory: 336 bytes
// per stretch.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/delay/origins.hpp"

namespace pclscope {

struct RankCall;

// A posted receive and the call that completes it have one site: they are told apart.
std::uint8_t kinds_of(const RankCall& before, const RankCall& after);

// Of [begin_ns, end_ns): computation by phase, waits by where they go back to, and the rest inside MPI.
struct Stretch {
  struct Phase {
    std::uint32_t site = 0, after_site = 0;  // both 0: several that are not told apart
    std::uint8_t kinds = 0;
    std::int64_t ns = 0;
    std::int64_t longest_ns = 0, visit_ns = 0;  // its longest visit, and when that began
  };
  struct Part {
    Blame blame;  // its share is not used
    double ns = 0;
  };
  static constexpr std::size_t most = 4;  // phases besides the rest, parts: the largest

  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t waited_ns = 0, inside_ns = 0;
  std::array<Phase, most + 1> phases;  // by ns, largest first; [most] is the rest
  std::array<Part, most> parts;        // together at most waited_ns: what is missing is unknown
  std::uint32_t calls = 0;

  void add(const Phase& phase);
  void add(const Part& part);
  void join(const Stretch& later);
};

class History {
 public:
  // The rank's next call is forgotten; `blames`: where its wait goes back to.
  void add(const RankCall& call, std::span<const Blame> blames, std::size_t most_stretches);
  void clear() { *this = {}; }
  // Each origin's row has another number now.
  void renumber(const std::vector<std::uint32_t>& now_at);

  const std::vector<Stretch>& stretches() const { return stretches_; }  // without gaps
  bool empty() const { return stretches_.empty(); }
  std::int64_t begin_ns() const { return stretches_.front().begin_ns; }  // not when empty()
  std::int64_t end_ns() const { return stretches_.back().end_ns; }
  std::uint32_t last_site() const { return last_site_; }  // of its newest call
  std::uint8_t last_kind() const { return last_kind_; }

 private:
  std::vector<Stretch> stretches_;
  std::uint32_t last_site_ = 0;
  std::uint8_t last_kind_ = 0;
};

}  // namespace pclscope
