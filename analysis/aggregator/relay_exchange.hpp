// Messages between the nodes' anchors, grouped in epochs: the sparse exchange known as NBX (Hoefler, Siebert,
// Lumsdaine: Scalable Communication Protocols for Dynamic Sparse Data Exchange, PPoPP 2010), with a reduction in place
// of its barrier. Every message is a synchronous send: when all of a node's are complete, their receivers have taken
// them; when all nodes have said so in the reduction, nothing of the epoch is under way any more.
//
// Calls of MPI that wait: none. One thread owns it; between turns nothing moves. Memory: what is under way, at most
// `most_bytes` (and one message) each way, plus what faster nodes sent for the next epoch.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <unordered_map>
#include <vector>

namespace pclscope::aggregator {

// What a node says at the end of an epoch. Reduced: the minimum of the first, the sums of the others.
struct RelayWord {
  std::int64_t read_until_ns = INT64_MAX;
  std::int64_t open = 0;
  std::int64_t dead = 0;        // 1: this node's worker is no more
  std::int64_t leaving = 0;     // 1: this node needs no more epochs
  std::int64_t ask_finish = 0;  // 1: all should finish
};

class RelayExchange {
 public:
  using Message = std::function<void(int node, std::vector<std::byte> bytes)>;
  // Everything of the epoch was handed over before. `died`: nodes whose worker was told dead in it for the first time.
  using Epoch = std::function<void(const RelayWord& reduced, const std::vector<int>& died)>;

  static constexpr std::size_t part_bytes = 1 << 20;  // larger messages go in parts
  static constexpr std::size_t most_bytes = 64 << 20;
  static constexpr std::size_t most_requests = 512;

  // Duplicates `tools` (collective, waits for all of them).
  RelayExchange(MPI_Comm tools, Message message, Epoch epoch);
  ~RelayExchange();  // frees what it can; call only when nothing is under way or MPI is lost
  RelayExchange(const RelayExchange&) = delete;
  RelayExchange& operator=(const RelayExchange&) = delete;

  int nodes() const { return nodes_; }
  int self() const { return self_; }

  bool room() const;  // whether send() should be called now
  void send(int node, std::vector<std::byte> bytes);
  void end_epoch(const RelayWord& word);  // only when !ended()
  bool ended() const { return ended_; }   // this node ended its epoch, not all did

  // Moves on what can. `take`: messages may be handed over now. True when something moved.
  bool turn(bool take);
  bool failed() const { return failed_; }  // MPI said so: the exchange is over

 private:
  struct Receive {
    MPI_Request request = MPI_REQUEST_NULL;
    int node = -1;
    int tag = 0;
    std::vector<std::byte> bytes;
  };
  struct Early {
    int node;
    std::vector<std::byte> bytes;
  };
  bool ok(int status);
  void send_part(int node, std::vector<std::byte> part, bool is_last);
  bool complete_sends();
  bool begin_receives();
  bool complete_receives();
  void take_part(Receive& receive);
  bool advance();
  void ask_who_died();
  void next_epoch();
  void make_reduction();

  Message message_;
  Epoch epoch_;
  MPI_Comm data_ = MPI_COMM_NULL;   // messages
  MPI_Comm words_ = MPI_COMM_NULL;  // collectives
  MPI_Datatype word_type_ = MPI_DATATYPE_NULL;
  MPI_Op word_op_ = MPI_OP_NULL;
  int nodes_ = 0, self_ = 0;

  std::vector<MPI_Request> sends_;
  std::vector<std::vector<std::byte>> sent_;  // bytes of sends_[i]
  std::size_t sending_bytes_ = 0;
  std::deque<Receive> receives_;  // in order of arrival
  std::size_t receiving_bytes_ = 0;
  std::size_t receiving_[2] = {0, 0};                      // receives of even and odd epochs
  std::unordered_map<int, std::vector<std::byte>> parts_;  // of messages that are not whole yet
  std::vector<Early> early_;                               // of the next epoch

  int parity_ = 0;  // of this epoch
  bool ended_ = false;
  bool reduced_ = false;
  MPI_Request collective_ = MPI_REQUEST_NULL;
  RelayWord word_, result_;
  bool asking_ = false;  // collective_ gathers who is dead
  std::int64_t known_dead_ = 0;
  std::uint8_t dead_here_ = 0;
  std::vector<std::uint8_t> dead_, dead_now_;
  std::vector<int> died_;
  bool failed_ = false;
};

}  // namespace pclscope::aggregator
