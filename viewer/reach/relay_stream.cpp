#include "viewer/reach/relay_stream.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "analysis/wire/frame.hpp"

namespace pclscope::reach {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int level = 5;
constexpr int window_log = 23;                       // 8 MiB: a snapshot of thousands of ranks and the one before it
constexpr std::size_t most_before_greeting = 65536;  // that login shells say
constexpr std::size_t header_bytes = 9;              // part, bytes that follow, bytes unpacked

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool packed(Part part) { return part == Part::snapshot || part == Part::answer; }

Error damaged() { return {ErrorCode::damaged, "what the relay sends is damaged: is it of another version?"}; }

}  // namespace

void put_number(std::uint8_t* at, std::size_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<std::uint8_t>(value >> (8 * i));
}
std::uint32_t get_number(const std::uint8_t* at) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(at[i]) << (8 * i);
  return value;
}

std::string relay_greeting_line() {
  return std::string(relay_greeting) + " " + std::to_string(relay_version) + " " + std::to_string(wire::version_major);
}

std::chrono::milliseconds pause_after(std::uint64_t bytes) {
  constexpr std::uint64_t bytes_per_ms = 50;
  constexpr std::uint64_t longest_ms = 5000;
  return std::chrono::milliseconds(std::min(bytes / bytes_per_ms, longest_ms));
}

struct RelayWriter::Packer {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  std::vector<std::uint8_t> out;
  Packer() {
    if (context == nullptr) return;
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  }
  ~Packer() { ZSTD_freeCCtx(context); }
  Packer(const Packer&) = delete;

  // Empty: it failed.
  std::span<const std::uint8_t> pack(std::span<const std::uint8_t> bytes) {
    out.resize(ZSTD_compressBound(bytes.size()) + 64);
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    std::size_t left = 0;
    do {
      left = ZSTD_compressStream2(context, &to, &in, ZSTD_e_flush);
      if (ZSTD_isError(left)) return {};
      if (left > 0 && to.pos == to.size) {
        out.resize(out.size() * 2);
        to = {out.data(), out.size(), to.pos};
      }
    } while (left > 0);
    return {out.data(), to.pos};
  }
};

RelayWriter::RelayWriter(int fd) : fd_(fd), packer_(std::make_unique<Packer>()) {}
RelayWriter::~RelayWriter() = default;

bool RelayWriter::put(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    // A socket whose other side is gone must not end us; the relay's own output ignores SIGPIPE.
    ssize_t done = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (done < 0 && errno == ENOTSOCK) done = ::write(fd_, bytes.data(), bytes.size());
    if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd ready{fd_, POLLOUT, 0};
      ::poll(&ready, 1, 1000);
      continue;
    }
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    written_ += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return true;
}

bool RelayWriter::write(Part part, std::span<const std::uint8_t> bytes) {
  const std::size_t size = bytes.size();
  if (size > wire::limit::frame_bytes + wire::header_bytes) return true;  // no reader would take it
  if (packed(part) && size > 0) {
    bytes = packer_->pack(bytes);
    if (bytes.empty()) return false;
  }
  std::uint8_t header[header_bytes] = {static_cast<std::uint8_t>(part)};
  put_number(header + 1, bytes.size());
  put_number(header + 5, size);
  return put(header) && put(bytes);
}

