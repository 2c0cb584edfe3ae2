#include "viewer/launch/elf.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cstring>

namespace pclscope::launch {
namespace {

constexpr std::uint64_t most_table_bytes = 64u << 20;  // larger tables are not believed

class File {
 public:
  // O_NONBLOCK: a named pipe must not make us wait.
  explicit File(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (fd_ >= 0 && ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode)) {
      size_ = static_cast<std::uint64_t>(status.st_size);
    }
  }
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool read(std::uint64_t offset, void* to, std::uint64_t bytes) const {
    if (offset > size_ || bytes > size_ - offset) return false;
    return ::pread(fd_, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  }
  template <class T>
  std::optional<std::vector<T>> table(std::uint64_t offset, std::uint64_t bytes) const {
    if (bytes > most_table_bytes || offset > size_ || bytes > size_ - offset) return std::nullopt;
    std::vector<T> entries(bytes / sizeof(T));
    if (!read(offset, entries.data(), entries.size() * sizeof(T))) return std::nullopt;
    return entries;
  }

 private:
  int fd_;
  std::uint64_t size_ = 0;
};

std::optional<Elf64_Ehdr> header_of(const File& file) {
  Elf64_Ehdr header{};
  if (!file.read(0, &header, sizeof header)) return std::nullopt;
  constexpr unsigned char order = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  const bool ours = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
                    header.e_ident[EI_DATA] == order && header.e_phentsize == sizeof(Elf64_Phdr);
  return ours ? std::optional(header) : std::nullopt;
}

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
  const auto header = header_of(file);
  if (!header) return std::nullopt;
  const auto segments = file.table<Elf64_Phdr>(header->e_phoff, std::uint64_t{header->e_phnum} * sizeof(Elf64_Phdr));
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

bool looks_like_elf(const std::string& path) {
  char magic[SELFMAG] = {};
  return File(path).read(0, magic, sizeof magic) && std::memcmp(magic, ELFMAG, SELFMAG) == 0;
}

}  // namespace pclscope::launch
