#include "analysis/callsite/site_table.hpp"

#include "analysis/values/site_key.hpp"

namespace pclscope::callsite {
namespace {

constexpr std::size_t most_known = std::size_t{1} << 16;  // addresses remembered per process
constexpr std::size_t most_paths = std::size_t{1} << 16;  // the same of paths
constexpr std::uint32_t unknown_module = 0xffffffffu;

}  // namespace

SiteTable::SiteTable() = default;
SiteTable::~SiteTable() = default;

void SiteTable::add_process(std::int32_t rank, std::uint32_t pid, const std::string& executable) {
  if (rank < 0) return;
  const auto index = static_cast<std::size_t>(rank);
  if (index >= processes_.size()) processes_.resize(index + 1);
  if (processes_[index]) return;
  auto process = std::make_unique<Process>();
  process->recent.resize(std::size_t{1} << slot_bits);
  process->maps.attach(pid, executable);
  processes_[index] = std::move(process);
}

void SiteTable::translate(std::span<Message> messages) {
  struct End {  // neighbours are often of one channel
    std::int32_t rank = -1;
    std::uint64_t key = 0;
    std::uint32_t id = 0;
  };
  End send, recv;
  const auto name = [this](End& last, std::int32_t rank, std::uint64_t& site) {
    if (rank != last.rank || site != last.key) {
      last = {rank, site, site_of(rank, site_address(site), site_function(site))};
    }
    site = last.id;
  };
  for (Message& m : messages) {
    name(send, m.source, m.send_site);
    name(recv, m.destination, m.recv_site);
  }
}

void SiteTable::translate(std::span<CollectiveCall> calls) {
  for (CollectiveCall& c : calls) c.site = site_of(c.rank, site_address(c.site), site_function(c.site));
}

void SiteTable::translate(std::span<MpiCall> calls) {
  for (MpiCall& c : calls) c.site = site_of(c.rank, c.site & site_address_mask, c.function);
}

void SiteTable::add_paths(std::int32_t rank, std::span<const record::Event> events) {
  const auto index = static_cast<std::size_t>(rank);
  if (index >= processes_.size() || !processes_[index]) return;
  auto& paths = processes_[index]->paths;
  for (const record::Event& e : events) {
    const auto count = static_cast<std::size_t>(e.peer), first = static_cast<std::size_t>(e.tag);
    if (count == 0 || count > record::most_frames || first >= count) continue;
    if (paths.size() >= most_paths && !paths.contains(e.site)) continue;
    std::vector<std::uint64_t>& path = paths[e.site];
    path.resize(count);
    const std::uint64_t part[record::path_part] = {e.comm, e.bytes, e.ordinal};
    for (std::size_t i = first; i < count && i - first < record::path_part; ++i) path[i] = part[i - first];
  }
}

std::uint32_t SiteTable::find(Process& process, std::uint64_t address, std::uint16_t mpi_function) {
  const auto known = process.known.find(address);
  std::uint32_t id = 0;
  if (known != process.known.end()) {
    id = known->second;
  } else if (record::is_path(address)) {
    const auto path = process.paths.find(address);
    if (path == process.paths.end()) return 0;
    bool certain = true;
    for (auto frame = path->second.rbegin(); frame != path->second.rend(); ++frame) {
      const bool innermost = std::next(frame) == path->second.rend();
      const std::uint32_t outer = id;
      id = id_of(process, *frame, innermost ? mpi_function : std::uint16_t{0}, outer, certain);
      if (id == 0 && !certain) return 0;
      if (id == 0 && !innermost) id = outer;  // code of nobody's file, made at run time: left out
    }
    if (process.known.size() < most_known) process.known.emplace(address, id);
  } else {
    bool certain = false;
    id = id_of(process, address, mpi_function, 0, certain);
    if (id == 0 && !certain) return 0;
    if (process.known.size() < most_known) process.known.emplace(address, id);
  }
  process.recent[slot_of(address)] = {address, id};
  return id;
}

std::uint32_t SiteTable::id_of(Process& process, std::uint64_t address, std::uint16_t mpi_function,
                               std::uint32_t caller, bool& certain) {
  // The call lies before its return address: a call at the very end of a module returns to behind it.
  const auto place = process.maps.locate(address - 1, certain);
  if (!place) return 0;
  certain = true;
  const Place key{place->offset + 1, module_of(process, place->file), caller};
  const auto known = ids_.find(key);
  if (known != ids_.end()) return known->second;
  if (sites_.size() >= most_sites) return 0;
  sites_.push_back({key.module, mpi_function, key.offset, caller});
  return ids_[key] = static_cast<std::uint32_t>(sites_.size());
}

std::uint32_t SiteTable::module_of(Process& process, std::uint32_t file) {
  if (file >= process.module_of.size()) process.module_of.resize(file + 1, unknown_module);
  std::uint32_t& module = process.module_of[file];
  if (module != unknown_module) return module;
  const MappedFile& mapped = process.maps.files()[file];
  const bool readable = !mapped.deleted && !mapped.image.segments.empty();
  const std::string key = mapped.image.build_id + (readable ? ' ' : '?') + mapped.path;
  const auto [known, added] = module_ids_.try_emplace(key, static_cast<std::uint32_t>(modules_.size()));
  if (added) modules_.push_back({mapped.path, mapped.image.build_id, readable});
  return module = known->second;
}

}  // namespace pclscope::callsite
