#include "viewer/text/quantities.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace pclscope::text {
namespace {

std::string print(const char* format, double value, const char* unit = "") {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return std::string(buffer.data()) + unit;
}

// Three significant digits, never an exponent, for values below 1000.
std::string three_digits(double value) {
  const double size = std::fabs(value);
  if (size >= 99.95) return print("%.0f", value);
  if (size >= 9.995) return print("%.1f", value);
  return print("%.2f", value);
}

}  // namespace

std::optional<std::int64_t> parse_duration_ns(std::string_view word) {
  double value = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), value, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
  const std::string_view unit(rest, static_cast<std::size_t>(word.data() + word.size() - rest));
  double scale = 0;
  if (unit == "ns") scale = 1;
  if (unit == "us") scale = 1e3;
  if (unit == "ms") scale = 1e6;
  if (unit == "s") scale = 1e9;
  if (unit == "min") scale = 60e9;
  if (scale == 0 || value * scale > 9e18) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(value * scale));
}

std::optional<std::uint64_t> parse_bytes(std::string_view word) {
  double value = 0;
  const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), value, std::chars_format::fixed);
  if (error != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
  const std::string_view unit(rest, static_cast<std::size_t>(word.data() + word.size() - rest));
  double scale = unit == "B" ? 1 : 0;
  double decimal = 1, binary = 1;
  for (const char prefix : {'k', 'M', 'G', 'T'}) {
    decimal *= 1000, binary *= 1024;
    const bool fits = !unit.empty() && (unit.front() == prefix || (prefix == 'k' && unit.front() == 'K'));
    if (fits && (unit.substr(1) == "B" || unit.size() == 1)) scale = decimal;
    if (fits && unit.substr(1) == "iB") scale = binary;
  }
  if (scale == 0 || value * scale > 1e19) return std::nullopt;
  return static_cast<std::uint64_t>(value * scale + 0.5);
}

namespace {

// "02:13", "1:02:13": as format_moment() writes what is longer.
std::optional<std::int64_t> parse_clock_ns(std::string_view word) {
  std::int64_t seconds = 0;
  for (int parts = 1;; ++parts) {
    const std::size_t colon = std::min(word.find(':'), word.size());
    const std::string_view digits = word.substr(0, colon);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool last = colon == word.size();
    if (error != std::errc() || end != digits.data() + digits.size() || digits.front() == '-' ||
        digits.size() > (parts == 1 ? 6 : 2) || (parts > 1 && (digits.size() != 2 || value > 59)) ||
        (last && parts == 1) || parts > 3)
      return std::nullopt;
    seconds = 60 * seconds + value;
    if (last) return seconds * 1'000'000'000;
    word.remove_prefix(colon + 1);
  }
}

}  // namespace

std::optional<std::int64_t> parse_moment_ns(std::string_view word) {
  const bool before_end = !word.empty() && word.front() == '-';
  if (before_end) word.remove_prefix(1);
  if (const auto ns = parse_clock_ns(word)) return before_end ? -*ns : *ns;
  // As moments are printed: "12.0 s".
  std::string joined(word);
  if (const auto blank = joined.find(' '); blank != std::string::npos && blank > 0) joined.erase(blank, 1);
  word = joined;
  auto ns = parse_duration_ns(word);
  if (!ns && !word.empty() && (word.back() == '.' || (word.back() >= '0' && word.back() <= '9'))) {
    ns = parse_duration_ns(std::string(word) + "s");
  }
  if (ns && before_end) ns = -*ns;
  return ns;
}

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  const double size = std::fabs(seconds);
  if (size == 0) return "0 s";
  if (size < 999.5e-9) return print("%.0f", seconds * 1e9, " ns");
  if (size < 999.5e-6) return three_digits(seconds * 1e6) + " us";
  if (size < 999.5e-3) return three_digits(seconds * 1e3) + " ms";
  if (size < 99.95) return three_digits(seconds) + " s";
  if (size >= 1e15) return print("%.3g", seconds, " s");  // no time: beyond what a whole number holds
  const auto whole = std::llround(size);
  const std::string sign = seconds < 0 ? "-" : "";
  if (whole < 3600) return sign + std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return sign + std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