bool RelayWriter::write_line(const std::string& line) {
  const std::string text = line + "\n";
  return put({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

struct RelayReader::Unpacker {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  Unpacker() {
    if (context != nullptr) ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, window_log);
  }
  ~Unpacker() { ZSTD_freeDCtx(context); }
  Unpacker(const Unpacker&) = delete;

  // Whether exactly `into` came out of all of `bytes`.
  bool unpack(std::span<const std::uint8_t> bytes, std::vector<std::uint8_t>& into) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    ZSTD_outBuffer to{into.data(), into.size(), 0};
    while (in.pos < in.size) {
      const std::size_t before = in.pos + to.pos;
      if (ZSTD_isError(ZSTD_decompressStream(context, &to, &in))) return false;
      if (in.pos + to.pos == before) return false;  // more than was announced
    }
    return to.pos == to.size;
  }
};

RelayReader::RelayReader(int fd) : fd_(fd), unpacker_(std::make_unique<Unpacker>()) {}
RelayReader::~RelayReader() = default;

Result<bool> RelayReader::more(Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{fd_, POLLIN, 0};
    const int found = ::poll(&ready, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000)));
    if (found == 0 && left <= 0) return false;
    if (found <= 0) continue;
    if (used_ > 0) {
      buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(used_));
      used_ = 0;
    }
    const std::size_t before = buffer_.size();
    buffer_.resize(before + 65536);
    const ssize_t got = ::read(fd_, buffer_.data() + before, 65536);
    buffer_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Error{ErrorCode::unreachable, "the relay has ended"};
    heard_ = Clock::now();
    read_ += static_cast<std::uint64_t>(got);
    return true;
  }
}

Result<std::optional<RelayMessage>> RelayReader::take() {
  const std::span<const std::uint8_t> all(buffer_.data() + used_, buffer_.size() - used_);
  if (all.size() < header_bytes) return std::optional<RelayMessage>();
  RelayMessage message;
  message.part = static_cast<Part>(all[0]);
  const std::size_t bytes = get_number(all.data() + 1), unpacked = get_number(all.data() + 5);
  constexpr std::size_t most = wire::limit::frame_bytes + wire::header_bytes;
  if (unpacked > most || bytes > ZSTD_compressBound(most) || (!packed(message.part) && bytes != unpacked))
    return damaged();
  if (all.size() - header_bytes < bytes) return std::optional<RelayMessage>();
  const auto content = all.subspan(header_bytes, bytes);
  used_ += header_bytes + bytes;
  if (!packed(message.part)) {
    message.bytes.assign(content.begin(), content.end());
  } else {
    message.bytes.resize(unpacked);
    if (!unpacker_->unpack(content, message.bytes)) return damaged();
  }
  return std::optional(std::move(message));
}

Result<std::optional<RelayMessage>> RelayReader::read(Clock::time_point deadline) {
  for (;;) {
    auto message = take();
    if (!message || *message) return message;
    const auto came = more(deadline);
    if (!came) return came.error();
    if (!*came) return std::optional<RelayMessage>();
  }
}

Status RelayReader::greet(Clock::time_point deadline) {
  const std::string ours = relay_greeting;
  for (std::size_t passed = 0;;) {
    const auto begin = buffer_.begin() + static_cast<std::ptrdiff_t>(used_);
    const auto end = std::find(begin, buffer_.end(), std::uint8_t{'\n'});
    if (end != buffer_.end()) {
      std::string line(begin, end);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      used_ += static_cast<std::size_t>(end - begin) + 1;
      passed += static_cast<std::size_t>(end - begin) + 1;
      // What a shell printed without a line end stands before it.
      if (const std::size_t at = line.rfind(ours + " "); at != std::string::npos) line.erase(0, at);
      if (line == relay_greeting_line()) return {};
      if (line.rfind(ours + " ", 0) == 0 && line.size() > ours.size() + 1 && is_digit(line[ours.size() + 1])) {
        return Error{ErrorCode::wrong_version, "the pclscope there is of another version (it says '" + line +
                                                   "', here '" + relay_greeting_line() +
                                                   "'): install the same on both"};
      }
    }
    // What lies behind a line may be what follows the greeting: only a line without an end counts as far as it came.
    const std::size_t unfinished = end != buffer_.end() ? 0 : buffer_.size() - used_;
    if (passed + unfinished > most_before_greeting)
      return Error{ErrorCode::not_ours, "what answers there is no pclscope relay"};
    if (end != buffer_.end()) continue;
    const auto came = more(deadline);
    if (!came) return came.error();
    if (!*came) return Error{ErrorCode::unreachable, "no answer in time"};
  }
}

}  // namespace pclscope::reach
