// Quantities as people type and read them: durations, bytes, counts, dates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pclscope::text {

// "100ms", "0.5s", "1s", "250us", "2min" -> nanoseconds. A number without a unit is refused: it would be a guess.
std::optional<std::int64_t> parse_duration_ns(std::string_view word);
// "500MB", "2GB", "1.5GiB", "800kB", "1000B" -> bytes; decimal and binary prefixes. A unit is required.
std::optional<std::uint64_t> parse_bytes(std::string_view word);

// A moment on the run's time axis: "12.5" and "12.5s" (seconds since its start), "300ms", "2min", and as
// format_moment() writes it: "12.5 s", "02:13", "1:02:13"; "-2s" is before its end.
std::optional<std::int64_t> parse_moment_ns(std::string_view word);

// Three significant digits with a unit: "41.2 us", "1.25 s", "3 min 20 s". Negative values keep their sign.
std::string format_seconds(double seconds);
// "512 B", "8.0 KiB", "1.2 GiB".
std::string format_bytes(double bytes);
// "1,234,567".
std::string format_count(std::uint64_t count);
// At most 6 columns: "12345", "1.23M", "45.6G".
std::string format_short_count(std::uint64_t count);
// "7fff1234", as addresses and identifiers are shown.
std::string format_hexadecimal(std::uint64_t value);
// "1.31", "41.2", "812"; "-" for what is not finite.
std::string format_ratio(double ratio);
// A share in [0, 1] as "34%"; "<1%" for what would round to a misleading 0%.
std::string format_share(double share);
// "2024-05-01T12:34:56.789Z".
std::string format_utc(std::int64_t realtime_ns);
// Its time of day alone: "12:34:56.789Z".
std::string format_time_of_day(std::int64_t realtime_ns);
// A moment since the start of a run, in few columns: "300 ms", "12.3 s", from 100 s on "02:13", "1:02:13"; "-" when not
// finite.
std::string format_moment(double seconds);
// A moment on an axis whose labels are `step` seconds apart: "2.005 s", as many digits as tell them apart, at most
// nine; whole seconds from 100 s on as above.
std::string format_tick(double seconds, double step);
// "4.1x": a ratio in a sentence.
std::string format_times(double ratio);

}  // namespace pclscope::text
