#include "viewer/export/stored_rows.hpp"

#include <cmath>
#include <tuple>

#include "viewer/export/progress.hpp"

namespace pclscope::exporting {
namespace {

constexpr std::uint64_t batch_rows = 1u << 16;
constexpr std::size_t most_early_posts = 500'000;  // of receives, that are remembered
constexpr std::int64_t soon_ns = 1'000'000;        // a send after its receive was posted
constexpr std::int64_t narrowest_ns = 1'000;       // of slices: what happens in it is taken as it is
constexpr std::int64_t longest_ns = std::int64_t{4'000'000'000'000'000'000};  // moments beyond are not looked at singly

// Calls `take` with the rows of these ranges; it returns false to stop.
template <class Read, class Take>
Status read_ranges(const std::vector<store::RowRange>& ranges, Read&& read, Take&& take) {
  for (const store::RowRange& range : ranges)
    for (std::uint64_t done = 0; done < range.count; done += batch_rows) {
      const auto rows = read(range.first + done, std::min(batch_rows, range.count - done));
      if (!rows) return rows.error();
      if (!take(*rows)) return {};
    }
  return {};
}

bool posted_later(const Message& a, const Message& b) { return a.recv_post > b.recv_post; }
std::int64_t lead(const Message& m) { return m.send_begin - m.recv_post; }

// Messages whose receive was posted long before they were sent, which a search by time does not find there.
class EarlyPosts {
 public:
  void add(const Message& m) {
    if (lead(m) <= soon_ns || (posts_.size() == most_early_posts && lead(m) <= lead(posts_.front()))) return;
    if (posts_.size() == most_early_posts) {
      std::pop_heap(posts_.begin(), posts_.end(), longer);
      posts_.pop_back();
      full_ = true;
    }
    posts_.push_back(m);
    std::push_heap(posts_.begin(), posts_.end(), longer);
  }
  void settle() {
    margin_ = full_ ? lead(posts_.front()) : soon_ns;
    std::erase_if(posts_, [&](const Message& m) { return lead(m) <= margin_; });
    std::sort(posts_.begin(), posts_.end(), posted_later);
  }
  // Of all others the send begins so much after the post, at most.
  std::int64_t margin_ns() const { return margin_; }
  // Those posted before the slice's end and sent after it.
  void put_into(Slice& slice) const {
    for (auto m = posts_.rbegin(); m != posts_.rend() && m->recv_post < slice.end_ns; ++m)
      if (m->send_begin >= slice.end_ns && slice.end_ns != INT64_MAX) slice.messages.push_back(*m);
  }
  void forget_sent_before(std::int64_t ns) {
    std::erase_if(posts_, [&](const Message& m) { return m.send_begin < ns; });
  }

 private:
  static bool longer(const Message& a, const Message& b) { return lead(a) > lead(b); }
  std::vector<Message> posts_;  // a heap, the shortest on top; settled: the first posted last
  std::int64_t margin_ = soon_ns;
  bool full_ = false;
};

// Of one dump.
class Slices {
 public:
  Slices(const store::Reader& reader, const Choice& choice, unsigned needed, std::uint64_t at_once)
      : reader_(reader), choice_(choice), needed_(needed), most_(4 * at_once) {}

  // False: there are more than fit.
  Result<bool> fill(Slice& slice, const EarlyPosts& early, bool whatever) const;

 private:
  template <class Row>
  bool take(std::vector<Row>& rows, const std::vector<Row>& batch, bool whatever, auto&& inside) const {
    for (const Row& row : batch)
      if (choice_.has(row) && inside(row)) rows.push_back(row);
    return whatever || rows.size() <= most_;
  }

