// What the dynamic section of an ELF file says. Reads with bounds checks: any file may be handed in.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pclscope::elf {

struct ElfFile {
  std::vector<std::string> needed;   // DT_NEEDED in order
  std::vector<std::string> rpath;    // DT_RPATH, split at colons; counts only without a runpath
  std::vector<std::string> runpath;  // DT_RUNPATH
  std::string soname;
  std::string strings;   // the dynamic string table: names of all dynamic symbols, each ended by '\0'
  bool dynamic = false;  // has a dynamic section

  // Does a dynamic symbol of exactly this name occur (defined or wanted)?
  bool names(std::string_view symbol) const;
};

// Nothing when the file cannot be read, is no ELF file of this machine's word size and byte order, or is cut off or
// inconsistent where we have to read.
std::optional<ElfFile> read_elf(const std::string& path);

// The file begins like an ELF file, readable by read_elf or not.
bool looks_like_elf(const std::string& path);

}  // namespace pclscope::elf
