// Writes a run to HDF5 (layout: FORMAT.md beside this file). One thread owns a Writer. Readable up to the last
// flush() whatever kills the process afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/mpi_call.hpp"
#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::store {

inline constexpr std::uint64_t smallest_budget_bytes = 3'000'000;

// Of messages and calls. A dump with chunks of this size begins as a copy of one that was made with pclscope
// (blank.hpp); for others the structure is made piece by piece.
inline constexpr std::uint32_t blank_rows_per_chunk = 4096;

struct WriterOptions {
  // The file never becomes larger, whatever is appended for however long; 0: as large as it gets. What is not stored is
  // counted. A disk with less room than that is as a smaller budget, for as long as others leave that room. An eighth
  // of it is for windows (merged 2:1, 4:1, ... as it fills), a quarter at most for collective calls, and one for MPI
  // calls.
  std::uint64_t budget_bytes = 2'000'000'000;
  std::uint32_t rows_per_chunk = blank_rows_per_chunk;  // fewer when the budget is small
  std::uint64_t compact_below_bytes =
      64 << 20;  // a file that is smaller when it is closed loses what has become unused
};

class Writer {
 public:
  // Creates `path`, mode 0600; an existing file is replaced only once the new one is complete enough to open.
  // Fails with not_permitted, not_found (no such directory), bad_argument (no regular file, budget too small), in_use
  // (another Writer has it), no_space, io.
  static Result<std::unique_ptr<Writer>> create(const std::string& path, const WriterOptions& options);
  ~Writer();  // closes; errors are lost: call close() to see them

  // Appended rows; buffered until flush() or enough for a chunk. After the first error the writer is broken: every
  // later call returns the same error and does nothing, what was flushed before stays readable.
  Status append(std::span<const Message> messages);
  Status append(std::span<const CollectiveCall> calls);
  Status append(std::span<const MpiCall> calls);
  Status append(const Window& window);
  // Call sites. One that comes again with more known about it replaces the earlier one; ids are those in messages.
  Status append(std::span<const CallSite> sites);
  // How many calls were not appended so far; `shed`, of them: for lack of time.
  Status leave_out_calls(std::uint64_t all, std::uint64_t shed);
  // Replaces the summary (application, totals, regions, ranks, criteria ...).
  Status summarize(const Snapshot& snapshot);
  Status flush();
  // Last flush; marks the file closed, and complete unless ranks are missing in the last summary. Nothing can be
  // appended afterwards.
  Status close();

  std::uint64_t file_bytes() const;  // size of the file after the next flush, as far as is known now
  std::uint64_t messages_not_stored() const;
  bool lacks_disk() const;  // something was not stored, and not for the budget's sake
  std::uint64_t collectives_not_stored() const;

  // The structure alone, as create() makes it with `blank_rows_per_chunk`, into a new file: for the build (blank.hpp).
  static Status make_blank(const std::string& path);

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pclscope::store
