// A format that `pclscope export` writes. All are listed in formats.def; docs/extending.md has how to add one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "analysis/store/reader.hpp"
#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"
#include "viewer/export/stored_rows.hpp"

namespace pclscope::exporting {

// What is exported. Lives as long as the Sink.
struct Run {
  std::string source;        // the dump, as it was named
  const Snapshot& snapshot;  // with the lines of call sites, as far as they can be found
  const store::Reader& reader;
  Choice choice;
  std::string lacking;  // why not all is there, in one line; empty: all is
};

// One export under way: rows come slice by slice, in order of time.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual Status add(const Slice& slice) = 0;
  // No more will come: all is on the disk when it returns. Fails with no_space, io.
  virtual Status finish() = 0;
  // What was written, for the last line: "12,345 events of 4 locations".
  virtual std::string wrote() const = 0;
};

struct FileFormat {
  const char* name;    // behind --to
  const char* help;    // one line: what it is, for whom
  const char* ending;  // of the default name: the dump's with this in place of its own
  bool folder;         // makes a folder, not a file
  unsigned needs;      // rows that it is given (needs::)
  // Begins to write at `path` (an empty file or folder), which is renamed when all is whole. `progress`: of what is
  // looked through before.
  Result<std::unique_ptr<Sink>> (*open)(const Run& run, const std::string& path, const Progress& progress);
};

std::span<const FileFormat* const> formats();
// nullptr: there is none.
const FileFormat* format_named(std::string_view name);

}  // namespace pclscope::exporting
