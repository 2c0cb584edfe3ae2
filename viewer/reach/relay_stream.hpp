// Frames over a pair of byte streams: what `pclscope relay` says on its standard output and hears on its standard
// input. A viewer elsewhere starts it by ssh or srun. Layout: analysis/wire/FORMAT.md, "The relay".
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/values/result.hpp"

namespace pclscope::reach {

inline constexpr char relay_greeting[] = "pclscope-relay";  // then its version, the wire's major version, a line end
inline constexpr int relay_version = 1;
std::string relay_greeting_line();
inline constexpr std::size_t count_bytes = 4;  // of a number, little-endian
void put_number(std::uint8_t* at, std::size_t value);
std::uint32_t get_number(const std::uint8_t* at);

enum class Part : std::uint8_t {
  question = 'Q',   // viewer to relay: a frame
  interval = 'I',   // viewer to relay: milliseconds between snapshots, 4 bytes
  sign = 'L',       // both: of life, empty, every `sign_every`
  snapshot = 'S',   // relay to viewer: a frame, packed
  answer = 'A',     // its frames, packed: bytes of the first (4, little-endian), the first, the second if there is one
  job = 'J',        // of which job and node, as text: NAME, line end, NODE
  complaint = 'E',  // one line: the relay cannot go on, and ends
};
inline constexpr std::chrono::seconds sign_every{2};
inline constexpr std::chrono::seconds longest_silence{15};  // then the other side counts as gone

// Lines to a desk are thin: after a snapshot of so many bytes, as packed, the next one waits until that makes 50 kB/s
// on average, 5 s at most.
std::chrono::milliseconds pause_after(std::uint64_t bytes);

struct RelayMessage {
  Part part = Part::sign;
  std::vector<std::uint8_t> bytes;  // unpacked
};

// One direction. Packed parts are compressed with what went before them, as snapshots are much alike. One thread.
class RelayWriter {
 public:
  explicit RelayWriter(int fd);  // which stays the caller's
  ~RelayWriter();
  RelayWriter(const RelayWriter&) = delete;
  // Waits until the other side has taken it. False: it is gone.
  bool write(Part part, std::span<const std::uint8_t> bytes);
  bool write_line(const std::string& line);
  std::uint64_t bytes_written() const { return written_; }

 private:
  bool put(std::span<const std::uint8_t> bytes);
  struct Packer;
  int fd_;
  std::unique_ptr<Packer> packer_;
  std::uint64_t written_ = 0;
};

class RelayReader {
 public:
  explicit RelayReader(int fd);  // which stays the caller's
  ~RelayReader();
  RelayReader(const RelayReader&) = delete;
  // The next message; nothing: none is whole by `deadline`. Fails with unreachable (the stream has ended), damaged.
  Result<std::optional<RelayMessage>> read(std::chrono::steady_clock::time_point deadline);
  // The greeting, whatever a login shell said before it. Fails with unreachable (it ended, or nothing came in time),
  // wrong_version, not_ours (much that is no greeting).
  Status greet(std::chrono::steady_clock::time_point deadline);
  // When something came last.
  std::chrono::steady_clock::time_point heard() const { return heard_; }
  std::uint64_t bytes_read() const { return read_; }

 private:
  // False at the deadline.
  Result<bool> more(std::chrono::steady_clock::time_point deadline);
  Result<std::optional<RelayMessage>> take();
  struct Unpacker;
  int fd_;
  std::unique_ptr<Unpacker> unpacker_;
  std::vector<std::uint8_t> buffer_;
  std::size_t used_ = 0;  // of the buffer, taken already
  std::chrono::steady_clock::time_point heard_ = std::chrono::steady_clock::now();
  std::uint64_t read_ = 0;
};

}  // namespace pclscope::reach
