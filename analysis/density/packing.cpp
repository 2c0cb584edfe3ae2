#include "analysis/density/packing.hpp"

#include <algorithm>
#include <bit>

namespace pclscope::density {
namespace {

constexpr std::uint8_t layout = 1;
constexpr std::uint64_t bins_per_slice = 512;  // places: more than there are bins

struct Counter {
  std::size_t bytes = 0;
  void byte(std::uint8_t) { ++bytes; }
  void number(std::uint64_t v) { bytes += (static_cast<std::size_t>(std::bit_width(v | 1)) + 6) / 7; }
};

struct Writer {
  std::vector<std::uint8_t> bytes;
  void byte(std::uint8_t b) { bytes.push_back(b); }
  void number(std::uint64_t v) {  // LEB128
    for (; v >= 128; v >>= 7) bytes.push_back(static_cast<std::uint8_t>(v | 128));
    bytes.push_back(static_cast<std::uint8_t>(v));
  }
};

struct Reader {
  std::span<const std::uint8_t> bytes;
  std::size_t at = 0;
  bool good = true;
  std::uint8_t byte() {
    if (at == bytes.size()) return good = false, std::uint8_t{0};
    return bytes[at++];
  }
  std::uint64_t number(std::uint64_t most) {
    std::uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t b = byte();
      v |= static_cast<std::uint64_t>(b & 127) << shift;
      if (shift == 63 && b > 1) good = false;
      if (b < 128) break;
    }
    if (v > most) good = false;
    return good ? v : 0;
  }
  // Entries of at least two bytes.
  std::size_t count() { return static_cast<std::size_t>(number((bytes.size() - at) / 2)); }
};

// Runs of entries that `same` puts together.
template <class Entry, class Same>
std::size_t run(const std::vector<Entry>& entries, std::size_t first, Same&& same) {
  std::size_t end = first + 1;
  while (end < entries.size() && same(entries[first], entries[end])) ++end;
  return end;
}

template <class To>
void put(To& to, const CallDensity& d) {
  for (const std::uint8_t b : {layout, d.inside_shift, d.calls_shift, d.bins_per_octave}) to.byte(b);
  for (std::size_t first = 0; first < d.inside.size();) {
    const std::size_t end = run(
        d.inside, first, [](const auto& a, const auto& b) { return a.region == b.region && a.function == b.function; });
    to.number(end - first);
    to.number(static_cast<std::uint64_t>(static_cast<std::int64_t>(d.inside[first].region) + 1));
    to.number(d.inside[first].function);
    std::uint64_t next = 0;
    for (; first < end; ++first) {
      to.number(d.inside[first].slice - next);
      to.number(d.inside[first].ns);
      next = std::uint64_t{d.inside[first].slice} + 1;
    }
  }
  to.number(0);
  for (std::size_t first = 0; first < d.calls.size();) {
    const std::size_t end = run(d.calls, first, [](const auto& a, const auto& b) { return a.function == b.function; });
    to.number(end - first);
    to.number(d.calls[first].function);
    std::uint64_t next = 0;
    for (; first < end; ++first) {
      const CallDensity::Calls& c = d.calls[first];
      const std::uint64_t place = c.slice * bins_per_slice + c.bin;
      to.number(place - next);
      to.number(c.starts);
      to.number(c.ends);
      next = place + 1;
    }
  }
  to.number(0);
}

void get_inside(Reader& in, CallDensity& d) {
  while (const std::size_t count = in.count()) {
    CallDensity::Inside i;
    i.region = static_cast<std::int32_t>(static_cast<std::int64_t>(in.number(std::uint64_t{1} << 31)) - 1);
    i.function = static_cast<std::uint16_t>(in.number(0xffff));
    std::uint64_t next = 0;
    for (std::size_t k = 0; k < count && in.good; ++k) {
      next += in.number(UINT32_MAX);
      if (next > UINT32_MAX) in.good = false;
      i.slice = static_cast<std::uint32_t>(next++);
      i.ns = in.number(UINT64_MAX);
      if (!in.good || i.ns == 0 || (!d.inside.empty() && d.inside.back().place() >= i.place()))
        return void(in.good = false);
      d.inside.push_back(i);
    }
  }
}

void get_calls(Reader& in, CallDensity& d) {
  while (const std::size_t count = in.count()) {
    CallDensity::Calls c;
    c.function = static_cast<std::uint16_t>(in.number(0xffff));
    std::uint64_t next = 0;
    for (std::size_t k = 0; k < count && in.good; ++k) {
      next += in.number(UINT32_MAX * bins_per_slice + bins_per_slice - 1);
      if (next / bins_per_slice > UINT32_MAX) in.good = false;
      c.slice = static_cast<std::uint32_t>(next / bins_per_slice);
      c.bin = static_cast<std::uint16_t>(next++ % bins_per_slice);
      c.starts = in.number(UINT64_MAX);
      c.ends = in.number(UINT64_MAX);
      if (!in.good || (c.starts == 0 && c.ends == 0) || (!d.calls.empty() && d.calls.back().place() >= c.place()))
        return void(in.good = false);
      d.calls.push_back(c);
    }
  }
}

}  // namespace

std::vector<std::uint8_t> pack(const CallDensity& density) {
  Writer to;
  if (density.empty()) return {};
  put(to, density);
  return std::move(to.bytes);
}

std::size_t packed_bytes(const CallDensity& density) {
  Counter to;
  if (density.empty()) return 0;
  put(to, density);
  return to.bytes;
}

std::optional<CallDensity> unpack(std::span<const std::uint8_t> bytes) {
  CallDensity d;
  if (bytes.empty()) return d;
  Reader in{bytes};
  in.good = in.byte() == layout;
  d.inside_shift = in.byte();
  d.calls_shift = in.byte();
  d.bins_per_octave = in.byte();
  const std::uint8_t bpo = d.bins_per_octave;
  if (d.inside_shift > 62 || d.calls_shift > 62 || (bpo != 1 && bpo != 2 && bpo != 4 && bpo != 8)) return std::nullopt;
  if (in.good) get_inside(in, d);
  if (in.good) get_calls(in, d);
  if (!in.good || in.at != bytes.size()) return std::nullopt;
  return d;
}

}  // namespace pclscope::density
