#include "analysis/window/markers.hpp"

#include <algorithm>
#include <cstring>

namespace pclscope {

using record::Event;
using record::EventKind;
using record::MarkerKind;

namespace {

constexpr std::int32_t first_level = 2;  // of MPI_Pcontrol; 0 and 1 switch recording off and on

// Bytes of a name that an event has.
void append_name(const Event& e, std::size_t most, std::string& name) {
  char bytes[record::marker_name_part];
  std::memcpy(bytes, &e.comm, 8);
  std::memcpy(bytes + 8, &e.bytes, 8);
  std::memcpy(bytes + 16, &e.ordinal, 8);
  const std::size_t room = record::most_marker_name - std::min(name.size(), record::most_marker_name);
  const std::size_t given = e.peer > 0 ? static_cast<std::size_t>(e.peer) : 0;
  name.append(bytes, std::min({given, most, room}));
}

}  // namespace

std::size_t Markers::name(const std::string& name) {
  const auto known = by_name_.find(name);
  if (known != by_name_.end()) return known->second;
  if (names_.size() + 1 >= most_names && name != other_names) return this->name(other_names);
  names_.push_back(name);
  return by_name_[name] = names_.size() - 1;
}

void Markers::begin(Rank& rank, std::uint32_t thread, std::size_t name, std::uint64_t ticks, std::uint64_t mpi_ticks) {
  std::vector<Part>& parts = rank.threads[thread].parts;
  if (parts.size() <= name) parts.resize(name + 1);
  if (rank.sums.size() <= name) rank.sums.resize(name + 1);
  if (parts[name].depth++ > 0) return;
  parts[name].begin = ticks;
  parts[name].mpi_ticks = mpi_ticks;
  Sums& sums = rank.sums[name];
  if (sums.times++ == 0) sums.begin = ticks, sums.thread = thread;
  sums.begin = std::min(sums.begin, ticks);
  sums.threads |= sums.thread != thread;
}

// An end without a begin (recorded since later, or lost) is none.
void Markers::end(Rank& rank, std::uint32_t thread, std::size_t name, std::uint64_t ticks, std::uint64_t mpi_ticks) {
  std::vector<Part>& parts = rank.threads[thread].parts;
  if (name >= parts.size() || parts[name].depth == 0) return;
  if (--parts[name].depth == 0) close(parts[name], ticks, mpi_ticks, rank.sums[name]);
}

void Markers::add_level(Rank& rank, std::uint32_t thread, const Event& e, std::uint64_t mpi_ticks) {
  const auto name_of = [](std::int32_t level) { return "level " + std::to_string(level); };
  std::int32_t& level = rank.threads[thread].level;
  if (level != 0) end(rank, thread, name(name_of(level)), e.end, mpi_ticks);
  level = e.tag >= first_level ? e.tag : 0;
  if (level != 0) begin(rank, thread, name(name_of(level)), e.end, mpi_ticks);
}

void Markers::add(std::int32_t rank, std::uint32_t thread, const Event& e, std::uint64_t mpi_ticks) {
  Rank& r = ranks_[rank];
  if (r.threads.size() <= thread) r.threads.resize(thread + 1);
  if (e.kind == EventKind::control) return add_level(r, thread, e, mpi_ticks);
  std::string& text = r.threads[thread].name;
  const auto kind = static_cast<MarkerKind>(e.tag);
  if (kind == MarkerKind::name_part) return append_name(e, record::marker_name_part, text);
  append_name(e, record::marker_name_last, text);
  const std::size_t name = this->name(text);
  text.clear();
  if (kind == MarkerKind::begin) return begin(r, thread, name, e.end, mpi_ticks);
  if (kind != MarkerKind::end && kind != MarkerKind::iteration) return;
  end(r, thread, name, e.end, mpi_ticks);
  if (kind == MarkerKind::end) return;
  begin(r, thread, name, e.end, mpi_ticks);
  Sums& sums = r.sums[name];
  const auto number = static_cast<std::int64_t>(e.ordinal);
  sums.lowest = sums.iterations == 0 ? number : std::min(sums.lowest, number);
  sums.highest = sums.iterations == 0 ? number : std::max(sums.highest, number);
  ++sums.iterations;
}

void Markers::cut(std::int32_t rank, std::uint32_t thread, const Now& now) {
  const auto found = ranks_.find(rank);
  if (found == ranks_.end() || thread >= found->second.threads.size()) return;
  Thread& t = found->second.threads[thread];
  t.name.clear();
  t.level = 0;
  for (std::size_t i = 0; i < t.parts.size(); ++i) {
    if (t.parts[i].depth == 0) continue;
    t.parts[i].depth = 0;
    Sums& sums = found->second.sums[i];
    close(t.parts[i], now.ticks, now.mpi_ticks, sums);
    ++sums.cut;
  }
}

void Markers::add_sums(std::int32_t rank, const Sums& sums, std::uint32_t inside, const TickScale& scale, Marker& to) {
  const auto seconds = [&](std::uint64_t ticks) { return static_cast<double>(ticks) * scale.ns_per_tick * 1e-9; };
  const auto moment = [&](std::uint64_t ticks) {
    return static_cast<double>(std::max<std::int64_t>(scale.to_ns(ticks), 0)) * 1e-9;
  };
  Marker one;
  one.ranks = 1;
  one.lowest_rank = one.highest_rank = one.most_useful_rank = rank;
  one.inside = inside;
  one.begin_s = moment(sums.begin);
  one.end_s = moment(std::max(sums.end, sums.begin));
  one.times = sums.times;
  one.iterations = sums.iterations;
  one.lowest_iteration = sums.lowest;
  one.highest_iteration = sums.highest;
  one.cut = sums.cut;
  one.time_s = one.most_s = seconds(sums.ticks);
  one.mpi_s = seconds(sums.mpi_ticks);
  one.most_useful_s = seconds(sums.ticks - sums.mpi_ticks);
  one.threads = sums.threads;
  to += one;
}

std::vector<Marker> Markers::merged(const std::map<std::int32_t, std::vector<Marker>>& of_nodes) {
  std::map<std::string, Marker> by_name;
  for (const auto& [node, list] : of_nodes) {
    for (const Marker& m : list) {
      const std::size_t named = by_name.size() - by_name.count(other_names);
      const bool room = by_name.contains(m.name) || named + 1 < most_names;
      Marker& sum = by_name[room ? m.name : other_names];
      sum.name = room ? m.name : other_names;
      sum += m;
    }
  }
  std::vector<Marker> markers;
  for (auto& [name, marker] : by_name) markers.push_back(std::move(marker));
  sort(markers);
  return markers;
}

void Markers::sort(std::vector<Marker>& markers) {
  std::erase_if(markers, [](const Marker& m) { return m.ranks == 0; });
  std::sort(markers.begin(), markers.end(), [](const Marker& a, const Marker& b) {
    return a.begin_s != b.begin_s ? a.begin_s < b.begin_s : a.name < b.name;
  });
}

}  // namespace pclscope
