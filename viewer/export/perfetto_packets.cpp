#include "viewer/export/perfetto_packets.hpp"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <unordered_map>

#include "viewer/export/output.hpp"
#include "viewer/export/perfetto.pb.h"

namespace pclscope::exporting {
namespace {

constexpr std::size_t at_once = std::size_t{1} << 20;      // bytes
constexpr std::uint32_t sequence = 1;                      // all packets are of one
constexpr std::uint32_t begins_anew = 1, refers_back = 2;  // TracePacket.sequence_flags
constexpr std::uint32_t real_time = 1, boot_time = 6;
constexpr std::uint8_t packet_tag = 1 << 3 | 2;  // field 1 of Trace, with a length

// A text is looked up without making a string of it.
struct Hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
using Texts = std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>>;

std::uint64_t number_of(Texts& texts, std::string_view text, bool& is_new) {
  if (const auto known = texts.find(text); known != texts.end()) return is_new = false, known->second;
  is_new = true;
  return texts.emplace(std::string(text), texts.size() + 1).first->second;
}

}  // namespace

struct PerfettoPackets::State {
  OutputFile file;
  std::uint64_t origin_ns;
  std::string bytes;
  perfetto::TracePacket packet;
  Texts categories, names, notes;
  std::unordered_map<std::uint64_t, std::uint64_t> sites;
  bool first = true;

  explicit State(const std::string& path) : file(path), origin_ns(0) {}

  perfetto::TracePacket& next() {
    packet.Clear();
    packet.set_trusted_packet_sequence_id(sequence);
    packet.set_sequence_flags(first ? begins_anew | refers_back : refers_back);
    first = false;
    return packet;
  }
  perfetto::TrackEvent& next_event(std::int64_t ns, std::uint64_t track) {
    next().set_timestamp(origin_ns + static_cast<std::uint64_t>(ns));
    perfetto::TrackEvent& event = *packet.mutable_track_event();
    event.set_track_uuid(track);
    return event;
  }
  void put() {
    const std::size_t size = packet.ByteSizeLong();
    std::uint8_t head[16];
    head[0] = packet_tag;
    const std::uint8_t* end =
        google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(static_cast<std::uint64_t>(size), head + 1);
    bytes.append(reinterpret_cast<const char*>(head), static_cast<std::size_t>(end - head));
    const std::size_t at = bytes.size();
    bytes.resize(at + size);
    packet.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(bytes.data() + at));
    if (bytes.size() >= at_once) flush();
  }
  void flush() {
    file.write(bytes);
    bytes.clear();
  }
  std::uint64_t name(Texts& texts, std::string_view text, perfetto::InternedText* (perfetto::InternedData::*add)()) {
    bool is_new = false;
    const std::uint64_t number = number_of(texts, text, is_new);
    if (is_new) {
      perfetto::InternedText* told = (packet.mutable_interned_data()->*add)();
      told->set_iid(number);
      told->set_name(std::string(text));
    }
    return number;
  }
  perfetto::DebugAnnotation& note(std::string_view text) {
    perfetto::DebugAnnotation& note = *packet.mutable_track_event()->add_debug_annotations();
    note.set_name_iid(name(notes, text, &perfetto::InternedData::add_debug_annotation_names));
    return note;
  }
};

PerfettoPackets::PerfettoPackets(const std::string& path, std::int64_t origin_realtime_ns)
    : state_(std::make_unique<State>(path)) {
  // Perfetto has no times before 0, a run may have some: its axis begins with the epoch.
  state_->origin_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(origin_realtime_ns, 0));
  perfetto::TracePacket& packet = state_->next();
  for (const std::uint32_t id : {real_time, boot_time}) {
    perfetto::ClockSnapshot::Clock& clock = *packet.mutable_clock_snapshot()->add_clocks();
    clock.set_clock_id(id);
    clock.set_timestamp(state_->origin_ns);
  }
  packet.set_timestamp(state_->origin_ns);
  state_->put();
}

PerfettoPackets::~PerfettoPackets() = default;

void PerfettoPackets::track(std::uint64_t id, std::uint64_t parent, const std::string& name, std::int32_t place) {
  perfetto::TrackDescriptor& track = *state_->next().mutable_track_descriptor();
  track.set_uuid(id);
  if (parent != 0) track.set_parent_uuid(parent);
  track.set_name(name);
  track.set_child_ordering(perfetto::TrackDescriptor::EXPLICIT);
  track.set_sibling_order_rank(place);
  state_->put();
}

void PerfettoPackets::counter_track(std::uint64_t id, std::uint64_t parent, const std::string& name, const char* unit,
                                    std::int32_t place) {
  perfetto::TrackDescriptor& track = *state_->next().mutable_track_descriptor();
  track.set_uuid(id);
  if (parent != 0) track.set_parent_uuid(parent);
  track.set_name(name);
  track.set_sibling_order_rank(place);
  track.mutable_counter()->set_unit_name(unit);
  state_->put();
}

void PerfettoPackets::event(Kind kind, std::uint64_t track, std::int64_t ns, std::string_view category,
                            std::string_view name) {
  State& s = *state_;
  perfetto::TrackEvent& event = s.next_event(ns, track);
  event.set_type(kind == Kind::slice ? perfetto::TrackEvent::TYPE_SLICE_BEGIN : perfetto::TrackEvent::TYPE_INSTANT);
  event.add_category_iids(s.name(s.categories, category, &perfetto::InternedData::add_event_categories));
  event.set_name_iid(s.name(s.names, name, &perfetto::InternedData::add_event_names));
}

void PerfettoPackets::flow_from_here(std::uint64_t id) { state_->packet.mutable_track_event()->add_flow_ids(id); }
void PerfettoPackets::flow_to_here(std::uint64_t id) {
  state_->packet.mutable_track_event()->add_terminating_flow_ids(id);
}

void PerfettoPackets::line_of_source(const CallSite& site) {
  const auto [known, is_new] = state_->sites.try_emplace(site.id, state_->sites.size() + 1);
  if (is_new) {
    perfetto::SourceLocation& told = *state_->packet.mutable_interned_data()->add_source_locations();
    told.set_iid(known->second);
    told.set_file_name(site.line > 0 ? site.file : site.module);
    told.set_function_name(site.function);
    if (site.line > 0) told.set_line_number(site.line);
  }
  state_->packet.mutable_track_event()->set_source_location_iid(known->second);
}

void PerfettoPackets::note(std::string_view name, std::uint64_t value) { state_->note(name).set_uint_value(value); }
void PerfettoPackets::note(std::string_view name, std::int64_t value) { state_->note(name).set_int_value(value); }
void PerfettoPackets::note(std::string_view name, double value) { state_->note(name).set_double_value(value); }
void PerfettoPackets::note(std::string_view name, const std::string& value) {
  state_->note(name).set_string_value(value);
}

void PerfettoPackets::put() { state_->put(); }

void PerfettoPackets::end(std::uint64_t track, std::int64_t ns) {
  state_->next_event(ns, track).set_type(perfetto::TrackEvent::TYPE_SLICE_END);
  state_->put();
}

void PerfettoPackets::count(std::uint64_t track, std::int64_t ns, double value) {
  perfetto::TrackEvent& event = state_->next_event(ns, track);
  event.set_type(perfetto::TrackEvent::TYPE_COUNTER);
  event.set_double_counter_value(value);
  state_->put();
}

Status PerfettoPackets::status() const { return state_->file.status(); }

Status PerfettoPackets::close() {
  state_->flush();
  return state_->file.close();
}

}  // namespace pclscope::exporting
