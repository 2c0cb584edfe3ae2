// pclscope export --to perfetto: a track for every rank, with its calls and waits as slices and messages as flows.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>

#include "analysis/density/packing.hpp"
#include "viewer/export/format.hpp"
#include "viewer/export/otf2_events.hpp"
#include "viewer/export/perfetto_packets.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/views/finding_rows.hpp"
#include "viewer/views/function_names.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::exporting {
namespace {

using Kind = PerfettoPackets::Kind;

// Tracks by kind, so that none has another's number.
constexpr std::uint64_t kind_bits = std::uint64_t{1} << 48;
constexpr std::uint64_t run_track = 1 * kind_bits, node_tracks = 2 * kind_bits, region_tracks = 3 * kind_bits,
                        rank_tracks = 4 * kind_bits, counter_tracks = 5 * kind_bits;
// A request's number of messages that are alike in everything is above these bits (otf2_events.cpp).
constexpr std::uint64_t flow_bits = (std::uint64_t{1} << 56) - 1;

std::int64_t ns_of(double seconds) {
  return std::isfinite(seconds) ? static_cast<std::int64_t>(std::clamp(seconds, -1e9, 4e9) * 1e9) : 0;
}

class PerfettoSink final : public Sink {
 public:
  PerfettoSink(const Run& run, Otf2Contents contents, const std::string& path)
      : run_(run),
        contents_(std::move(contents)),
        events_(contents_),
        sites_(run.snapshot.sites),
        packets_(path, run.snapshot.time_origin_realtime_ns),
        waited_(static_cast<std::size_t>(contents_.ranks)) {}

  Status begin() {
    define_ranks();
    count_regions();
    count_functions();
    tell_findings();
    return packets_.status();
  }
  Status add(const Slice& slice) override;
  Status finish() override { return packets_.close(); }
  std::string wrote() const override {
    return text::format_count(slices_) + " slices of " + text::format_count(contents_.locations()) +
           (contents_.locations() == 1 ? " track, " : " tracks, ") + text::format_count(flows_) +
           (flows_ == 1 ? " message" : " messages") + " (open it at https://ui.perfetto.dev)";
  }

 private:
  void define_ranks();
  void count_regions();
  void count_functions();
  void tell_findings();
  void put(const TraceEvent& event, std::size_t location);
  void put_message(const TraceEvent& event, std::uint64_t track, bool is_sent);

  const Run& run_;
  Otf2Contents contents_;
  TraceEvents events_;
  views::Sites sites_;
  PerfettoPackets packets_;
  std::vector<std::array<std::uint64_t, wait_states>> waited_;  // by rank: ns in each state that have been written
  std::vector<std::size_t> rank_of_;                            // by location
  std::vector<std::int64_t> entered_;                           // by location: when its newest call began
  std::uint64_t slices_ = 0, flows_ = 0;
};

// Node, region, rank: each in the one before.
void PerfettoSink::define_ranks() {
  const Snapshot& s = run_.snapshot;
  std::map<std::int32_t, const Region*> region_of;
  for (const Region& region : s.regions)
    for (const std::int32_t rank : region.ranks) region_of.try_emplace(rank, &region);
  packets_.track(run_track, 0, s.application.command.empty() ? "run" : s.application.command, 0);
  entered_.assign(contents_.locations(), INT64_MIN);
  for (std::size_t rank = 0; rank + 1 < contents_.first.size(); ++rank)
    rank_of_.resize(contents_.first[rank + 1], rank);
  std::map<std::uint64_t, bool> known;
  for (std::int32_t rank = 0; rank < contents_.ranks; ++rank) {
    if (!run_.choice.has_rank(rank)) continue;
    const auto r = static_cast<std::size_t>(rank);
    const std::int32_t node = r < s.application.node_of_rank.size() ? s.application.node_of_rank[r] : -1;
    const std::uint64_t node_track = node_tracks + static_cast<std::uint64_t>(node + 1);
    if (!std::exchange(known[node_track], true)) {
      const bool named = node >= 0 && static_cast<std::size_t>(node) < s.application.nodes.size();
      packets_.track(node_track, 0, named ? "node " + s.application.nodes[static_cast<std::size_t>(node)] : "ranks",
                     node + 1);
    }
    std::uint64_t parent = node_track;
    if (const auto found = region_of.find(rank); found != region_of.end()) {
      const Region& region = *found->second;
      parent = region_tracks + static_cast<std::uint64_t>(node + 1) * (std::uint64_t{1} << 24) +
               (static_cast<std::uint64_t>(region.id) & 0xffffff);
      if (!std::exchange(known[parent], true))
        packets_.track(parent, node_track,
                       "region " + std::to_string(region.id) + " (ranks " + text::compact_ranks(region.ranks, 24) + ")",
                       region.id);
    }
    for (std::uint16_t thread = 0; thread < contents_.threads[r]; ++thread)
      packets_.track(rank_tracks + contents_.location(rank, thread), parent,
                     "rank " + std::to_string(rank) + (thread > 0 ? ", thread " + std::to_string(thread) : ""),
                     static_cast<std::int32_t>(contents_.location(rank, thread)));
  }
}

// Of each region over time, a value per window: its ratio, and the time that its ranks lost.
void PerfettoSink::count_regions() {
  const auto windows = run_.reader.windows();
  if (!windows) return;  // a dump that was cut off may lack them
  std::map<std::int32_t, std::uint64_t> track_of;
  for (const Window& window : *windows) {
    const std::int64_t begin = ns_of(window.begin_s);
    if (!run_.choice.has_time(begin)) continue;
    for (const RegionWindow& sums : window.regions) {
      const auto [at, is_new] = track_of.try_emplace(sums.region, counter_tracks + 2 * track_of.size());
      if (is_new) {
        const std::string region = "region " + std::to_string(sums.region);
        packets_.counter_track(at->second, run_track, region + ": time / usual time", "ratio", 1000 + sums.region);
        packets_.counter_track(at->second + 1, run_track, region + ": time lost", "s/s", 2000 + sums.region);
      }
      const double lost_s = sums.late_sender_s + sums.late_receiver_s + sums.transfer_s;
      packets_.count(at->second, begin, sums.level());
      packets_.count(at->second + 1, begin, window.length_s > 0 ? lost_s / window.length_s : 0);
    }
  }
}

// Ranks inside each function, a mean per slice of the density of calls; 0 where there is none.
void PerfettoSink::count_functions() {
  const auto density = density::unpack(run_.snapshot.call_density);
  if (!density) return;
  const std::int64_t length = std::int64_t{1} << density->inside_shift;
  std::map<std::uint16_t, std::map<std::uint32_t, std::uint64_t>> inside;
  for (const CallDensity::Inside& i : density->inside) inside[i.function][i.slice] += i.ns;
  std::uint64_t track = counter_tracks + kind_bits / 2;
  for (const auto& [function, slices] : inside) {
    packets_.counter_track(++track, run_track, "ranks inside " + views::function_name(function), "ranks", 3000);
    std::uint32_t next = 0;
    for (const auto& [slice, ns] : slices) {
      if (slice > next) packets_.count(track, next * length, 0);
      packets_.count(track, slice * length, static_cast<double>(ns) / static_cast<double>(length));
      next = slice + 1;
    }
    packets_.count(track, next * length, 0);
  }
}

void PerfettoSink::tell_findings() {
  const auto& findings = run_.snapshot.attribution.findings;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const Finding& f = findings[i];
    packets_.event(
        Kind::instant, run_track, ns_of(f.begin_s), "finding",
        std::to_string(i + 1) + ". " + views::cause_word(f.cause) + (f.detail.empty() ? "" : " (" + f.detail + ")"));
    packets_.note("sentence", views::finding_line(f, run_.snapshot, sites_));
    if (!f.advice.empty()) packets_.note("advice", f.advice);
    packets_.note("confidence", f.confidence);
    packets_.note("lost_s", f.lost_s);
    packets_.put();
  }
}

