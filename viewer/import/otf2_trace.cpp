#include "viewer/import/otf2_trace.hpp"

#include <otf2/otf2.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "viewer/import/otf2_trace_events.hpp"

namespace pclscope::importing {
namespace {

constexpr std::uint64_t most_definitions = 50'000'000;
constexpr std::uint32_t most_members = 1'000'000;

// libotf2 prints what goes wrong; it is told in our words.
std::string last_words;
OTF2_ErrorCode keep_words(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char* format,
                          va_list arguments) {
  if (code <= OTF2_SUCCESS || !last_words.empty()) return code;
  char text[256] = "";
  if (format != nullptr) std::vsnprintf(text, sizeof text, format, arguments);
  last_words = std::string(OTF2_Error_GetDescription(code)) + (text[0] != 0 ? std::string(": ") + text : "");
  for (char& c : last_words)
    if (c == '\n') c = ' ';
  return code;
}

Error unreadable(const std::string& doing) {
  return Error{ErrorCode::damaged,
               "the trace is damaged: " + doing + (last_words.empty() ? "" : " (libotf2: " + last_words + ")")};
}

// A whole file of records ends with "end of chunk" and "end of file". Of one that was cut off libotf2 reads on in what
// its memory had before. A file that is not there, or empty, it names itself.
bool is_cut_off(const std::filesystem::path& file) {
  constexpr char end[] = {2, 1};
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in || in.tellg() == 0) return false;
  char last[sizeof end] = {};
  in.seekg(-static_cast<std::streamoff>(sizeof end), std::ios::end);
  in.read(last, sizeof last);
  return !in || std::memcmp(last, end, sizeof end) != 0;
}

void allow_files(std::size_t locations) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= 2 * locations + 64) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 2 * locations + 64);
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

struct Strings {
  std::unordered_map<std::uint64_t, std::string> all;
  std::string of(OTF2_StringRef reference) const {
    const auto at = all.find(reference);
    return at == all.end() ? std::string() : at->second;
  }
};

// What the callbacks of definitions fill.
struct Reading {
  Definitions to;
  Strings strings;
  OTF2_AttributeRef call_path = OTF2_UNDEFINED_ATTRIBUTE, any_source = OTF2_UNDEFINED_ATTRIBUTE;
  bool too_many = false;
};

Reading& at(void* user) { return *static_cast<Reading*>(user); }
constexpr OTF2_CallbackCode stop = OTF2_CALLBACK_INTERRUPT;

