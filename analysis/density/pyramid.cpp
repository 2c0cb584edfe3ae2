#include "analysis/density/pyramid.hpp"

#include <limits>
#include <map>

#include "analysis/density/coarser.hpp"

namespace pclscope::density {
namespace {

constexpr std::size_t pair_bytes = 2 * sizeof(std::uint64_t);
constexpr unsigned longest_part_shift = 52;  // of slices that are told in parts: all of them end before 2^63

}  // namespace

Pyramid::Pyramid(Limits limits) : limits_(limits), inside_shift_(limits.first_shift), calls_shift_(limits.first_shift) {
  index_.fill(unused);
  regions_.fill(-1);
  set_reach();
}

void Pyramid::set_reach() {
  reach_ns_ = std::uint64_t{limits_.most_slices} << std::min(inside_shift_, calls_shift_);
  if (row_bytes_ > limits_.budget_bytes) reach_ns_ = 0;  // the next call makes room
  one_slice_reach_ns_ = inside_shift_ == calls_shift_ ? reach_ns_ : 0;
}

std::uint16_t Pyramid::add_function(std::uint16_t number) {
  index_[number] = static_cast<std::uint16_t>(functions_.size());
  Function& f = functions_.emplace_back();
  f.number = number;
  f.rows = std::make_unique<Row[]>(limits_.most_slices);
  return index_[number];
}

// Whole octaves: neighbours come soon.
std::uint64_t* Pyramid::widen(Row& row, unsigned bin) {
  const unsigned octave = bin / bins_per_octave * bins_per_octave;
  const unsigned first = row.size == 0 ? octave : std::min<unsigned>(row.first, octave);
  const unsigned end = std::max<unsigned>(row.size == 0 ? 0 : row.first + row.size, octave + bins_per_octave);
  auto counts = std::make_unique<std::uint64_t[]>(std::size_t{2} * (end - first));
  std::copy_n(row.counts.get(), std::size_t{2} * row.size,
              counts.get() + std::size_t{2} * (row.size == 0 ? 0 : row.first - first));
  row_bytes_ += pair_bytes * (end - first - row.size);
  if (row_bytes_ > limits_.budget_bytes) set_reach();
  row.counts = std::move(counts);
  row.first = static_cast<std::uint16_t>(first);
  row.size = static_cast<std::uint16_t>(end - first);
  return &row.counts[std::size_t{2} * (bin - row.first)];
}

std::uint64_t* Pyramid::slices_of(Function& f, std::size_t region) {
  Slices& slices = f.inside[region];
  if (!slices) slices = std::make_unique<std::uint64_t[]>(limits_.most_slices);
  return slices.get();
}

void Pyramid::spread(Function& f, std::size_t region, std::int64_t begin, std::int64_t end) {
  begin = std::max<std::int64_t>(begin, 0);
  if (end <= begin) return;
  if (static_cast<std::uint64_t>(end) >= reach_ns_) reach(end);
  std::uint64_t* const slices = slices_of(f, region);
  const std::size_t last = slice(end - 1, inside_shift_);
  for (std::size_t s = slice(begin, inside_shift_); s <= last; ++s) {
    const auto from = static_cast<std::int64_t>(s << inside_shift_);
    const std::int64_t to = from + (std::int64_t{1} << inside_shift_);
    slices[s] += static_cast<std::uint64_t>(std::min(end, to) - std::max(begin, from));
  }
}

void Pyramid::reach(std::int64_t ns) {
  while (slice(ns, inside_shift_) >= limits_.most_slices) halve_inside();
  while (slice(ns, calls_shift_) >= limits_.most_slices) halve_calls();
  // One slice has at most 376 bins for each function: that is left alone.
  while (row_bytes_ > limits_.budget_bytes && calls_shift_ < 62) halve_calls();
  set_reach();
}

void Pyramid::halve_inside() {
  ++inside_shift_;
  set_reach();
  const std::size_t half = limits_.most_slices / 2;
  for (Function& f : functions_) {
    for (const Slices& slices : f.inside) {
      if (!slices) continue;
      for (std::size_t s = 0; s < half; ++s) slices[s] = slices[2 * s] + slices[2 * s + 1];
      std::fill_n(slices.get() + half, half, 0);
    }
  }
}

void Pyramid::halve_calls() {
  ++calls_shift_;
  set_reach();
  for (Function& f : functions_) {
    for (std::size_t s = 1; s < limits_.most_slices; ++s) {
      if (f.rows[s].size == 0) continue;
      Row from = std::move(f.rows[s]);
      f.rows[s] = {};
      Row& to = f.rows[s / 2];
      if (to.size == 0) {
        to = std::move(from);
        continue;
      }
      for (unsigned k = 0; k < from.size; ++k) {
        const std::uint64_t starts = from.counts[2 * k], ends = from.counts[2 * k + 1];
        if ((starts | ends) == 0) continue;
        std::uint64_t* const pair = counts(to, from.first + k);
        pair[0] += starts;
        pair[1] += ends;
      }
      row_bytes_ -= pair_bytes * from.size;
    }
  }
}

std::uint64_t Pyramid::time_in(std::size_t slot) const {
  std::uint64_t sum = 0;
  for (const Function& f : functions_)
    for (std::size_t s = 0; f.inside[slot] && s < limits_.most_slices; ++s) sum += f.inside[slot][s];
  return sum;
}

void Pyramid::give_up(std::size_t slot) {
  for (Function& f : functions_) {
    if (!f.inside[slot]) continue;
    std::uint64_t* const rest = slices_of(f, no_region);
    for (std::size_t s = 0; s < limits_.most_slices; ++s) rest[s] += f.inside[slot][s];
    f.inside[slot] = {};
  }
  regions_[slot] = -1;
}

// One that is free, or with `by_force` that of the region with the least time that is no more.
std::size_t Pyramid::slot_of_region(std::int32_t id, bool by_force) {
  if (id < 0) return no_region;
  const auto known = std::find(regions_.begin(), regions_.end(), id);
  if (known != regions_.end()) return static_cast<std::size_t>(known - regions_.begin());
  auto place = std::find(regions_.begin(), regions_.end(), -1);
  if (place == regions_.end() && by_force) {
    std::size_t least = no_region;
    for (std::size_t slot = 0; slot < most_regions; ++slot)
      if (!standing_[slot] && (least == no_region || time_in(slot) < time_in(least))) least = slot;
    if (least == no_region) return no_region;
    give_up(least);
    place = regions_.begin() + static_cast<std::ptrdiff_t>(least);
  }
  if (place == regions_.end()) return no_region;
  *place = id;
  return static_cast<std::size_t>(place - regions_.begin());
}

void Pyramid::set_regions(std::span<const std::int32_t> region_of_rank) {
  std::map<std::int32_t, std::size_t> sizes;
  for (const std::int32_t id : region_of_rank)
    if (id >= 0) ++sizes[id];
  std::vector<std::pair<std::size_t, std::int32_t>> largest;
  for (const auto& [id, size] : sizes) largest.emplace_back(size, id);
  std::stable_sort(largest.begin(), largest.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (largest.size() > most_regions) largest.resize(most_regions);
  for (std::size_t slot = 0; slot < most_regions; ++slot)
    standing_[slot] =
        std::any_of(largest.begin(), largest.end(), [&](const auto& l) { return l.second == regions_[slot]; });
  std::map<std::int32_t, std::uint8_t> slots;
  for (const auto& [size, id] : largest) {
    const std::size_t slot = slot_of_region(id, true);
    if (slot != no_region) standing_[slot] = true;
    slots[id] = static_cast<std::uint8_t>(slot);
  }
  slot_of_rank_.assign(region_of_rank.size(), static_cast<std::uint8_t>(no_region));
  for (std::size_t r = 0; r < region_of_rank.size(); ++r)
    if (const auto at = slots.find(region_of_rank[r]); at != slots.end()) slot_of_rank_[r] = at->second;
}

void Pyramid::add(const CallDensity& more) {
  while (inside_shift_ < more.inside_shift && inside_shift_ < 62) halve_inside();
  while (calls_shift_ < more.calls_shift && calls_shift_ < 62) halve_calls();
  const auto begin_of = [](std::uint32_t s, unsigned shift) {
    return shift < 62 && s <= INT64_MAX >> 1 >> shift ? static_cast<std::int64_t>(s) << shift : INT64_MAX >> 1;
  };
  for (const CallDensity::Inside& i : more.inside) {
    const std::int64_t begin = begin_of(i.slice, more.inside_shift);
    reach(begin);
    slices_of(functions_[place(i.function)], slot_of_region(i.region, true))[slice(begin, inside_shift_)] += i.ns;
  }
  for (const CallDensity::Calls& c : more.calls) {
    const std::int64_t begin = begin_of(c.slice, more.calls_shift);
    reach(begin);
    const std::uint16_t scale =
        more.bins_per_octave == 0 ? 1 : bins_per_octave / std::min<unsigned>(more.bins_per_octave, bins_per_octave);
    const unsigned bin = std::min<unsigned>(c.bin * scale, bins - 1);
    std::uint64_t* const pair = counts(functions_[place(c.function)].rows[slice(begin, calls_shift_)], bin);
    pair[0] += c.starts;
    pair[1] += c.ends;
  }
  reach(0);
}

CallDensity Pyramid::value() const { return value(Between{0, limits_.most_slices, 0, limits_.most_slices}); }

CallDensity Pyramid::value(const Between& slices) const {
  CallDensity out;
  out.inside_shift = static_cast<std::uint8_t>(inside_shift_);
  out.calls_shift = static_cast<std::uint8_t>(calls_shift_);
  std::vector<const Function*> by_number;
  for (const std::uint16_t index : index_)
    if (index != unused) by_number.push_back(&functions_[index]);
  std::vector<std::pair<std::int32_t, std::size_t>> by_region{{-1, no_region}};
  for (std::size_t slot = 0; slot < most_regions; ++slot)
    if (regions_[slot] >= 0) by_region.emplace_back(regions_[slot], slot);
  std::sort(by_region.begin(), by_region.end());
  for (const auto& [id, slot] : by_region)
    for (const Function* f : by_number)
      for (std::size_t s = slices.first_inside; f->inside[slot] && s < slices.last_inside; ++s)
        if (f->inside[slot][s] != 0)
          out.inside.push_back({id, f->number, static_cast<std::uint32_t>(s), f->inside[slot][s]});
  for (const Function* f : by_number) {
    for (std::size_t s = slices.first_calls; s < slices.last_calls; ++s) {
      const Row& row = f->rows[s];
      for (unsigned k = 0; k < row.size; ++k)
        if ((row.counts[2 * k] | row.counts[2 * k + 1]) != 0)
          out.calls.push_back({f->number, static_cast<std::uint32_t>(s), static_cast<std::uint16_t>(row.first + k),
                               row.counts[2 * k], row.counts[2 * k + 1]});
    }
  }
  return out;
}

// What is cut off at the ends is added nowhere.
void Pyramid::add_running(CallDensity& sum, std::span<const Running> running, std::int64_t begin_ns,
                          std::int64_t end_ns) const {
  if (running.empty()) return;
  Limits limits = limits_;
  limits.first_shift = inside_shift_;
  Pyramid more(limits);
  more.regions_ = regions_;
  more.slot_of_rank_ = slot_of_rank_;
  for (const Running& r : running)
    more.inside(more.place(r.function), r.rank, std::max(r.begin, begin_ns), std::min(r.now, end_ns));
  CallDensity extra = more.value();
  extra.calls_shift = sum.calls_shift;
  density::add(sum, std::move(extra));
}

CallDensity Pyramid::value(std::span<const Running> running) const {
  CallDensity sum = value();
  add_running(sum, running, 0, INT64_MAX);
  return sum;
}

Pyramid::Between Pyramid::between(std::int64_t begin_ns, std::int64_t end_ns) const {
  const auto at = [&](std::int64_t ns, unsigned shift) { return std::min(slice(ns, shift), limits_.most_slices); };
  return {at(begin_ns, inside_shift_), at(end_ns, inside_shift_), at(begin_ns, calls_shift_), at(end_ns, calls_shift_)};
}

std::size_t Pyramid::bytes(const Between& slices) const {
  std::size_t sum = 0;
  for (const Function& f : functions_) {
    for (const Slices& s : f.inside) sum += s ? (slices.last_inside - slices.first_inside) * sizeof(std::uint64_t) : 0;
    for (std::size_t s = slices.first_calls; s < slices.last_calls; ++s) sum += f.rows[s].size * pair_bytes;
  }
  return sum;
}

// Calls that go on may have come to where there is no slice yet: slices of time are as long as it takes then, of every
// part.
DensityPart Pyramid::part(const DensityQuestion& asked, std::span<const Running> running,
                          std::size_t most_bytes) const {
  unsigned inside = inside_shift_;
  for (const Running& r : running)
    while (inside < longest_part_shift && slice(std::max<std::int64_t>(r.now, 1) - 1, inside) >= limits_.most_slices)
      ++inside;
  const unsigned shift = std::max(inside, calls_shift_);
  const std::int64_t length = std::int64_t{1} << shift;
  const std::int64_t reach = shift <= longest_part_shift ? static_cast<std::int64_t>(limits_.most_slices) << shift
                                                         : std::numeric_limits<std::int64_t>::max() / length * length;
  DensityPart part;
  part.begin_ns = std::clamp<std::int64_t>(asked.from_ns, 0, reach - 1) / length * length;
  const std::int64_t to = std::clamp<std::int64_t>(asked.to_ns, part.begin_ns + 1, reach);
  std::size_t taken = 0;
  part.end_ns = part.begin_ns;
  do {
    taken += bytes(between(part.end_ns, part.end_ns + length));
    part.end_ns += length;
  } while (part.end_ns < to && taken < most_bytes);
  part.density = value(between(part.begin_ns, part.end_ns));
  add_running(part.density, running, part.begin_ns, part.end_ns);
  while (part.density.inside_shift < inside) density::halve_inside(part.density);
  return part;
}

CallDensity Pyramid::take() {
  CallDensity out = value();
  for (Function& f : functions_) {
    for (Slices& slices : f.inside) slices = {};
    for (std::size_t s = 0; s < limits_.most_slices; ++s) f.rows[s] = {};
  }
  row_bytes_ = 0;
  set_reach();
  return out;
}

std::size_t Pyramid::bytes() const {
  std::size_t sum = sizeof *this + slot_of_rank_.capacity() + row_bytes_;
  for (const Function& f : functions_) {
    sum += sizeof f + limits_.most_slices * sizeof(Row);
    for (const Slices& slices : f.inside) sum += slices ? limits_.most_slices * sizeof(std::uint64_t) : 0;
  }
  return sum;
}

}  // namespace pclscope::density
