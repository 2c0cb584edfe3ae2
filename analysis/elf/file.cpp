#include "analysis/elf/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cstring>

namespace pclscope::elf {

// O_NONBLOCK: a named pipe must not make us wait.
File::File(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
  struct stat status {};
  if (fd_ >= 0 && ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode))
    size_ = static_cast<std::uint64_t>(status.st_size);
}

File::~File() {
  if (fd_ >= 0) ::close(fd_);
}

bool File::read(std::uint64_t offset, void* to, std::uint64_t bytes) const {
  return holds(offset, bytes) && ::pread(fd_, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

std::optional<std::vector<Elf64_Phdr>> File::program_headers() const {
  Elf64_Ehdr header{};
  if (!read(0, &header, sizeof header)) return std::nullopt;
  constexpr unsigned char order = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  const bool ours = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
                    header.e_ident[EI_DATA] == order && header.e_phentsize == sizeof(Elf64_Phdr);
  if (!ours) return std::nullopt;
  return table<Elf64_Phdr>(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
}

bool File::has_magic() const {
  char magic[SELFMAG] = {};
  return read(0, magic, sizeof magic) && std::memcmp(magic, ELFMAG, SELFMAG) == 0;
}

}  // namespace pclscope::elf