std::string format_bytes(double bytes) {
  if (!std::isfinite(bytes)) return "-";
  if (bytes < 1024) return print("%.0f", bytes, " B");
  const char* const units[] = {" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
  int unit = -1;
  do {
    bytes /= 1024;
    ++unit;
  } while (bytes >= 1023.95 && unit < 5);
  return print(bytes < 99.95 ? "%.1f" : "%.0f", bytes, units[unit]);
}

std::string format_hexadecimal(std::uint64_t value) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%llx", static_cast<unsigned long long>(value));
  return digits;
}

std::string format_count(std::uint64_t count) {
  const std::string digits = std::to_string(count);
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

std::string format_short_count(std::uint64_t count) {
  if (count < 100'000) return std::to_string(count);
  const char* const units[] = {"k", "M", "G", "T", "P", "E"};
  double value = static_cast<double>(count) / 1000;
  int unit = 0;
  while (value >= 999.5 && unit < 5) {
    value /= 1000;
    ++unit;
  }
  return three_digits(value) + units[unit];
}

std::string format_ratio(double ratio) {
  if (!std::isfinite(ratio)) return "-";
  if (std::fabs(ratio) < 1e5) return three_digits(ratio);
  return print("%.1e", ratio);
}

std::string format_share(double share) {
  if (!std::isfinite(share)) return "-";
  if (share > 0 && share < 0.005) return "<1%";
  return print("%.0f", share * 100, "%");
}

std::string format_utc(std::int64_t realtime_ns) {
  std::int64_t seconds = realtime_ns / 1'000'000'000;
  std::int64_t rest = realtime_ns % 1'000'000'000;
  if (rest < 0) {
    rest += 1'000'000'000;
    --seconds;
  }
  const std::time_t time = seconds;
  std::tm fields{};
  if (gmtime_r(&time, &fields) == nullptr) return "";
  std::array<char, 80> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", fields.tm_year + 1900,
                fields.tm_mon + 1, fields.tm_mday, fields.tm_hour, fields.tm_min, fields.tm_sec,
                static_cast<int>(rest / 1'000'000));
  return buffer.data();
}

std::string format_time_of_day(std::int64_t realtime_ns) {
  const std::string utc = format_utc(realtime_ns);
  const std::size_t day_end = utc.find('T');
  return day_end == std::string::npos ? utc : utc.substr(day_end + 1);
}

std::string format_moment(double seconds) {
  if (!std::isfinite(seconds) || std::fabs(seconds) >= 1e9) return "-";
  if (std::fabs(seconds) < 0.9995) return format_seconds(seconds);
  if (std::fabs(seconds) < 99.95) return print("%.1f s", seconds);
  const auto whole = static_cast<long long>(std::fabs(seconds));
  std::array<char, 40> buffer{};
  if (whole < 3600) std::snprintf(buffer.data(), buffer.size(), "%02lld:%02lld", whole / 60, whole % 60);
  else std::snprintf(buffer.data(), buffer.size(), "%lld:%02lld:%02lld", whole / 3600, whole / 60 % 60, whole % 60);
  const std::string sign = seconds < 0 ? "-" : "";
  return sign + buffer.data();
}

std::string format_tick(double seconds, double step) {
  if (!(step < 1) || !std::isfinite(seconds)) return format_moment(seconds);
  char words[400];
  const int digits = std::clamp(static_cast<int>(std::ceil(-std::log10(std::max(step, 1e-9)) - 1e-6)), 1, 9);
  std::snprintf(words, sizeof words, "%.*f s", digits, seconds);
  return words;
}

std::string format_times(double ratio) {
  if (!std::isfinite(ratio)) return "-";
  if (std::fabs(ratio) < 99.95) return print("%.1fx", ratio);
  return print(std::fabs(ratio) < 1e5 ? "%.0fx" : "%.1ex", ratio);
}

}  // namespace pclscope::text