void PerfettoSink::put_message(const TraceEvent& event, std::uint64_t track, bool is_sent) {
  packets_.event(Kind::instant, track, event.time, "message",
                 (is_sent ? "to rank " : "from rank ") + std::to_string(event.peer));
  const std::uint64_t flow = event.request & flow_bits;
  is_sent ? packets_.flow_from_here(flow) : packets_.flow_to_here(flow);
  packets_.note("bytes", event.bytes);
  packets_.note("tag", std::int64_t{event.tag});
  packets_.put();
  flows_ += is_sent;
}

void PerfettoSink::put(const TraceEvent& event, std::size_t location) {
  const std::uint64_t track = rank_tracks + location;
  switch (event.kind) {
    case TraceKind::enter:
      packets_.event(Kind::slice, track, event.time, "MPI", views::function_name(event.function));
      if (const CallSite* site = sites_.find(event.site)) packets_.line_of_source(*site);
      packets_.put();
      ++slices_;
      entered_[location] = event.time;
      break;
    case TraceKind::leave: packets_.end(track, event.time); break;
    case TraceKind::send:
    case TraceKind::isend: put_message(event, track, true); break;
    case TraceKind::recv:
    case TraceKind::irecv: put_message(event, track, false); break;
    case TraceKind::metric: {
      std::uint64_t& before = waited_[rank_of_[location]][static_cast<std::size_t>(event.state)];
      const auto waited = static_cast<std::int64_t>(event.bytes - std::exchange(before, event.bytes));
      packets_.event(Kind::slice, track, std::max(event.time - waited, entered_[location]), "wait",
                     name_of(event.state));
      packets_.put();
      packets_.end(track, event.time);
      ++slices_;
      break;
    }
    default: break;  // what OTF2 has besides
  }
}

Status PerfettoSink::add(const Slice& slice) {
  const auto& events = events_.of(slice, run_.choice);
  for (std::size_t location = 0; location < events.size(); ++location)
    for (const TraceEvent& event : events[location]) put(event, location);
  return packets_.status();
}

Result<std::unique_ptr<Sink>> open_perfetto(const Run& run, const std::string& path, const Progress& progress) {
  auto contents = otf2_contents(run, progress);
  if (!contents) return contents.error();
  auto sink = std::make_unique<PerfettoSink>(run, std::move(*contents), path);
  if (const Status begun = sink->begin(); !begun) return begun.error();
  return std::unique_ptr<Sink>(std::move(sink));
}

}  // namespace

extern const FileFormat perfetto_format;
const FileFormat perfetto_format{
    "perfetto",   "a trace for ui.perfetto.dev", ".pftrace", false, needs::messages | needs::calls | needs::collectives,
    open_perfetto};

}  // namespace pclscope::exporting
