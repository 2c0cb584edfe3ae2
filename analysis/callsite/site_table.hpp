// Return addresses and call paths become call sites. Every process has its modules elsewhere (ASLR): (rank, address)
// leads to a module and an address in it, and that, with the site it was called from, to an id, which is the same for
// all ranks, dense, and never changes. A caller's id is lower. 0: unknown.
// Names and lines are found elsewhere and later (line_finder.hpp).
//
// One thread owns a SiteTable. Memory: 16 KiB per process, and the sites, of which there are at most a million.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/callsite/process_maps.hpp"
#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/mpi_call.hpp"
#include "interpose/record/event.hpp"

namespace pclscope::callsite {

struct Module {
  std::string path;
  std::string build_id;   // hexadecimal, empty when the file has none
  bool readable = false;  // the file at `path` is the one that was mapped
};

struct Site {
  std::uint32_t module = 0;        // index into modules()
  std::uint16_t mpi_function = 0;  // the first that was called from here, 0 unknown (functions.def)
  std::uint64_t offset = 0;        // of the return address: its link-time address in the module
  std::uint32_t caller = 0;        // id of the site from where the function around it was called; 0 unknown
};

class SiteTable {
 public:
  static constexpr std::size_t most_sites = 1'000'000;

  SiteTable();
  ~SiteTable();

  // `rank` is recorded in process `pid` of this node. `executable` is what the process says it runs: when another
  // process has that number (a foreign pid namespace), its sites stay unknown. Once per process suffices.
  void add_process(std::int32_t rank, std::uint32_t pid, const std::string& executable);

  // What the rank's process tells of its call paths (interpose/record/FORMAT.md), before any of their keys is asked
  // for.
  void add_paths(std::int32_t rank, std::span<const record::Event> events);

  // The id of the site behind a return address, or the key of a path, in this rank's process. A few ns once it has been
  // seen.
  std::uint32_t site_of(std::int32_t rank, std::uint64_t address, std::uint16_t mpi_function = 0) {
    const auto index = static_cast<std::size_t>(rank);
    if (address == 0 || index >= processes_.size() || !processes_[index]) return 0;
    const Recent& recent = processes_[index]->recent[slot_of(address)];
    return recent.address == address ? recent.id : find(*processes_[index], address, mpi_function);
  }

  // Replaces the sites of freshly matched messages (site_key.hpp) by ids.
  void translate(std::span<Message> messages);
  void translate(std::span<CollectiveCall> calls);
  void translate(std::span<MpiCall> calls);  // addresses, or keys of paths

  std::uint32_t size() const { return static_cast<std::uint32_t>(sites_.size()); }
  const Site& site(std::uint32_t id) const { return sites_[id - 1]; }  // 1 .. size()
  const std::vector<Module>& modules() const { return modules_; }

 private:
  static constexpr unsigned slot_bits = 10;
  struct Recent {
    std::uint64_t address = 0;
    std::uint32_t id = 0;
  };
  struct Process {
    std::vector<Recent> recent;  // direct-mapped: at most one address per slot
    std::unordered_map<std::uint64_t, std::uint32_t> known;
    ProcessMaps maps;
    std::vector<std::uint32_t> module_of;                                 // of the maps' files: index into modules_
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> paths;  // return addresses, innermost first, by key
  };
  static std::size_t slot_of(std::uint64_t address) {
    return static_cast<std::size_t>(address * 0x9e3779b97f4a7c15ull >> (64 - slot_bits));
  }

  std::uint32_t find(Process& process, std::uint64_t address, std::uint16_t mpi_function);
  // 0 where it is not known; `certain`: nor will it be.
  std::uint32_t id_of(Process& process, std::uint64_t address, std::uint16_t mpi_function, std::uint32_t caller,
                      bool& certain);
  std::uint32_t module_of(Process& process, std::uint32_t file);

  struct Place {
    std::uint64_t offset;
    std::uint32_t module, caller;
    bool operator==(const Place&) const = default;
  };
  struct PlaceHash {
    std::size_t operator()(const Place& place) const {
      return static_cast<std::size_t>((place.offset + place.module + (std::uint64_t{place.caller} << 40)) *
                                      0x9e3779b97f4a7c15ull);
    }
  };

  std::vector<std::unique_ptr<Process>> processes_;  // by rank
  std::vector<Module> modules_;
  std::unordered_map<std::string, std::uint32_t> module_ids_;  // by path and build-id
  std::unordered_map<Place, std::uint32_t, PlaceHash> ids_;
  std::vector<Site> sites_;  // by id - 1
};

}  // namespace pclscope::callsite
