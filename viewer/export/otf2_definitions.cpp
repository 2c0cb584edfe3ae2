// The definitions of an archive.
#include <algorithm>

#include "viewer/export/otf2_archive.hpp"
#include "viewer/export/otf2_functions.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::exporting {
namespace {

constexpr OTF2_SystemTreeNodeRef machine = 0;  // then the nodes

std::string hexadecimal(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

// Strings are defined when they are first used.
OTF2_StringRef Otf2Archive::text(const std::string& words) {
  const auto [at, fresh] = texts_.try_emplace(words, static_cast<OTF2_StringRef>(texts_.size()));
  if (fresh) check(OTF2_GlobalDefWriter_WriteString(definitions_, at->second, at->first.c_str()));
  return at->second;
}

void Otf2Archive::define_clock() {
  const std::int64_t realtime = run_.snapshot.time_origin_realtime_ns + contents_.first_ns;
  check(OTF2_GlobalDefWriter_WriteClockProperties(
      definitions_, 1'000'000'000, 0, latest_ + 1,
      realtime > 0 ? static_cast<std::uint64_t>(realtime) : OTF2_UNDEFINED_TIMESTAMP));
  check(OTF2_GlobalDefWriter_WriteParadigm(definitions_, OTF2_PARADIGM_MPI, text("MPI"), OTF2_PARADIGM_CLASS_PROCESS));
  const auto property = [&](const char* name, std::string value) {
    for (char& c : value)
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    if (!value.empty()) check(OTF2_Archive_SetProperty(archive_, name, value.c_str(), true));
  };
  property("PCLSCOPE::VERSION", "1");
  property("PCLSCOPE::COMMAND", run_.snapshot.application.command);
  property("PCLSCOPE::MPI", run_.snapshot.application.mpi);
  if (!run_.lacking.empty()) property("PCLSCOPE::LACKING", run_.lacking);
}

void Otf2Archive::define_places() {
  const Application& application = run_.snapshot.application;
  check(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions_, machine, text("machine"), text("machine"),
                                                 OTF2_UNDEFINED_SYSTEM_TREE_NODE));
  std::vector<std::string> nodes = application.nodes;
  if (nodes.empty()) nodes.emplace_back("node");
  for (std::size_t i = 0; i < nodes.size(); ++i)
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions_, static_cast<OTF2_SystemTreeNodeRef>(i + 1),
                                                   text(nodes[i]), text("node"), machine));
  for (std::size_t i = 0; i < nodes.size(); ++i)
    check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(definitions_, static_cast<OTF2_SystemTreeNodeRef>(i + 1),
                                                         OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
  for (std::int32_t rank = 0; rank < contents_.ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    const std::int32_t node = r < application.node_of_rank.size() ? application.node_of_rank[r] : 0;
    const std::size_t known =
        node >= 0 && static_cast<std::size_t>(node) < nodes.size() ? static_cast<std::size_t>(node) : 0;
    check(OTF2_GlobalDefWriter_WriteLocationGroup(
        definitions_, static_cast<OTF2_LocationGroupRef>(rank), text("MPI Rank " + std::to_string(rank)),
        OTF2_LOCATION_GROUP_TYPE_PROCESS, static_cast<OTF2_SystemTreeNodeRef>(known + 1),
        OTF2_UNDEFINED_LOCATION_GROUP));
  }
  for (const Location& at : locations_)
    check(OTF2_GlobalDefWriter_WriteLocation(
        definitions_, static_cast<OTF2_LocationRef>(at.rank) | std::uint64_t{at.thread} << 32,
        text(at.thread == 0 ? "Master thread" : "Thread " + std::to_string(at.thread)), OTF2_LOCATION_TYPE_CPU_THREAD,
        at.events, static_cast<OTF2_LocationGroupRef>(at.rank)));
}

