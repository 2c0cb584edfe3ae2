// What is needed of an ELF file to tell where a mapped address was linked, and which build the file is. Reads a few
// kilobytes; damaged files give an error, never a crash.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pclscope::elf {

struct ElfImage {
  struct Segment {
    std::uint64_t file_offset;
    std::uint64_t address;
    std::uint64_t bytes;  // in the file
  };
  std::vector<Segment> segments;  // PT_LOAD
  std::string build_id;           // hexadecimal, empty when there is none

  // The link-time address of a place in the file; the place itself when no segment holds it.
  std::uint64_t address_of(std::uint64_t file_offset) const;
};

// Nothing when there is no such file, or no ELF file of this machine's kind in it.
std::optional<ElfImage> read_elf_image(const std::string& path);

}  // namespace pclscope::elf
