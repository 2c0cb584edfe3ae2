#include "viewer/export/otf2_archive.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "viewer/export/otf2_functions.hpp"
#include "viewer/export/output.hpp"

namespace pclscope::exporting {
namespace {

constexpr std::uint32_t most_sites = 4'000'000;     // a dump with higher numbers is damaged
constexpr std::uint64_t most_buffers = 256u << 20;  // of all locations' writers together, if the smallest will do

OTF2_FlushType flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
constexpr OTF2_FlushCallbacks flush_always = {flush, nullptr};

// The chunks of one of libotf2's buffers. By itself it keeps 128 MiB of events per location before it writes any.
void* allocate(void*, OTF2_FileType type, OTF2_LocationRef, void** buffer, std::uint64_t size) {
  constexpr std::size_t chunks_of_events = 2;
  auto*& chunks = *reinterpret_cast<std::vector<void*>**>(buffer);
  if (chunks == nullptr) chunks = new (std::nothrow) std::vector<void*>();
  if (chunks == nullptr || (type == OTF2_FILETYPE_EVENTS && chunks->size() >= chunks_of_events)) return nullptr;
  void* const chunk = std::malloc(size);
  if (chunk != nullptr) chunks->push_back(chunk);
  return chunk;
}
void free_all(void*, OTF2_FileType, OTF2_LocationRef, void** buffer, bool last) {
  auto*& chunks = *reinterpret_cast<std::vector<void*>**>(buffer);
  if (chunks == nullptr) return;
  for (void* const chunk : *chunks) std::free(chunk);
  chunks->clear();
  if (last) delete std::exchange(chunks, nullptr);
}
constexpr OTF2_MemoryCallbacks few_chunks = {allocate, free_all};

// libotf2 prints what goes wrong; it is told in our words.
std::string last_words;
int last_errno = 0;
OTF2_ErrorCode keep_words(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char* format,
                          va_list arguments) {
  const int error = errno;
  if (code <= OTF2_SUCCESS) return code;  // a warning
  if (last_words.empty()) {
    char text[256] = "";
    if (format != nullptr) std::vsnprintf(text, sizeof text, format, arguments);
    last_words = std::string(OTF2_Error_GetDescription(code)) + (text[0] != 0 ? std::string(": ") + text : "");
    last_errno = code == OTF2_ERROR_ENOSPC ? ENOSPC : code == OTF2_ERROR_EFBIG ? EFBIG : error;
  }
  return code;
}

OTF2_LocationRef reference(std::int32_t rank, std::uint16_t thread) {
  return static_cast<OTF2_LocationRef>(rank) | std::uint64_t{thread} << 32;
}

// libotf2 keeps a file open per location.
void allow_files(std::size_t locations) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= locations + 64) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, locations + 64);
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Result<std::unique_ptr<Otf2Archive>> Otf2Archive::create(const Run& run, Otf2Contents contents,
                                                         const std::string& path) {
  std::unique_ptr<Otf2Archive> archive(new Otf2Archive(run, std::move(contents)));
  if (const Status opened = archive->open(path); !opened) return opened.error();
  return archive;
}

Otf2Archive::~Otf2Archive() {
  if (archive_ != nullptr) OTF2_Archive_Close(archive_);
  if (attributes_ != nullptr) OTF2_AttributeList_Delete(attributes_);
  OTF2_Error_RegisterCallback(nullptr, nullptr);
}

Status Otf2Archive::wrong(const std::string& doing) const {
  if (last_errno == ENOSPC || last_errno == EDQUOT || last_errno == EFBIG) return not_written(path_, last_errno);
  return Error{ErrorCode::io, "cannot write " + path_ + ": libotf2, " + doing + ": " +
                                  (last_words.empty() ? "no reason given" : last_words)};
}

void Otf2Archive::check(OTF2_ErrorCode code) {
  if (code_ == OTF2_SUCCESS) code_ = code;
}

