#include "analysis/elf/dynamic.hpp"

#include <elf.h>

#include <algorithm>

#include "analysis/elf/file.hpp"

namespace pclscope::elf {
namespace {

// File offset of a virtual address, by the loaded segments.
std::optional<std::uint64_t> offset_of(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
  for (const Elf64_Phdr& s : segments) {
    if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz) {
      return s.p_offset + (address - s.p_vaddr);
    }
  }
  return std::nullopt;
}

std::string string_at(const std::string& strings, std::uint64_t at) {
  if (at >= strings.size()) return "";
  const auto end = strings.find('\0', at);
  return strings.substr(at, end == std::string::npos ? end : end - at);
}

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= path.size();) {
    const auto colon = std::min(path.find(':', at), path.size());
    if (colon > at) parts.push_back(path.substr(at, colon - at));
    at = colon + 1;
  }
  return parts;
}

bool read_dynamic(const File& file, const std::vector<Elf64_Phdr>& segments, const Elf64_Phdr& dynamic, ElfFile& elf) {
  const auto entries = file.table<Elf64_Dyn>(dynamic.p_offset, dynamic.p_filesz);
  if (!entries) return false;
  std::uint64_t strings_address = 0;
  std::uint64_t strings_bytes = 0;
  for (const Elf64_Dyn& entry : *entries) {
    if (entry.d_tag == DT_STRTAB) strings_address = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) strings_bytes = entry.d_un.d_val;
    if (entry.d_tag == DT_NULL) break;
  }
  const auto offset = offset_of(segments, strings_address);
  if (!offset) return false;
  const auto strings = file.table<char>(*offset, strings_bytes);
  if (!strings) return false;
  elf.strings.assign(strings->begin(), strings->end());
  for (const Elf64_Dyn& entry : *entries) {
    if (entry.d_tag == DT_NULL) break;
    const std::string value = string_at(elf.strings, entry.d_un.d_val);
    if (entry.d_tag == DT_NEEDED && !value.empty()) elf.needed.push_back(value);
    if (entry.d_tag == DT_SONAME) elf.soname = value;
    if (entry.d_tag == DT_RPATH) elf.rpath = split_path(value);
    if (entry.d_tag == DT_RUNPATH) elf.runpath = split_path(value);
  }
  return true;
}

}  // namespace

bool ElfFile::names(std::string_view symbol) const {
  const std::string_view all = strings;
  for (auto at = all.find(symbol); at != std::string_view::npos; at = all.find(symbol, at + 1)) {
    const auto end = at + symbol.size();
    if ((at == 0 || all[at - 1] == '\0') && end < all.size() && all[end] == '\0') return true;
  }
  return false;
}

std::optional<ElfFile> read_elf(const std::string& path) {
  const File file(path);
  const auto segments = file.program_headers();
  if (!segments) return std::nullopt;
  ElfFile elf;
  for (const Elf64_Phdr& segment : *segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    elf.dynamic = true;
    if (!read_dynamic(file, *segments, segment, elf)) return std::nullopt;
    break;
  }
  return elf;
}

bool looks_like_elf(const std::string& path) { return File(path).has_magic(); }

}  // namespace pclscope::elf
