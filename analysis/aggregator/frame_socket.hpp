// Frames between an anchor and its worker, over one stream socket. A frame is
//
//     u32 length of the payload in bytes | u16 kind | u16 0 | i32 node | payload
//
// in the byte order of the machine: both ends are the same program on the same node. End of file tells the worker
// that the launcher ended the job (the anchor's last act in a signal handler), and the anchor that the worker is dead.
//
// Nothing here waits: what does not go out at once stays in a queue, bounded only by memory. One thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace pclscope::aggregator {

enum class FrameKind : std::uint16_t {
  // anchor -> worker
  hello = 1,              // HelloFrame: first of all
  finished = 2,           // every process of the job is done, or all were asked to end: drain, exchange the rest, leave
  nothing_to_record = 3,  // the application never called MPI_Init, or refused
  epoch = 4,              // nodes::EpochWord, reduced
  died = 5,               // the aggregator of `node` is no more
  clock_news = 6,         // nodes::ClockUpdate
  lost = 7,               // the link to the other nodes is gone
  // both ways: to the worker `node` is the sender, to the anchor it is the receiver
  message = 8,
  // worker -> anchor
  end_epoch = 9,    // nodes::EpochWord
  clock = 10,       // ClockFrame
  done = 11,        // this worker ends no more epochs
  ask_finish = 12,  // please end all aggregators in order (attached jobs)
  found = 13,       // with one node: every rank's ring and its code have been looked at
};

struct HelloFrame {
  std::int32_t index;
  std::int32_t nodes;
  std::uint64_t origin_ticks;  // of this node's recorders' clock: its axis begins there (time_origin.hpp)
};

struct ClockFrame {
  std::uint32_t source;  // record::ClockSource
  std::uint32_t reserved;
  std::uint64_t origin_ticks;
  double ns_per_tick;
};

struct FrameHeader {
  std::uint32_t length;
  FrameKind kind;
  std::uint16_t reserved;
  std::int32_t node;
};
static_assert(sizeof(FrameHeader) == 12);

struct Frame {
  FrameKind kind = FrameKind::message;
  int node = -1;
  std::vector<std::byte> bytes;

  // The payload as a T; all zero when it has another size.
  template <class T>
  T as() const {
    T value{};
    if (bytes.size() == sizeof(T)) __builtin_memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
};

class FrameSocket {
 public:
  explicit FrameSocket(int descriptor);  // not owned; -1: closed from the start

  void queue(FrameKind kind, int node, std::vector<std::byte> payload);
  void queue(FrameKind kind, int node = -1) { queue(kind, node, {}); }
  template <class T>
  void queue_value(FrameKind kind, const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    queue(kind, -1, {bytes.begin(), bytes.end()});
  }
  // Sends what the socket takes. Returns true when something went out.
  bool flush();
  std::size_t unsent() const { return unsent_; }  // bytes in the queue

  // The next frame that is whole; false when there is none now. Reads at most what it needs.
  bool next(Frame& frame);
  bool closed() const { return closed_; }  // end of file or an error, and every whole frame was taken

  int descriptor() const { return descriptor_; }

 private:
  std::size_t receive(std::byte* into, std::size_t size);
  bool fetch(std::byte* into, std::size_t size, std::size_t& at);

  int descriptor_;
  std::deque<std::vector<std::byte>> out_;
  std::size_t out_at_ = 0;  // of the first block, sent already
  std::size_t unsent_ = 0;

  std::vector<std::byte> in_;
  std::size_t in_at_ = 0, in_end_ = 0;
  FrameHeader header_{};
  std::size_t header_at_ = 0;
  std::vector<std::byte> payload_;
  std::size_t payload_at_ = 0;
  bool closed_ = false;
};

}  // namespace pclscope::aggregator