  const store::Reader& reader_;
  const Choice& choice_;
  unsigned needed_;
  std::uint64_t most_;
};

Result<bool> Slices::fill(Slice& slice, const EarlyPosts& early, bool whatever) const {
  const std::int64_t begin = slice.begin_ns, end = slice.end_ns;
  slice.calls.clear(), slice.messages.clear(), slice.collectives.clear();
  bool fits = true;
  const auto lies_in = [&](std::int64_t from, std::int64_t to) {
    return to >= begin && (from < end || end == INT64_MAX);
  };
  if (needed_ & needs::calls) {
    const Status read = read_ranges(
        reader_.calls_within(begin, end), [&](std::uint64_t f, std::uint64_t n) { return reader_.calls(f, n); },
        [&](const auto& batch) {
          return fits = take(slice.calls, batch, whatever, [&](const MpiCall& c) { return lies_in(c.begin, c.end); });
        });
    if (!read) return read.error();
  }
  if (fits && needed_ & needs::messages) {
    const std::int64_t margin = early.margin_ns(), until = end > INT64_MAX - margin ? INT64_MAX : end + margin;
    const Status read = read_ranges(
        reader_.messages_within(begin, until), [&](std::uint64_t f, std::uint64_t n) { return reader_.messages(f, n); },
        [&](const auto& batch) {
          return fits = take(slice.messages, batch, whatever, [&](const Message& m) {
                   if (m.send_begin >= end && end != INT64_MAX && lead(m) > margin) return false;  // `early` has it
                   return lies_in(std::min(m.send_begin, m.recv_post), std::max(m.send_begin, m.recv_end));
                 });
        });
    if (!read) return read.error();
    early.put_into(slice);
  }
  if (fits && needed_ & needs::collectives) {
    const Status read = read_ranges(
        reader_.collectives_within(begin, end),
        [&](std::uint64_t f, std::uint64_t n) { return reader_.collectives(f, n); },
        [&](const auto& batch) {
          return fits = take(slice.collectives, batch, whatever,
                             [&](const CollectiveCall& c) { return lies_in(c.begin, c.end); });
        });
    if (!read) return read.error();
  }
  if (!fits) return false;
  std::stable_sort(slice.calls.begin(), slice.calls.end(), [](const MpiCall& a, const MpiCall& b) {
    return std::tie(a.rank, a.thread, a.begin, a.end) < std::tie(b.rank, b.thread, b.begin, b.end);
  });
  std::stable_sort(slice.messages.begin(), slice.messages.end(),
                   [](const Message& a, const Message& b) { return a.send_begin < b.send_begin; });
  std::stable_sort(slice.collectives.begin(), slice.collectives.end(),
                   [](const CollectiveCall& a, const CollectiveCall& b) {
                     return std::tie(a.rank, a.begin) < std::tie(b.rank, b.begin);
                   });
  return true;
}

std::uint64_t rows_in(const Slice& slice) {
  return slice.calls.size() + slice.messages.size() + slice.collectives.size();
}

std::uint64_t rows_of(const store::Reader& reader, unsigned needed) {
  return (needed & needs::calls ? reader.call_count() : 0) + (needed & needs::messages ? reader.message_count() : 0) +
         (needed & needs::collectives ? reader.collective_count() : 0);
}

std::int64_t duration_ns(const store::Reader& reader) {
  const double ns = reader.summary().duration_s * 1e9;
  return std::isfinite(ns) && ns > 1 ? static_cast<std::int64_t>(std::min(ns, 4e18)) : 1;
}

}  // namespace

Status visit_slices(const store::Reader& reader, const Choice& choice, unsigned needed, const Progress& progress,
                    const std::function<Status(const Slice&)>& visit, std::uint64_t at_once) {
  EarlyPosts early;
  if (needed & needs::messages) {
    const Status read = read_ranges(
        {{0, reader.message_count()}}, [&](std::uint64_t f, std::uint64_t n) { return reader.messages(f, n); },
        [&](const std::vector<Message>& batch) {
          for (const Message& m : batch)
            if (choice.has(m)) early.add(m);
          return progress(0);
        });
    if (!read) return read;
  }
  early.settle();
  const std::int64_t all_from = std::max<std::int64_t>(choice.from_ns, 0);
  const std::int64_t all_until = std::max(all_from + 1, std::min(choice.until_ns, duration_ns(reader)));
  const std::uint64_t pieces = 1 + rows_of(reader, needed) / std::max<std::uint64_t>(1, at_once);
  std::int64_t width = std::max<std::int64_t>(narrowest_ns, (all_until - all_from) / static_cast<std::int64_t>(pieces));
  const Slices slices(reader, choice, needed, at_once);
  Slice slice;
  slice.begin_ns = INT64_MIN;
  for (std::int64_t from = all_from;;) {
    if (!progress(static_cast<double>(from - all_from) / static_cast<double>(all_until - all_from))) return stopped();
    slice.end_ns = from >= all_until || all_until - from <= width ? INT64_MAX : from + width;
    auto filled = slices.fill(slice, early, false);
    if (filled && !*filled) {
      const std::int64_t narrower = std::min(width, all_until - from) / 2;
      if (narrower >= narrowest_ns) {
        width = narrower;
        continue;
      }
      filled = slices.fill(slice, early, true);
    }
    if (!filled) return filled.error();
    if (const Status visited = visit(slice); !visited) return visited;
    if (slice.end_ns == INT64_MAX) break;
    from = slice.begin_ns = slice.end_ns;
    early.forget_sent_before(from);
    if (rows_in(slice) < at_once / 2 && width < longest_ns / 2) width *= 2;
  }
  return progress(1) ? Status{} : stopped();
}

Status visit_rows(const store::Reader& reader, const Choice& choice, const Progress& progress,
                  const RowVisitor& visit) {
  const unsigned needed = (visit.message ? needs::messages : 0) | (visit.call ? needs::calls : 0) |
                          (visit.collective ? needs::collectives : 0);
  const double all = static_cast<double>(std::max<std::uint64_t>(1, rows_of(reader, needed)));
  std::uint64_t done = 0;
  bool on = true;
  const auto each = [&](const auto& tell) {
    return [&](const auto& batch) {
      for (const auto& row : batch)
        if (choice.has(row)) tell(row);
      done += batch.size();
      return on = progress(static_cast<double>(done) / all);
    };
  };
  Status read;
  if (visit.message)
    read = read_ranges(
        {{0, reader.message_count()}}, [&](std::uint64_t f, std::uint64_t n) { return reader.messages(f, n); },
        each(visit.message));
  if (read && on && visit.call)
    read = read_ranges(
        {{0, reader.call_count()}}, [&](std::uint64_t f, std::uint64_t n) { return reader.calls(f, n); },
        each(visit.call));
  if (read && on && visit.collective)
    read = read_ranges(
        {{0, reader.collective_count()}}, [&](std::uint64_t f, std::uint64_t n) { return reader.collectives(f, n); },
        each(visit.collective));
  if (!read) return read;
  return on ? Status{} : stopped();
}

}  // namespace pclscope::exporting
