// The rows of a dump in order of time, a slice of the time axis after the other. However long the dump is, memory is
// that of a slice, and of what is under way at its edges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/store/reader.hpp"
#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/mpi_call.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::exporting {

// Rows that are exported: those that begin in [from, until) and concern one of the ranks. A message begins when its
// send does, and concerns its sender and its receiver.
struct Choice {
  std::int64_t from_ns = INT64_MIN, until_ns = INT64_MAX;
  std::vector<std::int32_t> ranks;  // ascending; empty: all
  bool has_time(std::int64_t ns) const { return ns >= from_ns && ns < until_ns; }
  bool has_rank(std::int32_t rank) const {
    return ranks.empty() || std::binary_search(ranks.begin(), ranks.end(), rank);
  }
  bool has(const Message& m) const { return has_time(m.send_begin) && (has_rank(m.source) || has_rank(m.destination)); }
  bool has(const MpiCall& c) const { return has_time(c.begin) && has_rank(c.rank); }
  bool has(const CollectiveCall& c) const { return has_time(c.begin) && has_rank(c.rank); }
};

namespace needs {
inline constexpr unsigned messages = 1u << 0;
inline constexpr unsigned calls = 1u << 1;
inline constexpr unsigned collectives = 1u << 2;
}  // namespace needs

// All chosen rows of which a part lies in [begin, end); what reaches across an edge is in both slices. Of everything
// that happens at one moment, `holds` is true in one slice exactly. Slices are disjoint, ascending, and leave nothing
// out: the first begins before all, the last ends after all.
struct Slice {
  std::int64_t begin_ns = INT64_MIN, end_ns = INT64_MAX;
  std::vector<MpiCall> calls;               // by rank, thread, begin
  std::vector<Message> messages;            // by send_begin; from there, or from recv_post, to recv_end
  std::vector<CollectiveCall> collectives;  // by rank, begin
  bool holds(std::int64_t ns) const { return ns >= begin_ns && (ns < end_ns || end_ns == INT64_MAX); }
};

// Called with the share that is done, in [0, 1], many times a second; false: stop.
using Progress = std::function<bool(double)>;

inline constexpr std::uint64_t rows_at_once = 100'000;  // in a slice, as far as that can be had

// `needed`: needs:: ORed; other rows stay away. Fails as Reader does, as `visit` does, and with bad_argument when
// `progress` says stop.
Status visit_slices(const store::Reader& reader, const Choice& choice, unsigned needed, const Progress& progress,
                    const std::function<Status(const Slice&)>& visit, std::uint64_t at_once = rows_at_once);

// The same rows in the order of storing, a batch at a time.
struct RowVisitor {
  std::function<void(const Message&)> message;
  std::function<void(const MpiCall&)> call;
  std::function<void(const CollectiveCall&)> collective;
};
Status visit_rows(const store::Reader& reader, const Choice& choice, const Progress& progress, const RowVisitor& visit);

}  // namespace pclscope::exporting
