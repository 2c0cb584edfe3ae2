// Messages in their order, in 8 to 15 bytes each (messages.cpp says how): on the way to the root, and in memory.
// Any values come back. What writer and reader remember of the messages before (receivers, their routes) they hold
// themselves: about 200 bytes per receiver and 60 per route, of which the last 120 of a receiver. Threads: none.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "analysis/packing/bytes.hpp"
#include "analysis/values/message.hpp"

namespace pclscope::packing {

inline constexpr std::size_t least_message = 6;   // bytes
inline constexpr std::size_t most_message = 160;  // no message takes more

class MessageWriter {
 public:
  // Quickest, and shortest, for about so many messages; good for any number.
  explicit MessageWriter(std::size_t expected);
  ~MessageWriter();
  MessageWriter(MessageWriter&&) noexcept;
  MessageWriter& operator=(MessageWriter&&) noexcept;
  void put(Writer& out, const Message& message);
  std::size_t memory() const;  // bytes that it holds

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Reads what one MessageWriter wrote, from its first message on.
class MessageReader {
 public:
  MessageReader();
  ~MessageReader();
  void get(Reader& in, Message& message);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

void put_messages(Writer& out, std::span<const Message> messages);
void get_messages(Reader& in, std::vector<Message>& messages);

}  // namespace pclscope::packing