Status Otf2Archive::open(const std::string& path) {
  path_ = path;
  last_words.clear();
  last_errno = 0;
  OTF2_Error_RegisterCallback(keep_words, nullptr);
  allow_files(contents_.locations());
  const std::uint64_t buffer = std::clamp<std::uint64_t>(most_buffers / std::max<std::size_t>(1, contents_.locations()),
                                                         OTF2_CHUNK_SIZE_MIN, OTF2_CHUNK_SIZE_EVENTS_DEFAULT);
  archive_ = OTF2_Archive_Open(path.c_str(), "traces", OTF2_FILEMODE_WRITE, buffer, OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT,
                               OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (archive_ == nullptr) return wrong("making the archive");
  attributes_ = OTF2_AttributeList_New();
  check(OTF2_Archive_SetFlushCallbacks(archive_, &flush_always, nullptr));
  check(OTF2_Archive_SetMemoryCallbacks(archive_, &few_chunks, nullptr));
  check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_));
  check(OTF2_Archive_SetCreator(archive_, "pclscope export"));
  check(OTF2_Archive_OpenEvtFiles(archive_));
  OTF2_CommRef number = 0;
  comms_[record::world_comm_id] = {number++, nullptr, false};
  comms_[record::self_comm_id] = {number++, nullptr, true};
  for (const auto& [id, members] : contents_.comms) comms_[id] = {number++, &members, false};
  locations_.resize(contents_.locations());
  for (std::int32_t rank = 0; rank < contents_.ranks; ++rank)
    for (std::uint16_t thread = 0; thread < contents_.threads[static_cast<std::size_t>(rank)]; ++thread) {
      Location& at = locations_[contents_.location(rank, thread)];
      at.rank = rank;
      at.thread = thread;
      at.writer = OTF2_Archive_GetEvtWriter(archive_, reference(rank, thread));
      if (at.writer == nullptr) return wrong("making a location's events");
    }
  sites_ = run_.snapshot.sites;
  std::stable_sort(sites_.begin(), sites_.end(), [](const CallSite& a, const CallSite& b) { return a.id < b.id; });
  std::erase_if(sites_, [](const CallSite& site) { return site.id == 0 || site.id > most_sites; });
  contexts_.assign(sites_.empty() ? 0 : std::size_t{sites_.back().id} + 1, OTF2_UNDEFINED_CALLING_CONTEXT);
  for (std::size_t i = 0; i < sites_.size(); ++i) contexts_[sites_[i].id] = static_cast<std::uint32_t>(i);
  return code_ == OTF2_SUCCESS ? Status{} : wrong("making the archive");
}

const Otf2Archive::Comm& Otf2Archive::comm_of(std::uint64_t id) const {
  const auto found = comms_.find(id);
  return found == comms_.end() ? comms_.at(record::world_comm_id) : found->second;
}

std::uint32_t Otf2Archive::rank_in(const Comm& comm, std::int32_t rank) const {
  if (comm.self) return 0;
  if (comm.members == nullptr) return static_cast<std::uint32_t>(rank);
  const auto at = std::lower_bound(comm.members->begin(), comm.members->end(), rank);
  return static_cast<std::uint32_t>(at - comm.members->begin());
}

OTF2_ErrorCode Otf2Archive::enter(Location& at, std::uint64_t time, const TraceEvent& event) {
  if (const std::uint32_t context = context_of(event.site); context != OTF2_UNDEFINED_CALLING_CONTEXT)
    check(OTF2_AttributeList_AddCallingContextRef(attributes_, 0, context));
  return OTF2_EvtWriter_Enter(at.writer, attributes_, time, region_of(event.function));
}

