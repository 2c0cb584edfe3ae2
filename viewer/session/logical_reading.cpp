#include "viewer/session/logical_reading.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/logical/stream.hpp"
#include "analysis/values/wait_state.hpp"

namespace pclscope::session {
namespace {

constexpr std::uint64_t most_pieces = 400;       // of the run
constexpr std::size_t most_pending = 4'000'000;  // records that wait for a silent rank

// Operations in order of their first return: an operation goes to the stream at once.
class Operations {
 public:
  Status read(Session& session, const TimeSpan& part) {
    const Status status = session.collectives(part, [&](std::span<const CollectiveCall> batch) {
      for (const CollectiveCall& c : batch)
        if (group_of(c) == WaitGroup::collective) calls_.push_back(c);
      return true;
    });
    std::sort(calls_.begin(), calls_.end(), [](const CollectiveCall& a, const CollectiveCall& b) {
      return std::tie(a.comm, a.ordinal, a.rank, a.begin) < std::tie(b.comm, b.ordinal, b.rank, b.begin);
    });
    for (std::size_t i = 0; i < calls_.size();) {
      Operation of{calls_[i].end, i, i};
      for (; of.last < calls_.size() && same(calls_[of.last], calls_[i]); ++of.last)
        of.first_end = std::min(of.first_end, calls_[of.last].end);
      list_.push_back(of);
      i = of.last;
    }
    std::stable_sort(list_.begin(), list_.end(),
                     [](const Operation& a, const Operation& b) { return a.first_end < b.first_end; });
    return status;
  }
  void give_before(std::int64_t until, logical::Stream& stream) {
    for (; next_ < list_.size() && list_[next_].first_end < until; ++next_)
      stream.add(std::span(calls_).subspan(list_[next_].first, list_[next_].last - list_[next_].first));
  }

 private:
  struct Operation {
    std::int64_t first_end;
    std::size_t first, last;
  };
  static bool same(const CollectiveCall& a, const CollectiveCall& b) {
    return a.comm == b.comm && a.ordinal == b.ordinal;
  }
  std::vector<CollectiveCall> calls_;
  std::vector<Operation> list_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<std::uint32_t> same_lines(const std::vector<CallSite>& sites) {
  std::uint32_t most = 0;
  for (const CallSite& s : sites)
    if (s.id <= most_sites) most = std::max(most, s.id);
  std::vector<std::uint32_t> line(std::size_t{most} + 1);
  std::iota(line.begin(), line.end(), 0);
  using Key = std::tuple<std::string, std::string, std::uint32_t, std::uint16_t, std::uint32_t>;
  // A caller's own line may be found later than that of what it calls: until nothing changes, which depth bounds.
  for (bool changed = true; changed;) {
    changed = false;
    std::map<Key, std::uint32_t> first;
    for (const CallSite& s : sites) {
      if (s.line == 0 || s.id >= line.size()) continue;
      const std::uint32_t caller = s.caller < line.size() ? line[s.caller] : s.caller;
      const Key key{s.module, s.file, s.line, s.mpi_function, caller};
      const std::uint32_t same = std::min(first.try_emplace(key, s.id).first->second, line[s.id]);
      changed = changed || line[s.id] != same;
      line[s.id] = same;
    }
  }
  return line;
}

Status read_logical_time(Session& session, const Snapshot& snapshot, const TakePhases& take,
                         std::uint64_t messages_at_once, const TimeSpan& part) {
  logical::Stream stream(snapshot.application.ranks, most_pending);
  stream.same_lines(same_lines(snapshot.sites));
  Operations operations;
  if (const Status read = operations.read(session, part); !read) return read;
  const std::uint64_t count = session.message_count();
  const auto whole_ns = static_cast<std::int64_t>(std::clamp(snapshot.duration_s, 0.0, 4e9) * 1e9);
  const std::int64_t first_ns = std::clamp<std::int64_t>(part.begin_ns, 0, whole_ns),
                     last_ns = std::clamp(part.end_ns, first_ns, whole_ns);
  const double share = whole_ns > 0 ? static_cast<double>(last_ns - first_ns) / static_cast<double>(whole_ns) : 1;
  const auto pieces = static_cast<std::uint64_t>(
      std::clamp(share * static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(messages_at_once, 1)),
                 1.0, static_cast<double>(most_pieces)));
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    const bool last = piece + 1 == pieces;
    const auto edge = [&](std::uint64_t of) {
      return first_ns + static_cast<std::int64_t>(static_cast<double>(last_ns - first_ns) * static_cast<double>(of) /
                                                  static_cast<double>(pieces));
    };
    const TimeSpan span{piece == 0 ? part.begin_ns : edge(piece), last ? part.end_ns : edge(piece + 1)};
    const Status read = session.messages(span, [&](std::span<const Message> batch) {
      stream.add(batch);
      return true;
    });
    if (!read) return read;
    operations.give_before(span.end_ns, stream);
    const auto time = last ? stream.finish() : stream.advance(span.end_ns);
    if (!time) return time.error();
    if (!take(*time, span.end_ns, static_cast<double>(piece + 1) / static_cast<double>(pieces))) return {};
  }
  return {};
}

}  // namespace pclscope::session