OTF2_GlobalDefReaderCallbacks* definition_callbacks() {
  auto* const c = OTF2_GlobalDefReaderCallbacks_New();
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(
      c, [](void* user, std::uint64_t resolution, std::uint64_t offset, std::uint64_t, std::uint64_t realtime) {
        Definitions& to = at(user).to;
        to.resolution = resolution;
        to.offset = offset;
        to.realtime_ns = realtime < static_cast<std::uint64_t>(INT64_MAX) ? static_cast<std::int64_t>(realtime) : 0;
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, [](void* user, OTF2_StringRef self, const char* text) {
    at(user).strings.all[self] = text == nullptr ? "" : text;
    return go_on;
  });
  OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(
      c, [](void* user, OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_Type type) {
        const std::string known = at(user).strings.of(name);
        if (known == "PCLSCOPE::CALL_PATH" && type == OTF2_TYPE_CALLING_CONTEXT) at(user).call_path = self;
        if (known == "PCLSCOPE::ANY_SOURCE" && type == OTF2_TYPE_UINT8) at(user).any_source = self;
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(
      c, [](void* user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef kind,
            OTF2_SystemTreeNodeRef parent) {
        at(user).to.nodes[self] = {at(user).strings.of(name), at(user).strings.of(kind), parent};
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(
      c, [](void* user, OTF2_LocationGroupRef self, OTF2_StringRef, OTF2_LocationGroupType, OTF2_SystemTreeNodeRef node,
            OTF2_LocationGroupRef) {
        at(user).to.processes[self] = {node};
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(
      c, [](void* user, OTF2_LocationRef self, OTF2_StringRef, OTF2_LocationType type, std::uint64_t events,
            OTF2_LocationGroupRef group) {
        if (type == OTF2_LOCATION_TYPE_CPU_THREAD) at(user).to.locations.push_back({self, events, group});
        else ++at(user).to.other_locations;
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(
      c, [](void* user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_StringRef, OTF2_RegionRole,
            OTF2_Paradigm, OTF2_RegionFlag, OTF2_StringRef file, std::uint32_t line, std::uint32_t) {
        const Strings& strings = at(user).strings;
        at(user).to.regions[self] = {strings.of(name), file == OTF2_UNDEFINED_STRING ? "" : strings.of(file), line};
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(
      c, [](void* user, OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType type, OTF2_Paradigm paradigm,
            OTF2_GroupFlag flags, std::uint32_t count, const std::uint64_t* members) {
        if (count > most_members) {
          at(user).too_many = true;
          return stop;
        }
        Definitions::Group& group = at(user).to.groups[self];
        group.mpi = paradigm == OTF2_PARADIGM_MPI;
        group.self = type == OTF2_GROUP_TYPE_COMM_SELF;
        group.locations = type == OTF2_GROUP_TYPE_COMM_LOCATIONS || type == OTF2_GROUP_TYPE_LOCATIONS;
        group.global = (flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0;
        if (type == OTF2_GROUP_TYPE_LOCATIONS) group.mpi = false;
        if (count > 0 && members != nullptr) group.members.assign(members, members + count);
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, [](void* user, OTF2_CommRef self, OTF2_StringRef name,
                                                      OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag) {
    at(user).to.comms[self] = {at(user).strings.of(name), group, undefined, parent};
    return go_on;
  });
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(
      c, [](void* user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef a, OTF2_GroupRef b, OTF2_CommRef parent,
            OTF2_CommFlag) {
        at(user).to.comms[self] = {at(user).strings.of(name), a, b, parent};
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(
      c, [](void* user, OTF2_RmaWinRef self, OTF2_StringRef, OTF2_CommRef comm, OTF2_RmaWinFlag) {
        at(user).to.windows[self] = comm;
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetSourceCodeLocationCallback(
      c, [](void* user, OTF2_SourceCodeLocationRef self, OTF2_StringRef file, std::uint32_t line) {
        at(user).to.places[self] = {at(user).strings.of(file), line};
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(
      c, [](void* user, OTF2_CallingContextRef self, OTF2_RegionRef region, OTF2_SourceCodeLocationRef place,
            OTF2_CallingContextRef parent) {
        at(user).to.contexts[self] = {region, place, parent};
        return go_on;
      });
  return c;
}

class Archive final : public Otf2Trace {
 public:
  ~Archive() override {
    if (reader_ != nullptr) OTF2_Reader_Close(reader_);
    OTF2_Error_RegisterCallback(nullptr, nullptr);
  }
  Status open(const std::string& path);
  Status read(Converter& converter, std::uint64_t round, const std::function<bool(std::uint64_t)>& rest) override;

 private:
  std::string property(const char* name) const;
  bool has_plain_files() const;
  std::filesystem::path records_;  // the folder of the locations' files
  OTF2_Reader* reader_ = nullptr;
  OTF2_AttributeRef call_path_ = OTF2_UNDEFINED_ATTRIBUTE, any_source_ = OTF2_UNDEFINED_ATTRIBUTE;
};

std::string Archive::property(const char* name) const {
  char* value = nullptr;
  if (OTF2_Reader_GetProperty(reader_, name, &value) != OTF2_SUCCESS || value == nullptr) return "";
  std::string text = value;
  std::free(value);
  return text;
}

bool Archive::has_plain_files() const {
  OTF2_FileSubstrate substrate = OTF2_SUBSTRATE_UNDEFINED;
  OTF2_Compression compression = OTF2_COMPRESSION_UNDEFINED;
  return OTF2_Reader_GetFileSubstrate(reader_, &substrate) == OTF2_SUCCESS && substrate == OTF2_SUBSTRATE_POSIX &&
         OTF2_Reader_GetCompression(reader_, &compression) == OTF2_SUCCESS && compression == OTF2_COMPRESSION_NONE;
}

Status Archive::open(const std::string& path) {
  records_ = std::filesystem::path(path).replace_extension();
  last_words.clear();
  OTF2_Error_RegisterCallback(keep_words, nullptr);
  reader_ = OTF2_Reader_Open(path.c_str());
  if (reader_ == nullptr)
    return Error{ErrorCode::not_ours, path + " is no OTF2 archive (its traces.otf2 is what to give)"};
  if (OTF2_Reader_SetSerialCollectiveCallbacks(reader_) != OTF2_SUCCESS) return unreadable("it cannot be opened");
  std::uint64_t definitions = 0, locations = 0, read = 0;
  if (OTF2_Reader_GetNumberOfGlobalDefinitions(reader_, &definitions) != OTF2_SUCCESS ||
      OTF2_Reader_GetNumberOfLocations(reader_, &locations) != OTF2_SUCCESS)
    return unreadable("it does not say how much it has");
  if (definitions > most_definitions || locations > most_members)
    return unreadable("it says that it has " + std::to_string(definitions) + " definitions and " +
                      std::to_string(locations) + " locations");
  OTF2_GlobalDefReader* const reader = OTF2_Reader_GetGlobalDefReader(reader_);
  if (reader == nullptr) return unreadable("its definitions cannot be read");
  Reading reading;
  OTF2_GlobalDefReaderCallbacks* const callbacks = definition_callbacks();
  OTF2_ErrorCode code = OTF2_Reader_RegisterGlobalDefCallbacks(reader_, reader, callbacks, &reading);
  OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
  if (code == OTF2_SUCCESS) code = OTF2_Reader_ReadAllGlobalDefinitions(reader_, reader, &read);
  if (reading.too_many) return unreadable("a group has more than a million members");
  if (code != OTF2_SUCCESS || read != definitions)
    return unreadable("only " + std::to_string(read) + " of " + std::to_string(definitions) +
                      " definitions can be read");
  reading.to.command = property("PCLSCOPE::COMMAND");
  reading.to.mpi = property("PCLSCOPE::MPI");
  reading.to.lacking = property("PCLSCOPE::LACKING");
  if (reading.to.command.empty()) reading.to.command = path;
  call_path_ = reading.call_path;
  any_source_ = reading.any_source;
  auto trace = understood(std::move(reading.to));
  if (!trace) return trace.error();
  trace_ = std::move(*trace);
  for (const Definitions::Location& location : trace_.defined.locations)
    events_ += std::min<std::uint64_t>(location.events, UINT64_MAX / (1 + trace_.defined.locations.size()));
  return {};
}

Status Archive::read(Converter& converter, std::uint64_t round, const std::function<bool(std::uint64_t)>& rest) {
  allow_files(trace_.defined.locations.size());
  for (const auto& [location, place] : trace_.place_of)
    if (OTF2_Reader_SelectLocation(reader_, location) != OTF2_SUCCESS)
      return unreadable("a location cannot be selected");
  // Local definitions are not always there; where they are, they have what corrects the clocks.
  const bool local = OTF2_Reader_OpenDefFiles(reader_) == OTF2_SUCCESS;
  const bool plain = has_plain_files();
  last_words.clear();
  if (OTF2_Reader_OpenEvtFiles(reader_) != OTF2_SUCCESS) return unreadable("its events cannot be opened");
  for (const auto& [location, place] : trace_.place_of) {
    if (OTF2_DefReader* const reader = local ? OTF2_Reader_GetDefReader(reader_, location) : nullptr) {
      std::uint64_t read = 0;
      const OTF2_ErrorCode code = OTF2_Reader_ReadAllLocalDefinitions(reader_, reader, &read);
      OTF2_Reader_CloseDefReader(reader_, reader);
      if (code != OTF2_SUCCESS) return unreadable("the definitions of a location cannot be read");
    }
    if (plain && is_cut_off(records_ / (std::to_string(location) + ".evt")))
      return unreadable("the events of location " + std::to_string(location) + " are cut off");
    if (OTF2_Reader_GetEvtReader(reader_, location) == nullptr)
      return unreadable("the events of location " + std::to_string(location) + " are not there");
  }
  if (local) OTF2_Reader_CloseDefFiles(reader_);
  OTF2_GlobalEvtReader* const reader = OTF2_Reader_GetGlobalEvtReader(reader_);
  if (reader == nullptr) return unreadable("its events cannot be read");
  Feeding feeding{converter, trace_, call_path_, any_source_};
  OTF2_GlobalEvtReaderCallbacks* const callbacks = event_callbacks();
  OTF2_ErrorCode code = OTF2_Reader_RegisterGlobalEvtCallbacks(reader_, reader, callbacks, &feeding);
  OTF2_GlobalEvtReaderCallbacks_Delete(callbacks);
  std::uint64_t all = 0;
  for (std::uint64_t read = round; code == OTF2_SUCCESS && read == round;) {
    code = OTF2_Reader_ReadGlobalEvents(reader_, reader, round, &read);
    all += read;
    if (!rest(all)) break;
  }
  if (code != OTF2_SUCCESS) return unreadable("after " + std::to_string(all) + " events");
  OTF2_Reader_CloseGlobalEvtReader(reader_, reader);
  OTF2_Reader_CloseEvtFiles(reader_);
  return {};
}

}  // namespace

Result<std::unique_ptr<Otf2Trace>> Otf2Trace::open(const std::string& path) {
  auto archive = std::make_unique<Archive>();
  if (const Status opened = archive->open(path); !opened) return opened.error();
  return std::unique_ptr<Otf2Trace>(std::move(archive));
}

}  // namespace pclscope::importing
