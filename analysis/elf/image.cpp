#include "analysis/elf/image.hpp"

#include <elf.h>

#include <cstring>

#include "analysis/elf/file.hpp"

namespace pclscope::elf {
namespace {

constexpr std::uint64_t most_notes = 1 << 16;

std::string hexadecimal(const unsigned char* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; i++) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

// Notes are records of a header, a name and a description, the latter two padded to 4 bytes.
std::string build_id_in(const std::vector<unsigned char>& notes) {
  std::size_t at = 0;
  while (notes.size() - at >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;
    std::memcpy(&header, notes.data() + at, sizeof header);
    at += sizeof header;
    const std::uint64_t name = (std::uint64_t{header.n_namesz} + 3) & ~3ull;
    const std::uint64_t description = (std::uint64_t{header.n_descsz} + 3) & ~3ull;
    if (name > notes.size() - at || description > notes.size() - at - name) break;
    const bool gnu = header.n_namesz == 4 && std::memcmp(notes.data() + at, "GNU", 4) == 0;
    if (gnu && header.n_type == NT_GNU_BUILD_ID && header.n_descsz > 0 && header.n_descsz <= 64) {
      return hexadecimal(notes.data() + at + name, header.n_descsz);
    }
    at += name + description;
  }
  return {};
}

}  // namespace

std::uint64_t ElfImage::address_of(std::uint64_t file_offset) const {
  for (const Segment& s : segments) {
    if (file_offset >= s.file_offset && file_offset - s.file_offset < s.bytes) {
      return s.address + (file_offset - s.file_offset);
    }
  }
  return file_offset;
}

std::optional<ElfImage> read_elf_image(const std::string& path) {
  const File file(path);
  const auto headers = file.program_headers();
  if (!headers) return std::nullopt;
  ElfImage image;
  for (const Elf64_Phdr& h : *headers) {
    if (h.p_type == PT_LOAD) image.segments.push_back({h.p_offset, h.p_vaddr, h.p_filesz});
    if (h.p_type != PT_NOTE || !image.build_id.empty() || h.p_filesz > most_notes) continue;
    std::vector<unsigned char> notes(h.p_filesz);
    if (file.read(h.p_offset, notes.data(), notes.size())) image.build_id = build_id_in(notes);
  }
  if (image.segments.empty()) return std::nullopt;
  return image;
}

}  // namespace pclscope::elf
