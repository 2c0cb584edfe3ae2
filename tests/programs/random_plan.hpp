// What the random program does, as far as all ranks must know it alike: which communicators are made and freed, and per
// thread and round who sends how much to whom on which of them. A function of the options alone, computed by every
// rank.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "answer.h"

namespace chaos {

inline constexpr int tags = 4;             // of each thread
inline constexpr int long_tag = 3;         // messages with this one (modulo `tags`) may be longer than any eager limit
inline constexpr int replace_bytes = 256;  // no message with another tag is longer
inline constexpr int header_bytes = 24;    // in front of every payload that is not empty
inline constexpr int max_bytes = 16384;
inline constexpr int rounds_per_block = 8;  // communicators change between blocks
inline constexpr int collective_operations = 8;
inline constexpr int never_sent = 30000;  // a tag that no message has
inline constexpr int to_myself = 30001;   // a tag that ties the oracle's clock to the tool's

struct Options {
  long messages = 10000;  // at least
  std::uint64_t seed = 1;
  int threads = 1;
  bool race = false;            // a communicator on which all threads send and receive with the same tags
  bool pcontrol = false;        // every rank switches recording off and on as it likes
  bool burst = false;           // many messages between two synchronisations
  bool tsc = true;              // the oracle's clock, else CLOCK_MONOTONIC
  std::string directory = "-";  // for the oracle
  int per_round() const { return burst ? 512 : 64; }  // messages of each thread
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed)) {}
  int below(std::size_t limit) { return static_cast<int>((state_ = mix(state_)) % limit); }
  bool once_in(std::size_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

enum class Make {
  world,
  self,
  race,
  dup,
  idup,
  split,
  split_type,
  create,
  create_group,
  cart,
  graph,
  intercomm,
  merge
};

// Who may use a communicator: one thread of each rank, or all of them with tags of their own, or all with the same.
inline constexpr int shared = -1;
inline constexpr int raced = -2;

// A communicator, or several disjoint ones made by one call: `colour` says which of them a rank is in.
struct Recipe {
  int ordinal = 0;
  Make make = Make::world;
  int parent = -1;  // ordinal
  std::uint64_t salt = 0;
  int owner = shared;
  bool inter = false;
  std::vector<int> colour;  // of each world rank, -1: in none
  std::vector<int> side;    // of each world rank: the group of an intercommunicator

  int label(int rank) const { return ordinal * 256 + colour[static_cast<std::size_t>(rank)]; }
  bool has(int rank) const { return colour[static_cast<std::size_t>(rank)] >= 0; }
  bool together(int a, int b) const;       // in the same communicator
  std::vector<int> peers(int rank) const;  // to whom this rank can send, ascending world ranks
};

struct Planned {
  int source;  // world ranks
  int destination;
  int slot;  // index into Plan::live()
  int tag;
  int bytes;
};

// Everybody in a communicator sends to the `shift`-next member and receives from the other side, in one call. No
// other message of the round is on this communicator.
struct Exchange {
  int slot;
  int shift;
  int tag;
  int bytes;
};

struct Round {
  int prepared = -1;                             // slot: every receive of it is posted before any rank sends
  std::vector<Planned> messages;                 // in sending order per source
  std::vector<std::pair<int, int>> collectives;  // slot and operation, in the order of the calls
  std::vector<Exchange> exchanges;               // after all other messages, in this order
  std::vector<bool> empty;                       // per slot: some messages may be empty
};

class Plan {
 public:
  Plan(const Options& options, int size);

  struct Change {
    std::vector<int> freed;    // ordinals
    std::vector<Recipe> made;  // in this order
  };
  Change next_block();
  const std::vector<Recipe>& live() const { return live_; }
  Round round(int thread, int number) const;
  int rounds() const { return rounds_; }

 private:
  bool usable(const Recipe& recipe, int thread) const { return recipe.owner < 0 || recipe.owner == thread; }
  Planned draw(Random& random, int source, int thread, const std::vector<int>& slots, const Round& round) const;
  Recipe permanent(Make make, int owner);
  Recipe derive(const Recipe& parent, Random& random);
  void divide(Recipe& made, const Recipe& parent) const;

  Options options_;
  int size_, rounds_;
  int blocks_ = 0, made_ = 0;
  std::vector<Recipe> live_;
};

}  // namespace chaos
