// What a call that does not return may be waiting for.
#pragma once

#include <cstdint>

namespace pclscope::blocked {

enum class CallKind : std::uint8_t {
  other,        // not known, or it waits for nobody: its rank counts as able to go on
  polling,      // asks and returns at once; leaves an event only when it found something
  receive,      // Recv, Probe, Mprobe: a message from call_peer
  send,         // call_peer has to receive
  exchange,     // Sendrecv: both
  wait_all,     // every awaited request
  wait_any,     // one of them
  all_of_all,   // Barrier, Allreduce ...: every member has to come
  root_to_all,  // Bcast, Scatter: the root has to come
  all_to_root,  // Reduce, Gather: the root needs everybody
  some_of_all,  // other collectives: somebody who has not come yet
  creation,     // of a communicator: every member of its parent has to come
  finalize,
};

// By number in functions.def.
CallKind call_kind(std::uint16_t function);

constexpr bool is_collective(CallKind kind) {
  return kind == CallKind::all_of_all || kind == CallKind::root_to_all || kind == CallKind::all_to_root ||
         kind == CallKind::some_of_all;
}

}  // namespace pclscope::blocked
