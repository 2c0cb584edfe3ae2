// What findings rest on: the job's messages, waits and transfers between nodes, in slices of time (reference §5). The
// newest slices have a row for every rank; older ones keep the rows that matter and become longer, so memory is bounded
// by ranks, not by run time: 8 x ranks x 220 bytes, and at most 256 slices of 19 KB. Plain values, one owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace pclscope::attribute {

// A choice by majority of weight in constant memory (Boyer and Moore): right when one value has more than half.
template <class T>
struct Majority {
  T value{};
  double votes = 0;
  void add(T what, double weight) {
    if (what == value || votes <= 0) {
      votes = what == value ? votes + weight : weight;
      value = what;
    } else if ((votes -= weight) < 0) {
      value = what;
      votes = -votes;
    }
  }
};

// One rank in one slice; seconds.
struct RankShare {
  std::int32_t rank = 0;
  double caused_s = 0;                 // what others waited because of its computation; of that:
  double direct_s = 0;                 //   receivers, for this rank's own message
  double blocked_s = 0;                //   senders, for this rank's receive
  double collective_s = 0;             //   in collectives, one-sided synchronisation and on files
  double one_sided_s = 0;              //     of that, the second
  double file_s = 0;                   //     the third
  double awaited_s = 0;                // what others waited for this rank in sends and receives, wherever that began
  double waited_s = 0;                 // it waited, in anything
  double waited_p2p_s = 0;             // of that, in sends and receives
  double off_core_s = 0;               // it was runnable but off its core, outside MPI
  double outside_s = 0;                // it was outside MPI, of
  double looked_at_s = 0;              //   so much of the slice
  Majority<std::uint32_t> site;        // of its calls that came late
  Majority<std::int32_t> felt{-1, 0};  // region of those who waited
  Majority<std::int32_t> waits_for{-1, 0};  // in sends and receives
  std::int64_t newest_visit_ns = INT64_MIN;
  double visit_s = 0;      // what the newest visit of that computation cost so far
  double squares = 0;      // sum over earlier ones of the square
  std::uint64_t sent = 0;  // messages
  std::uint64_t received = 0;
  double sent_bytes = 0;
  double received_bytes = 0;
  std::uint32_t partners = 0;  // that it sent to in one window, at the most
  double moved_s = 0;          // ranks were inside MPI for nothing but messages of this rank on their way

  void add(const RankShare& more);
  static constexpr std::int64_t same_visit_ns = 1'000'000;
  void visit(std::int64_t visit_ns, double cost_s) {
    if (newest_visit_ns == INT64_MIN || visit_ns > newest_visit_ns + same_visit_ns) {
      squares += visit_s * visit_s;
      visit_s = 0;
      newest_visit_ns = visit_ns;
    }
    visit_s += cost_s;
  }
  double all_squares() const { return squares + visit_s * visit_s; }
  double weight() const { return caused_s + awaited_s + moved_s; }
  std::uint64_t messages() const { return sent + received; }
};

// Messages from a node to another one (or inside nodes) of similar size: [2^(octave-1), 2^octave) bytes, 0: empty ones.
struct TransferCell {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::uint32_t octave = 0;
  std::uint64_t messages = 0;
  std::uint64_t samples = 0;    // whose transfer time is known: the receiver was waiting when they came
  double log_sum = 0;           // of the samples: sum of ln(transfer in ns)
  double transfer_s = 0;        // of all
  double exposed_s = 0;         // time that somebody was inside MPI only for them
  std::int64_t longest_ns = 0;  // the longest transfer (upper bound), and when it ended
  std::int64_t longest_end_ns = 0;

  bool same_line(const TransferCell& o) const { return from == o.from && to == o.to && octave == o.octave; }
  void add(const TransferCell& more);
  double mean_log() const { return log_sum / static_cast<double>(samples); }
};

// A call that waited for long for messages between nodes, all of which were under way, and the nodes of those: one of
// them is why. Nobody knows which of its messages came late. Messages that were matched in another window are another
// StuckCall of the same rank and end.
struct StuckCall {
  static constexpr std::size_t most = 256;  // of a slice
  std::int32_t rank = 0;
  std::int64_t begin_ns = 0;        // the last of its messages was sent
  std::int64_t end_ns = 0;          // it returned
  std::vector<std::int32_t> nodes;  // ascending
};