OTF2_ErrorCode Otf2Archive::put(Location& at, const TraceEvent& e) {
  // Rows of a damaged dump may overlap where a thread's calls do not.
  const std::uint64_t time = std::max(at.last, static_cast<std::uint64_t>(e.time - contents_.first_ns));
  at.last = time;
  ++at.events;
  const auto window = [&] { return contents_.windows.at(e.comm); };
  const Comm& comm = comm_of(e.comm);
  const auto peer = [&] { return rank_in(comm, e.peer); };
  const auto root = [&] { return e.peer < 0 ? static_cast<std::uint32_t>(OTF2_COLLECTIVE_ROOT_NONE) : peer(); };
  const auto tag = static_cast<std::uint32_t>(e.tag);
  const auto op = static_cast<OTF2_CollectiveOp>(std::max(0, collective_op_of(e.function)));
  const auto atomic = [&](OTF2_RmaAtomicType type, std::uint64_t back) {
    return OTF2_EvtWriter_RmaAtomic(at.writer, nullptr, time, window(), peer(), type, e.bytes, back, at.operations++);
  };
  OTF2_EvtWriter* const w = at.writer;
  switch (e.kind) {
    case TraceKind::enter: return enter(at, time, e);
    case TraceKind::leave: return OTF2_EvtWriter_Leave(w, nullptr, time, region_of(e.function));
    case TraceKind::send: return OTF2_EvtWriter_MpiSend(w, nullptr, time, peer(), comm.number, tag, e.bytes);
    case TraceKind::isend:
      return OTF2_EvtWriter_MpiIsend(w, nullptr, time, peer(), comm.number, tag, e.bytes, e.request);
    case TraceKind::isend_complete: return OTF2_EvtWriter_MpiIsendComplete(w, nullptr, time, e.request);
    case TraceKind::irecv_request: return OTF2_EvtWriter_MpiIrecvRequest(w, nullptr, time, e.request);
    case TraceKind::recv:
      if (e.first_come) check(OTF2_AttributeList_AddUint8(attributes_, 1, 1));
      return OTF2_EvtWriter_MpiRecv(w, attributes_, time, peer(), comm.number, tag, e.bytes);
    case TraceKind::irecv:
      return OTF2_EvtWriter_MpiIrecv(w, nullptr, time, peer(), comm.number, tag, e.bytes, e.request);
    case TraceKind::put: return OTF2_EvtWriter_RmaPut(w, nullptr, time, window(), peer(), e.bytes, at.operations++);
    case TraceKind::get: return OTF2_EvtWriter_RmaGet(w, nullptr, time, window(), peer(), e.bytes, at.operations++);
    case TraceKind::accumulate: return atomic(OTF2_RMA_ATOMIC_TYPE_ACCUMULATE, 0);
    case TraceKind::fetch_and_add: return atomic(OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE, e.bytes);
    case TraceKind::compare_and_swap: return atomic(OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP, e.bytes);
    case TraceKind::collective_begin: return OTF2_EvtWriter_MpiCollectiveBegin(w, nullptr, time);
    case TraceKind::collective_request: return OTF2_EvtWriter_NonBlockingCollectiveRequest(w, nullptr, time, e.request);
    case TraceKind::collective_end:
      return OTF2_EvtWriter_MpiCollectiveEnd(w, nullptr, time, op, comm.number, root(), e.bytes, 0);
    case TraceKind::collective_complete:
      return OTF2_EvtWriter_NonBlockingCollectiveComplete(w, nullptr, time, op, comm.number, root(), e.bytes, 0,
                                                          e.request);
    case TraceKind::metric: {
      const OTF2_Type type = OTF2_TYPE_UINT64;
      OTF2_MetricValue value{};
      value.unsigned_int = e.bytes;
      return OTF2_EvtWriter_Metric(w, nullptr, time, static_cast<OTF2_MetricRef>(e.state) - 1, 1, &type, &value);
    }
  }
  return OTF2_SUCCESS;
}

Status Otf2Archive::write(std::size_t location, const std::vector<TraceEvent>& events) {
  Location& at = locations_[location];
  for (const TraceEvent& event : events) {
    check(put(at, event));
    if (code_ != OTF2_SUCCESS) return wrong("writing events");
  }
  latest_ = std::max(latest_, at.last);
  return {};
}

std::uint64_t Otf2Archive::events() const {
  std::uint64_t all = 0;
  for (const Location& at : locations_) all += at.events;
  return all;
}

Status Otf2Archive::finish() {
  for (Location& at : locations_) check(OTF2_Archive_CloseEvtWriter(archive_, std::exchange(at.writer, nullptr)));
  check(OTF2_Archive_CloseEvtFiles(archive_));
  check(OTF2_Archive_OpenDefFiles(archive_));
  for (const Location& at : locations_)
    if (OTF2_DefWriter* const local = OTF2_Archive_GetDefWriter(archive_, reference(at.rank, at.thread)))
      check(OTF2_Archive_CloseDefWriter(archive_, local));
  check(OTF2_Archive_CloseDefFiles(archive_));
  definitions_ = OTF2_Archive_GetGlobalDefWriter(archive_);
  if (definitions_ == nullptr) return wrong("writing definitions");
  define_clock();
  define_places();
  define_comms();
  define_regions();
  define_paths();
  define_metrics();
  check(OTF2_Archive_CloseGlobalDefWriter(archive_, definitions_));
  const OTF2_ErrorCode closed = OTF2_Archive_Close(std::exchange(archive_, nullptr));
  check(closed);
  return code_ == OTF2_SUCCESS ? Status{} : wrong("closing the archive");
}

}  // namespace pclscope::exporting
