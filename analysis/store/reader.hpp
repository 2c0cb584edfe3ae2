// Reads a dump (layout: FORMAT.md beside this file), also of version 1. Rows are unpacked a chunk (4096) at a time:
// read them many thousands at a time. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/mpi_call.hpp"
#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::store {

// Rows [first, first + count).
struct RowRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  bool operator==(const RowRange&) const = default;
};

class Reader {
 public:
  // Fails with not_found, not_permitted, not_ours, wrong_version, damaged.
  static Result<std::unique_ptr<Reader>> open(const std::string& path);
  ~Reader();

  bool closed() const;              // by its writer; false: the run was cut off or goes on, or rows are lost
  bool complete() const;            // closed, and no rank is missing (in files before version 2.4: as far as was known)
  const Snapshot& summary() const;  // the last summarize()
  std::uint64_t message_count() const;
  std::uint64_t messages_not_stored() const;  // beyond the writer's budget
  // Rows [first, first + count), clipped to what there is, in the order of appending.
  Result<std::vector<Message>> messages(std::uint64_t first, std::uint64_t count) const;
  // Ranges, ascending and disjoint, that hold every message of which a part (from send_begin to recv_end) lies in
  // [begin_ns, end_ns), and mostly little else: whole chunks. Of files before version 2.3: all rows.
  std::vector<RowRange> messages_within(std::int64_t begin_ns, std::int64_t end_ns) const;
  // The same of collective calls; none in files of version 1.
  std::uint64_t collective_count() const;
  std::uint64_t collectives_not_stored() const;
  Result<std::vector<CollectiveCall>> collectives(std::uint64_t first, std::uint64_t count) const;
  std::vector<RowRange> collectives_within(std::int64_t begin_ns, std::int64_t end_ns) const;
  // The same of MPI calls, which files before version 2.6 do not have.
  bool has_calls() const;
  std::uint64_t call_count() const;
  std::uint64_t calls_not_stored() const;
  std::uint64_t calls_shed() const;  // of them, for lack of time
  Result<std::vector<MpiCall>> calls(std::uint64_t first, std::uint64_t count) const;
  std::vector<RowRange> calls_within(std::int64_t begin_ns, std::int64_t end_ns) const;
  Result<std::vector<Window>> windows() const;

 private:
  struct State;
  explicit Reader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace pclscope::store