struct Slice {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t intra_messages = 0, inter_messages = 0, inter_bytes = 0;
  double wait_s = 0;        // receivers, for senders
  double first_come_s = 0;  // of that: for whichever of several senders came first
  double blocked_s = 0;     // senders, for receivers
  double collective_s = 0;
  double one_sided_s = 0;         // in synchronisation of windows
  double file_s = 0;              // in collective calls on files
  double alone_s = 0;             // of waits in collectives: for one rank after all others had come
  double wait_squares = 0;        // sum over waits of the square, where they end
  double collective_squares = 0;  // sum over operations of the square of their waits
  double attributed_s = 0;        // of the three waits: goes back to computation
  double inside_mpi_s = 0;        // to transfers
  double unknown_s = 0;
  double intra_exposed_s = 0;  // time inside MPI for messages on their way, same node
  Majority<std::uint32_t> collective_site;
  std::vector<TransferCell> cells;  // between nodes
  std::vector<StuckCall> stuck;     // that returned in it
  std::vector<RankShare> ranks;     // dense: all, by rank; else those with most weight
  bool dense = false;
  // Of a slice that is not dense any more.
  double load_balance = 0;
  double typical_caused_s = 0;  // median over all ranks
  double typical_moved_s = 0;
  double chain_s = 0;               // waits along chains of ranks
  std::vector<std::int32_t> chain;  // the longest one
  std::int32_t hub = -1;            // rank with most messages
  std::uint64_t hub_messages = 0;   // sent and received
  std::uint32_t senders = 0;        // ranks that sent anything

  double seconds() const { return static_cast<double>(end_ns - begin_ns) * 1e-9; }
  std::uint64_t messages() const { return intra_messages + inter_messages; }
  double waits_s() const { return wait_s + blocked_s + collective_s + one_sided_s + file_s; }
  double exposed_s() const;
  TransferCell& cell(std::int32_t from, std::int32_t to, std::uint32_t octave);
  const RankShare* share_of(std::int32_t rank) const;
};

// Waits in MPI_Init and MPI_Finalize for the last to come: once in a job, so not in slices.
struct EdgeWait {
  std::int32_t rank = -1, awaited = -1;
  double wait_s = 0;
};
struct Edge {
  double waited_s = 0;          // of all ranks
  std::vector<EdgeWait> waits;  // of that; not more than there are ranks
  Majority<std::int32_t> rank{-1, 0};
  std::int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
};
// How long a rank's process was at work when it called MPI_Init, ns (RankStatus::before_init_ns); -1 not known.
using BeforeInit = std::function<std::int64_t(std::int32_t rank)>;
struct Edges {
  Edge start, finish;
};

// AD / mc_avg, the median, the hub and chains, of a slice that still has all ranks.
void summarise(Slice& slice);

class Slices {
 public:
  static constexpr std::size_t most = 256, full = 128, dense = 8, kept_ranks = 64, kept_cells = 64;
  static constexpr std::int64_t least_ns = 500'000'000;

  // Slices are whole numbers of windows, at least half a second.
  Slices(std::int32_t ranks, std::int64_t window_ns);

  // Time has come to `end_ns`, of a window that began at `begin_ns`; the slice of that moment. Good until the next
  // call.
  Slice& advance(std::int64_t begin_ns, std::int64_t end_ns);
  // The dense row of a rank, or a kept one, or none.
  static RankShare* row(Slice& slice, std::int32_t rank) {
    if (!slice.dense) return kept_row(slice, rank);
    return static_cast<std::uint32_t>(rank) < slice.ranks.size() ? &slice.ranks[static_cast<std::uint32_t>(rank)]
                                                                 : nullptr;
  }
  // Calls take(slice, share) for the slices that [begin, end) touches; shares are of `end - begin`, what lies outside
  // all slices is nobody's.
  template <class Take>
  void spread(std::int64_t begin_ns, std::int64_t end_ns, Take take) {
    if (slices_.empty()) return;
    if (Slice& newest = slices_.back(); begin_ns >= newest.begin_ns && end_ns <= newest.end_ns && begin_ns < end_ns) {
      take(newest, 1.0);  // nearly always
      return;
    }
    const double length = static_cast<double>(end_ns) - static_cast<double>(begin_ns);
    if (!(length > 0)) return;
    for (std::size_t i = slices_.size(); i-- > 0 && slices_[i].end_ns > begin_ns;) {
      const std::int64_t from = std::max(begin_ns, slices_[i].begin_ns), to = std::min(end_ns, slices_[i].end_ns);
      if (to > from) take(slices_[i], static_cast<double>(to - from) / length);
    }
  }
  std::vector<Slice>& all() { return slices_; }
  const std::vector<Slice>& all() const { return slices_; }
  std::int32_t ranks() const { return ranks_; }
  std::int64_t length_ns() const { return length_; }

 private:
  static RankShare* kept_row(Slice& slice, std::int32_t rank);
  Slice& append(std::int64_t begin_ns, std::int64_t end_ns);
  void thin();

  std::int32_t ranks_;
  std::int64_t length_;
  std::vector<Slice> slices_;
};

}  // namespace pclscope::attribute
