#include "analysis/callsite/elf_image.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace pclscope::callsite {
namespace {

constexpr std::size_t most_headers = 512;
constexpr std::uint64_t most_notes = 1 << 16;

class File {
 public:
  // Not blocking: what lies at the path may be a pipe.
  explicit File(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  bool regular() const {
    struct stat status {};
    return fd_ >= 0 && ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
  }
  bool read(std::uint64_t at, void* to, std::size_t size) const {
    return at <= INT64_MAX && ::pread(fd_, to, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size);
  }

 private:
  int fd_;
};

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
  Elf64_Ehdr header;
  if (!file.regular() || !file.read(0, &header, sizeof header)) return std::nullopt;
  const bool ours = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
                    header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_phentsize == sizeof(Elf64_Phdr) &&
                    header.e_phnum > 0 && header.e_phnum <= most_headers;
  if (!ours) return std::nullopt;
  std::vector<Elf64_Phdr> headers(header.e_phnum);
  if (!file.read(header.e_phoff, headers.data(), headers.size() * sizeof(Elf64_Phdr))) return std::nullopt;
  ElfImage image;
  for (const Elf64_Phdr& h : headers) {
    if (h.p_type == PT_LOAD) image.segments.push_back({h.p_offset, h.p_vaddr, h.p_filesz});
    if (h.p_type != PT_NOTE || !image.build_id.empty() || h.p_filesz > most_notes) continue;
    std::vector<unsigned char> notes(h.p_filesz);
    if (file.read(h.p_offset, notes.data(), notes.size())) image.build_id = build_id_in(notes);
  }
  if (image.segments.empty()) return std::nullopt;
  return image;
}

}  // namespace pclscope::callsite
