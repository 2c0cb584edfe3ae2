// The sending side of the random program: starts each message with some call of MPI that is sure not to wait for
// others.
#pragma once

#include <deque>
#include <vector>

#include "random_context.hpp"

namespace chaos {

class Sender {
 public:
  explicit Sender(Context& context) : context_(context) {}

  void begin();  // of a round
  void send_free(const Planned& message);
  void send_prepared(const Planned& message);  // its receive is posted
  void flush();                                // starts what waits for a common MPI_Startall
  std::shared_ptr<Payload> payload(const Planned& message, bool plain = false);
  int peer(const Planned& message) const;

 private:
  enum class How { standard, synchronous, buffered, ready };
  void blocking(How how, const Planned& message);
  void nonblocking(How how, const Planned& message, bool then_free);
  void persistent(How how, const Planned& message);
  bool room_in_buffer(const Planned& message);

  Context& context_;
  struct Grouped {
    Planned message;
    Operation operation;
    How how;
  };
  std::vector<Grouped> group_;
  std::deque<std::shared_ptr<Payload>> retired_;  // of freed requests: MPI may still read them
};

}  // namespace chaos
