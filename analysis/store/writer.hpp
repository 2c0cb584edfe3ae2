// Writes a run to HDF5 (layout: FORMAT.md beside this file). One thread owns a Writer. Readable up to the last
// flush() whatever kills the process afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "analysis/match/message.hpp"
#include "analysis/result.hpp"
#include "analysis/snapshot.hpp"

namespace pclscope::store {

struct WriterOptions {
  std::uint64_t max_messages = 50'000'000;     // beyond: counted as not stored, summaries go on
  std::uint64_t max_window_rows = 50'000'000;  // rows of windows and of regions in windows: the same
  std::uint32_t rows_per_chunk = 8192;         // of messages; also how many are buffered
};

class Writer {
 public:
  // Creates `path`, mode 0600; an existing file is replaced only once the new one is complete enough to open.
  // Fails with not_permitted, not_found (no such directory), bad_argument (no regular file), in_use (another Writer
  // has it), no_space, io.
  static Result<std::unique_ptr<Writer>> create(const std::string& path, const WriterOptions& options);
  ~Writer();  // closes; errors are lost: call close() to see them

  // Appended rows; buffered until flush() or enough for a chunk. After the first error the writer is broken: every
  // later call returns the same error and does nothing, what was flushed before stays readable.
  Status append(std::span<const Message> messages);
  Status append(const Window& window);
  // Call sites. One that comes again with more known about it replaces the earlier one; ids are those in messages.
  Status append(std::span<const CallSite> sites);
  // Replaces the summary (application, totals, regions, ranks, criteria).
  Status summarize(const Snapshot& snapshot);
  Status flush();
  // Last flush; marks the file complete (`complete` attribute = 1). Nothing can be appended afterwards.
  Status close();

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pclscope::store
