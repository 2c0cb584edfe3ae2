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
  fence,        // Win_fence: somebody who has not come yet
  free_window,  // Win_free: every member has to come
  make_window,  // Win_create ...: somebody who has not come yet
  start,        // Win_start, Win_complete: a target that has not posted
  complete,
  post,       // Win_post: waits for nobody
  wait_post,  // Win_wait: every origin that has not completed
  lock,       // Win_lock: who holds one that excludes it
  open_file,  // File_open: somebody who has not come yet
  finalize,
};

// By number in functions.def.
CallKind call_kind(std::uint16_t function);

// What a nonblocking collective waits for, by the function that posted it, or made it if persistent.
CallKind nonblocking_kind(std::uint16_t function);

constexpr bool is_collective(CallKind kind) {
  return kind == CallKind::all_of_all || kind == CallKind::root_to_all || kind == CallKind::all_to_root ||
         kind == CallKind::some_of_all;
}

}  // namespace pclscope::blocked
