// How much memory rings may take. What is free in /dev/shm is first of all the application's: its MPI's buffers and
// its shared windows lie there, and a rank that finds it full dies of SIGBUS.
#pragma once

#include <cstdint>

namespace pclscope {

// One thread at a time (recorder.cpp's lock), but for take_to_grow() and the notes: any thread.

// Bytes that this process may take more, for a ring of `session` (segment.hpp), without the room that others need.
// Of what was free in /dev/shm before the job began (of a session: when its first ring was made) the MPI has what it is
// known to need, and rings may have half of the rest, or, where there is another place for them (`plentiful`), a
// sixteenth: the application may want nearly all of it for windows. Each rank of the node has an equal share, so that
// one that starts later finds its own. 0 when the system does not tell.
std::uint64_t room_in_shm(std::uint32_t session, bool plentiful);
// The same for memory that no file system counts: a sixty-fourth of what the machine, or the process's control group,
// has in all.
std::uint64_t room_in_memory();

// What rings that are there may take more by growing is less: no more than a sixteenth of /dev/shm, and no more than a
// sixty-fourth of all memory for both kinds together. Asked for when a ring is made; returns how much is left of it.
std::uint64_t set_room_to_grow(std::uint32_t session, bool nameless);
// Takes part of it, false when it is used up, or when /dev/shm has become full. No allocation, no environment: in any
// MPI call.
bool take_to_grow(bool nameless, std::uint64_t bytes);

// Bytes taken or given back (negative).
void note_taken_in_shm(std::int64_t bytes);
void note_taken_in_memory(std::int64_t bytes);

}  // namespace pclscope
