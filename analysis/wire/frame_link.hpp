// What a viewer hears and says, as frames: over ZeroMQ's sockets (socket_link.hpp), or another way that brings the same
// frames. One thread owns a link.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "analysis/values/result.hpp"

namespace pclscope::wire {

struct Frame {
  std::shared_ptr<const void> owner;  // of the bytes; none: no frame
  std::span<const std::uint8_t> bytes;
  explicit operator bool() const { return owner != nullptr; }
};
struct AnswerFrames {
  Frame head, body;  // a body, if one came with it
};

class FrameLink {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  virtual ~FrameLink() = default;
  // Gives a question to the other side. Fails with unreachable (nobody took it in time), not_permitted.
  virtual Status ask(std::span<const std::uint8_t> question, Deadline deadline) = 0;
  // The next answer, to whatever question; nothing: none came in time. Fails with unreachable, not_permitted, damaged.
  virtual Result<std::optional<AnswerFrames>> answer(Deadline deadline) = 0;
  // The newest snapshot that has come and was not fetched. Fails as above.
  virtual Result<std::optional<Frame>> snapshot(Deadline deadline) = 0;
  // False once it is certain that nothing will come any more.
  virtual bool open() const { return true; }
  // Whether snapshots come at a pace of the other side's: then none is asked for because none has come for a while.
  virtual bool paced() const { return false; }
  // What to say when nobody answered for `waited`.
  virtual Error nobody(std::chrono::milliseconds waited) const = 0;
};

}  // namespace pclscope::wire
