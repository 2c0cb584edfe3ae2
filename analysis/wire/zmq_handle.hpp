// RAII over the parts of ZeroMQ's C API that the wire uses. Private to analysis/wire.
#pragma once

#include <zmq.h>

#include <cstdint>
#include <span>
#include <utility>

namespace pclscope::wire {

class ZmqContext {
 public:
  ZmqContext() : handle_(zmq_ctx_new()) {}
  ~ZmqContext() {
    if (handle_) zmq_ctx_term(handle_);  // waits for lingering sockets at most
  }
  ZmqContext(const ZmqContext&) = delete;
  ZmqContext& operator=(const ZmqContext&) = delete;
  void* get() const { return handle_; }

 private:
  void* handle_;
};

class ZmqMessage {
 public:
  ZmqMessage() { zmq_msg_init(&message_); }
  ~ZmqMessage() { zmq_msg_close(&message_); }
  ZmqMessage(const ZmqMessage&) = delete;
  ZmqMessage& operator=(const ZmqMessage&) = delete;
  zmq_msg_t* get() { return &message_; }
  std::span<const std::uint8_t> bytes() {
    return {static_cast<const std::uint8_t*>(zmq_msg_data(&message_)), zmq_msg_size(&message_)};
  }
  bool more() { return zmq_msg_more(&message_) != 0; }

 private:
  zmq_msg_t message_;
};

class ZmqSocket {
 public:
  ZmqSocket() = default;
  ZmqSocket(const ZmqContext& context, int type) : handle_(zmq_socket(context.get(), type)) {}
  ~ZmqSocket() { close(); }
  ZmqSocket(ZmqSocket&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  ZmqSocket& operator=(ZmqSocket&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  explicit operator bool() const { return handle_ != nullptr; }
  void* get() const { return handle_; }
  void close() {
    if (handle_) zmq_close(std::exchange(handle_, nullptr));
  }
  bool set(int option, int value) { return zmq_setsockopt(handle_, option, &value, sizeof value) == 0; }
  bool set(int option, std::int64_t value) { return zmq_setsockopt(handle_, option, &value, sizeof value) == 0; }
  bool set(int option, std::span<const std::uint8_t> value) {
    return zmq_setsockopt(handle_, option, value.data(), value.size()) == 0;
  }
  bool set(int option, const char* value, std::size_t size) {
    return zmq_setsockopt(handle_, option, value, size) == 0;
  }

  // None of these waits. False: nothing there, no room, or the socket is of no use any more.
  bool receive(ZmqMessage& into) { return zmq_msg_recv(into.get(), handle_, ZMQ_DONTWAIT) >= 0; }
  bool send(std::span<const std::uint8_t> bytes, int flags = 0) {
    return zmq_send(handle_, bytes.data(), bytes.size(), ZMQ_DONTWAIT | flags) >= 0;
  }
  // Sends without copying the content; `message` keeps it.
  bool send_shared(ZmqMessage& message, int flags = 0) {
    ZmqMessage copy;
    if (zmq_msg_copy(copy.get(), message.get()) != 0) return false;
    return zmq_msg_send(copy.get(), handle_, ZMQ_DONTWAIT | flags) >= 0;
  }
  // Takes note now of what peers have fetched. send() and receive() do so every millisecond at most, and count as full
  // until then a queue that was emptied long ago.
  void take_note() {
    int events = 0;
    std::size_t size = sizeof events;
    zmq_getsockopt(handle_, ZMQ_EVENTS, &events, &size);
  }
  // Throws away what is left of the message whose last received frame is `frame`.
  void skip_rest(ZmqMessage& frame) {
    while (frame.more() && receive(frame)) {}
  }

 private:
  void* handle_ = nullptr;
};

}  // namespace pclscope::wire
