// Which file a process has mapped where, from /proc/PID/maps. One thread owns a ProcessMaps.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/elf/image.hpp"

namespace pclscope::callsite {

struct MappedFile {
  std::string path;
  bool deleted = false;  // what lies at `path` now is another file
  elf::ElfImage image;   // empty when the file could not be read
};

struct MappedAddress {
  std::uint32_t file = 0;    // index into ProcessMaps::files()
  std::uint64_t offset = 0;  // link-time address
};

class ProcessMaps {
 public:
  ProcessMaps() = default;
  ~ProcessMaps();
  ProcessMaps(const ProcessMaps&) = delete;
  ProcessMaps& operator=(const ProcessMaps&) = delete;

  // Takes hold of the process: if its number goes to another one later, that is not mistaken for it. False when there
  // is no such process, or when it does not run `executable` (empty: do not check).
  bool attach(std::uint32_t pid, const std::string& executable);

  // Where an address lies. Files that were mapped later (dlopen) are found by reading again, at most 16 times at once
  // and then once per 100 ms. `certain`: asking again would not help.
  std::optional<MappedAddress> locate(std::uint64_t address, bool& certain);

  const std::vector<MappedFile>& files() const { return files_; }

  // The text of a maps file, for tests; locate() does not read any more then.
  void take(const std::string& maps);

 private:
  struct Range {
    std::uint64_t end;
    std::uint64_t file_offset;  // of the range's begin
    std::uint32_t file;
  };
  bool read();
  void take_line(const std::string& line);
  std::uint32_t file_of(const std::string& path, bool deleted);
  void forget(std::uint64_t begin, std::uint64_t end);
  std::optional<MappedAddress> look_up(std::uint64_t address) const;
  bool may_read();

  int directory_ = -1;  // /proc/PID
  std::vector<MappedFile> files_;
  std::map<std::uint64_t, Range> ranges_;  // executable ones, by begin
  int reads_left_ = 16;
  std::chrono::steady_clock::time_point last_read_{};
};

}  // namespace pclscope::callsite
