#include "analysis/aggregator/frame_socket.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pclscope::aggregator {
namespace {

constexpr std::size_t read_ahead = 64 * 1024;  // bytes; larger payloads are read in place
constexpr std::size_t own_block = 16 * 1024;   // payloads from here on are not copied into a block with others
constexpr std::size_t block = 64 * 1024;

}  // namespace

FrameSocket::FrameSocket(int descriptor) : descriptor_(descriptor), in_(read_ahead), closed_(descriptor < 0) {
  if (descriptor_ < 0) return;
  const int size = 1 << 20;  // a wish; the kernel clips it
  ::setsockopt(descriptor_, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

void FrameSocket::queue(FrameKind kind, int node, std::vector<std::byte> payload) {
  if (closed_) return;
  const FrameHeader header{static_cast<std::uint32_t>(payload.size()), kind, 0, node};
  const auto head = std::as_bytes(std::span(&header, 1));
  unsent_ += head.size() + payload.size();
  const bool apart = payload.size() >= own_block;
  const std::size_t more = head.size() + (apart ? 0 : payload.size());
  if (out_.empty() || out_.back().size() + more > block) out_.emplace_back();
  auto& tail = out_.back();
  tail.insert(tail.end(), head.begin(), head.end());
  if (apart) out_.push_back(std::move(payload));
  else tail.insert(tail.end(), payload.begin(), payload.end());
}

bool FrameSocket::flush() {
  bool any = false;
  while (!out_.empty() && !closed_) {
    iovec parts[16];
    msghdr message{};
    std::size_t count = 0, offset = out_at_;
    for (auto& bytes : out_) {
      if (count == 16) break;
      parts[count++] = {bytes.data() + offset, bytes.size() - offset};
      offset = 0;
    }
    message.msg_iov = parts;
    message.msg_iovlen = count;
    const ssize_t sent = ::sendmsg(descriptor_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (sent < 0) {  // the peer is gone; what it said before can still be read
      out_.clear();
      out_at_ = unsent_ = 0;
      return any;
    }
    any = true;
    unsent_ -= static_cast<std::size_t>(sent);
    out_at_ += static_cast<std::size_t>(sent);
    while (!out_.empty() && out_at_ >= out_.front().size()) {
      out_at_ -= out_.front().size();
      out_.pop_front();
    }
  }
  return any;
}

// Bytes read; 0: none now, or the end.
std::size_t FrameSocket::receive(std::byte* into, std::size_t size) {
  while (!closed_) {
    const ssize_t got = ::recv(descriptor_, into, size, MSG_DONTWAIT);
    if (got > 0) return static_cast<std::size_t>(got);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    closed_ = true;
  }
  return 0;
}

// Completes `into`, of which `at` bytes are there. False: not all has come yet.
bool FrameSocket::fetch(std::byte* into, std::size_t size, std::size_t& at) {
  while (at < size) {
    if (const std::size_t ready = std::min(size - at, in_end_ - in_at_); ready > 0) {
      std::memcpy(into + at, in_.data() + in_at_, ready);
      in_at_ += ready;
      at += ready;
      continue;
    }
    const bool in_place = size - at >= read_ahead;
    const std::size_t got = in_place ? receive(into + at, size - at) : receive(in_.data(), in_.size());
    if (got == 0) return false;
    if (in_place) {
      at += got;
    } else {
      in_at_ = 0;
      in_end_ = got;
    }
  }
  return true;
}

bool FrameSocket::next(Frame& frame) {
  if (header_at_ < sizeof header_) {
    if (!fetch(reinterpret_cast<std::byte*>(&header_), sizeof header_, header_at_)) return false;
    payload_.resize(header_.length);
    payload_at_ = 0;
  }
  if (!fetch(payload_.data(), payload_.size(), payload_at_)) return false;
  header_at_ = 0;
  frame.kind = header_.kind;
  frame.node = header_.node;
  frame.bytes = std::move(payload_);
  payload_ = {};
  return true;
}

}  // namespace pclscope::aggregator
