// The receiving side of the random program: every kind of receive, as many at a time as are sure to complete, and a
// record of what each of them got.
#pragma once

#include <list>
#include <vector>

#include "random_sender.hpp"

namespace chaos {

// How many messages of a round are still to be received, per slot, source (world rank) and tag.
class Expected {
 public:
  Expected() = default;
  Expected(std::size_t slots, int size, int all_tags)
      : size_(size), tags_(all_tags), count_(slots * static_cast<std::size_t>(size * all_tags)) {}
  void add(int slot, int source, int tag) {
    ++count_[index(slot, source, tag)];
    ++total_;
  }
  void take(int slot, int source, int tag) {
    REQUIRE(count_[index(slot, source, tag)]-- > 0);
    --total_;
  }
  int left(int slot, int source, int tag) const { return count_[index(slot, source, tag)]; }
  int total() const { return total_; }
  int all_tags() const { return tags_; }

 private:
  std::size_t index(int slot, int source, int tag) const {
    return static_cast<std::size_t>((slot * size_ + source) * tags_ + tag);
  }
  int size_ = 0, tags_ = 0, total_ = 0;
  std::vector<int> count_;
};

class Receiver {
 public:
  Receiver(Context& context, Sender& sender) : context_(context), sender_(sender) {}

  void begin(const Round& round);           // posts the receives of the prepared communicator
  void while_sending();                     // never blocks
  void finish();                            // receives all that is left of the round, completes everything
  void exchange(const Exchange& exchange);  // afterwards

 private:
  void post_prepared(const Round& round);
  std::vector<Pattern> patterns(const Round& round, int slot, int mode) const;
  bool draw(Pattern& pattern);
  bool possible(const Pattern& more) const;
  bool sure(const Pattern& pattern, const Pattern& more) const;
  bool shared_slot(int slot) const;
  int claims(const Pattern& more, int slot, int source, int tag) const;
  std::size_t free_receives() const;

  void step();
  void receive(const Pattern& pattern, bool raced);
  void post(const Pattern& pattern, Operation::Kind kind, bool raced);
  void start_group();
  void receive_now(const Pattern& pattern);
  void probe_then_receive(const Pattern& pattern, bool poll);
  void matched_probe(const Pattern& pattern, bool poll, bool raced);
  void exchange_in_place(const Planned& message, const Pattern& pattern);
  void exchange_apart(const Planned& message, const Pattern& pattern);
  void exchange_nonblocking(const Planned& message, const Pattern& pattern);
  void cancel_one();
  void free_one();
  void look_at_freed();
  void complete(bool block, bool late);
  void note(std::size_t index, const Pattern& pattern, const Payload& payload, const MPI_Status* status,
            const Completion& completion);

  bool wild(const Pattern& pattern) const { return pattern.source < 0 || pattern.tag < 0; }
  bool may_be_empty(int slot) const { return round_->empty[static_cast<std::size_t>(slot)]; }
  int peer(const Pattern& pattern) const;
  static int wanted(int tag) { return tag < 0 ? MPI_ANY_TAG : tag; }
  MPI_Comm comm(const Pattern& pattern) const { return context_.view(pattern.slot).comm; }
  std::shared_ptr<Payload> room(bool plain = false);

  Context& context_;
  Sender& sender_;
  const Round* round_ = nullptr;
  Expected expected_;
  std::vector<Pattern> raced_;    // still to be received on the raced communicator by this thread
  std::vector<Operation> group_;  // persistent receives that start together
  bool exchanging_ = false;
  std::deque<std::shared_ptr<Payload>> retired_;
  std::list<Operation> freed_;  // their requests are gone, their messages not there yet
};

}  // namespace chaos
