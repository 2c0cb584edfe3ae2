// Has the pattern of communication changed? Decided from the last windows, however long the job has run.
//
// A pattern is what each rank's messages go to: the proportions p_aj of rank a's messages to its partners j. How much a
// rank sends does not matter, nor do ranks that are silent. With b_aj the messages of some windows, B their sum, b_a
// that of rank a, and m_aj those of the reference, they differ by
//   H = sum_a (b_a / B) (1 - sum_j sqrt(b_aj m_aj) / sqrt(b_a m_a))
// (the squared Hellinger distance, averaged over messages; 1 for a rank that sent nothing before). Chance alone gives
// at most about noise = sum_a (b_a / B) 0.23 k_a (1 / b_a + 1 / m_a), k_a = number of a's partners (those in the
// reference, and 0.6 k_a / m_a more). The windows are explained when H <= noise + effect, effect = 0.1 (a fifth of all
// messages to new partners), and when at most a quarter of the messages goes to new partners, and 0.6 k_a / m_a more.
//
// Windows with few messages are put together to blocks: with one message per partner, or 16 of which a quarter is new.
// The pattern has changed when the last 4 blocks are not explained, alone and together, and each is explained by the
// other three: with a noise of 0.3 at most, or else, as there are too few messages to tell, when most in each of the 4
// go to new partners. Messages come in bursts, so that chance is larger than by their number: together, blocks may
// differ by 2 / n_a more of what a rank differs in them one by one (mean by messages), n_a = (sum b)^2 / sum b^2 over
// them. What alternates from block to block does not agree so, but in groups: the same is asked of the last 4 groups of
// 2, 4 and 8 blocks. 32 blocks in a row that nothing explains, alone or together, are a change too. The new pattern
// began with the first of the unexplained blocks that is nearer to the new reference than to the old one.
//
// Alternation. Blocks of which 32 are not explained one by one, but together, are phases: their pattern is explained by
// any of its phases (up to 8). When a pattern comes back that ended not long ago (one of the last 3), the two are
// phases of one pattern from then on. Only when a phase lasts for 4 times as long as any before (and 16 blocks), the
// pattern has changed to that phase alone. So a program that alternates has at most a few changes, then none.
//
// The first 10 blocks are the start: what changes within them is the same pattern, of other counts.
//
// One thread owns a PatternWatch. Time per window: O(pairs with messages), in unexplained windows up to 20 times that.
// Memory: 8 bytes per pair, 4 for each phase and each earlier pattern, and the blocks that are not explained.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace pclscope {

class PatternWatch {
 public:
  static constexpr double effect = 0.1, fresh_effect = 0.25;
  static constexpr std::size_t most_waiting = 32;  // blocks

  struct Count {
    std::uint32_t pair = 0;  // any numbering 0.. of ordered pairs of two different ranks
    std::int32_t source = 0, destination = 0;
    std::uint64_t messages = 0;
  };
  struct Change {
    std::int64_t begin_ns = 0;   // begin of the window in which the new pattern began
    bool at_start = false;       // the pattern is still the job's first: it began when the job did
    std::vector<float> weights;  // by pair: the graph of the new pattern; of ranks that are silent in it as it was
  };

  explicit PatternWatch(std::int32_t ranks);

  // A window with messages, later than those before; each pair at most once.
  std::optional<Change> add(std::int64_t begin_ns, std::span<const Count> counts);
  // Older messages of the pattern count `factor` of what they did, 0 < factor < 1. O(pairs).
  void forget(double factor);
  // A change that is found later began in a window that begins here or later. INT64_MAX: in one that is still to come.
  std::int64_t keep_from_ns() const;

 private:
  struct Block {
    std::int64_t begin_ns = 0;
    std::vector<Count> counts;  // by pair
    std::uint64_t messages = 0;
    std::size_t windows = 0;
  };
  // Messages by pair, with sums by source.
  struct Mode {
    std::vector<float> weight;
    std::vector<double> of_source;
    std::vector<std::uint32_t> partners;
    void add(const Block& block, std::size_t ranks);
  };
  struct Fit {
    double distance = 0, noise = 0;     // H
    double fresh = 0, fresh_noise = 0;  // share of messages to new partners
    bool good() const { return distance <= noise + effect && fresh <= fresh_noise + fresh_effect; }
  };
  // What senders differed by in blocks, one by one.
  struct Bursts {
    std::vector<double> sent, squares, distance;  // by source, sums over blocks of b, b^2, b times what it differed by
    explicit Bursts(std::size_t ranks) : sent(ranks), squares(ranks), distance(ranks) {}
  };
  struct Earlier {
    std::vector<Mode> phases;
    Mode all;
    std::uint64_t ended_at = 0;  // block number
  };

  // `add_to`: gets the block's distances. `bursts`: makes the noise larger.
  Fit fit(const Block& block, const Mode& mode, const Bursts* bursts = nullptr, Bursts* add_to = nullptr);
  int phase_of(const Block& block, const Bursts* bursts = nullptr);  // index in phases_, -2 the whole pattern, -1 none
  bool complete(const Block& block);
  std::optional<Change> take(Block&& block);
  std::optional<Change> explained(const Block& block, int phase);
  std::optional<Change> look_at_waiting();
  Block together(std::size_t first, std::size_t count) const;  // of waiting_
  bool agree(std::size_t group);
  Change change_to(const Block& last, const Mode& pool);
  Change adopt(std::int64_t begin_ns, Mode&& all, std::vector<Mode>&& phases, const Block& seen);
  void keep_silent(Mode& all, const Block& seen) const;
  void take_back();  // the waiting blocks belong to the pattern
  void recount(Mode& mode) const;
  static void merge(Block& into, std::span<const Count> counts);

  std::size_t ranks_;
  std::vector<std::int32_t> source_of_pair_, destination_of_pair_;
  Mode all_;                   // of the present pattern
  std::vector<Mode> phases_;   // when it alternates
  std::deque<Block> waiting_;  // the newest ones, as long as they are not explained
  Block open_;
  std::vector<Earlier> earlier_;                        // newest last
  std::uint64_t blocks_ = 0, began_ = 0, changes_ = 0;  // blocks seen; when the pattern began
  int phase_ = -1;                                      // of the newest block
  std::uint64_t phase_run_ = 0, longest_run_ = 0;       // blocks in a row of one phase
  std::vector<double> sent_, both_, fresh_;             // by source, 0 between calls
  std::vector<std::int32_t> senders_;
};

}  // namespace pclscope
