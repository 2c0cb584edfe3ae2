#include "viewer/session/part_to_read.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/text/quantities.hpp"

namespace pclscope::session {
namespace {

std::int64_t to_ns(double seconds) {
  return static_cast<std::int64_t>(std::llround(std::clamp(seconds, -4e9, 4e9) * 1e9));
}

std::int64_t begin_of(const Window& w) { return to_ns(w.begin_s); }
std::int64_t end_of(const Window& w) { return to_ns(w.begin_s + w.length_s); }
double messages_in(const Window& w) { return static_cast<double>(w.all.messages); }

}  // namespace

PartToRead part_to_read(std::span<const Window> windows, double most, const TimeSpan& wanted) {
  double total = 0;
  for (const Window& w : windows) total += messages_in(w);
  if (windows.empty() || total <= most) return {};
  const auto reaches = [&](const Window& w) { return end_of(w) <= wanted.begin_ns; };
  auto first =
      static_cast<std::size_t>(std::partition_point(windows.begin(), windows.end(), reaches) - windows.begin());
  first = std::min(first, windows.size() - 1);
  std::size_t end = first + 1;
  double sum = messages_in(windows[first]);
  if (sum > most) {
    const std::int64_t begin = begin_of(windows[first]);
    const double length = static_cast<double>(end_of(windows[first]) - begin);
    return {{begin, begin + std::max<std::int64_t>(1, std::llround(length * most / sum))}, false};
  }
  const auto fits = [&](std::size_t i) { return sum + messages_in(windows[i]) <= most; };
  while (end < windows.size() && begin_of(windows[end]) < wanted.end_ns && wanted.end_ns != INT64_MAX && fits(end))
    sum += messages_in(windows[end++]);
  const bool wanted_fits =
      wanted.end_ns == INT64_MAX || end == windows.size() || begin_of(windows[end]) >= wanted.end_ns;
  bool before = wanted_fits, after = true;  // whether there is more to take
  while (before || after) {
    if (after && (after = end < windows.size() && fits(end))) sum += messages_in(windows[end++]);
    if (before && (before = first > 0 && fits(first - 1))) sum += messages_in(windows[--first]);
  }
  return {
      {first == 0 ? INT64_MIN : begin_of(windows[first]), end == windows.size() ? INT64_MAX : begin_of(windows[end])},
      false};
}

Result<PartToRead> part_to_read(Session& session, double most, const TimeSpan& wanted) {
  const auto windows = session.windows();
  if (!windows) return windows.error();
  return part_to_read(*windows, most, wanted);
}

std::string words_of_part(const char* what, std::uint64_t read, std::uint64_t stored, std::int64_t begin_ns,
                          std::int64_t end_ns) {
  return text::format_count(read) + " of " + text::format_count(stored) + " stored " + what + ", from " +
         text::format_moment(static_cast<double>(begin_ns) * 1e-9) + " to " +
         text::format_moment(static_cast<double>(end_ns) * 1e-9) + "; where another period is selected, that is read";
}

}  // namespace pclscope::session
