// Writes an archive by libotf2: the one place of this folder that sees it. One thread.
#pragma once

#include <otf2/otf2.h>

#include <cstdarg>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "viewer/export/otf2_contents.hpp"
#include "viewer/export/otf2_events.hpp"

namespace pclscope::exporting {

class Otf2Archive {
 public:
  // Fails with io, no_space: libotf2's words.
  static Result<std::unique_ptr<Otf2Archive>> create(const Run& run, Otf2Contents contents, const std::string& path);
  ~Otf2Archive();
  Otf2Archive(const Otf2Archive&) = delete;

  Status write(std::size_t location, const std::vector<TraceEvent>& events);
  // Definitions, and all to the disk.
  Status finish();
  std::uint64_t events() const;

 private:
  struct Comm {
    OTF2_CommRef number = 0;
    const std::vector<std::int32_t>* members = nullptr;  // nullptr: all ranks; ranks are their own numbers
    bool self = false;
  };
  struct Location {
    OTF2_EvtWriter* writer = nullptr;
    std::uint64_t last = 0, events = 0;
    std::uint64_t operations = 0;  // one-sided
    std::int32_t rank = 0;
    std::uint16_t thread = 0;
  };
  Otf2Archive(const Run& run, Otf2Contents contents) : run_(run), contents_(std::move(contents)) {}
  Status open(const std::string& path);
  Status wrong(const std::string& doing) const;
  const Comm& comm_of(std::uint64_t id) const;
  std::uint32_t rank_in(const Comm& comm, std::int32_t rank) const;
  OTF2_ErrorCode put(Location& at, const TraceEvent& event);
  OTF2_ErrorCode enter(Location& at, std::uint64_t time, const TraceEvent& event);
  OTF2_RegionRef region_of(std::uint16_t function) const {
    const std::int32_t region = function < contents_.regions.size() ? contents_.regions[function] : -1;
    return region < 0 ? OTF2_UNDEFINED_REGION : static_cast<OTF2_RegionRef>(region);
  }
  std::uint32_t context_of(std::uint64_t site) const {
    return site < contexts_.size() ? contexts_[site] : OTF2_UNDEFINED_CALLING_CONTEXT;
  }
  OTF2_StringRef text(const std::string& text);
  void define_clock();
  void define_places();
  void define_comms();
  void define_regions();
  void define_paths();
  void define_metrics();
  void check(OTF2_ErrorCode code);

  const Run& run_;
  Otf2Contents contents_;
  OTF2_Archive* archive_ = nullptr;
  OTF2_AttributeList* attributes_ = nullptr;
  OTF2_GlobalDefWriter* definitions_ = nullptr;
  std::map<std::uint64_t, Comm> comms_;
  std::vector<Location> locations_;
  std::vector<CallSite> sites_;          // by id
  std::vector<std::uint32_t> contexts_;  // calling contexts, by site's id; undefined: none
  std::map<std::string, OTF2_StringRef> texts_;
  std::uint64_t latest_ = 0;
  std::string words_;  // libotf2's, of its first error
  OTF2_ErrorCode code_ = OTF2_SUCCESS;
  std::string path_;
};

}  // namespace pclscope::exporting