void Otf2Archive::define_comms() {
  std::vector<std::uint64_t> all;
  for (std::int32_t rank = 0; rank < contents_.ranks; ++rank) all.push_back(static_cast<std::uint64_t>(rank));
  const auto group = [&](OTF2_GroupRef number, const std::string& name, OTF2_GroupType type,
                         const std::vector<std::uint64_t>& members) {
    check(OTF2_GlobalDefWriter_WriteGroup(definitions_, number, text(name), type, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(members.size()),
                                          members.data()));
  };
  group(0, "MPI ranks", OTF2_GROUP_TYPE_COMM_LOCATIONS, all);  // a rank's first thread has its number
  group(1, "all ranks", OTF2_GROUP_TYPE_COMM_GROUP, all);
  group(2, "itself", OTF2_GROUP_TYPE_COMM_SELF, {});
  for (const auto& [id, comm] : comms_) {
    OTF2_GroupRef number = comm.self ? 2 : 1;
    if (comm.members != nullptr) {
      number = 1 + comm.number;
      group(number, "members of " + hexadecimal(id), OTF2_GROUP_TYPE_COMM_GROUP,
            {comm.members->begin(), comm.members->end()});
    }
    const std::string name = id == record::world_comm_id  ? "MPI_COMM_WORLD"
                             : id == record::self_comm_id ? "MPI_COMM_SELF"
                                                          : "communicator " + hexadecimal(id);
    check(OTF2_GlobalDefWriter_WriteComm(definitions_, comm.number, text(name), number, OTF2_UNDEFINED_COMM,
                                         OTF2_COMM_FLAG_NONE));
  }
  for (const auto& [id, window] : contents_.windows)
    check(OTF2_GlobalDefWriter_WriteRmaWin(definitions_, window, text("windows of " + hexadecimal(id)),
                                           comm_of(id).number, OTF2_RMA_WIN_FLAG_NONE));
}

// References count up from 0 in the order of the definitions, which readers like.
void Otf2Archive::define_regions() {
  const OTF2_StringRef none = text("");
  for (std::size_t function = 0; function < contents_.regions.size(); ++function) {
    if (contents_.regions[function] < 0) continue;
    const auto number = static_cast<std::uint16_t>(function);
    const OTF2_StringRef name = text(std::string(record::function_name(number)));
    check(OTF2_GlobalDefWriter_WriteRegion(definitions_, static_cast<OTF2_RegionRef>(contents_.regions[function]), name,
                                           name, none, static_cast<OTF2_RegionRole>(region_role_of(number)),
                                           OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE, none, 0, 0));
  }
}

// Each call site is a calling context: the function around it, the line, and from where that function was called.
void Otf2Archive::define_paths() {
  const OTF2_StringRef none = text("");
  std::map<std::pair<std::string, std::string>, OTF2_RegionRef> functions;             // name and file
  std::map<std::pair<std::string, std::uint32_t>, OTF2_SourceCodeLocationRef> places;  // file and line
  for (const CallSite& site : sites_) {
    const std::string module = site.module.substr(site.module.rfind('/') + 1);
    const std::string name =
        !site.function.empty() ? site.function : module + "+0x" + text::format_hexadecimal(site.offset);
    const auto [region, fresh] = functions.try_emplace(
        std::pair(name, site.file), contents_.region_count + static_cast<OTF2_RegionRef>(functions.size()));
    if (fresh)
      check(OTF2_GlobalDefWriter_WriteRegion(definitions_, region->second, text(name), text(name), none,
                                             OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_COMPILER, OTF2_REGION_FLAG_NONE,
                                             text(site.file.empty() ? site.module : site.file), 0, 0));
    OTF2_SourceCodeLocationRef line = OTF2_UNDEFINED_SOURCE_CODE_LOCATION;
    if (!site.file.empty()) {
      const auto [place, new_place] =
          places.try_emplace(std::pair(site.file, site.line), static_cast<OTF2_SourceCodeLocationRef>(places.size()));
      line = place->second;
      if (new_place)
        check(OTF2_GlobalDefWriter_WriteSourceCodeLocation(definitions_, line, text(site.file), site.line));
    }
    const std::uint32_t caller = site.caller < site.id ? context_of(site.caller) : OTF2_UNDEFINED_CALLING_CONTEXT;
    check(OTF2_GlobalDefWriter_WriteCallingContext(definitions_, context_of(site.id), region->second, line, caller));
  }
  check(OTF2_GlobalDefWriter_WriteAttribute(definitions_, 0, text("PCLSCOPE::CALL_PATH"),
                                            text("from where the MPI function was called"), OTF2_TYPE_CALLING_CONTEXT));
  check(OTF2_GlobalDefWriter_WriteAttribute(definitions_, 1, text("PCLSCOPE::ANY_SOURCE"),
                                            text("1: received from whichever rank came first"), OTF2_TYPE_UINT8));
}

void Otf2Archive::define_metrics() {
  for (std::size_t i = 1; i < wait_states; ++i) {
    const auto state = static_cast<WaitState>(i);
    const auto number = static_cast<OTF2_MetricMemberRef>(i - 1);
    check(OTF2_GlobalDefWriter_WriteMetricMember(
        definitions_, number, text(name_of(state)), text("time that the rank has waited so, docs/methods.md"),
        OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, -9, text("s")));
    check(OTF2_GlobalDefWriter_WriteMetricClass(definitions_, number, 1, &number, OTF2_METRIC_SYNCHRONOUS,
                                                OTF2_RECORDER_KIND_CPU));
  }
}

}  // namespace pclscope::exporting
