// An ELF file of this machine's kind: its headers, and reads within its bounds. Any file may be handed in, a pipe or a
// damaged one too: none makes us wait or crash. Private to analysis/elf.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pclscope::elf {

inline constexpr std::uint64_t most_table_bytes = 64u << 20;  // larger tables are not believed

class File {
 public:
  explicit File(const std::string& path);  // of no regular file nothing can be read
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool read(std::uint64_t offset, void* to, std::uint64_t bytes) const;
  bool holds(std::uint64_t offset, std::uint64_t bytes) const { return offset <= size_ && bytes <= size_ - offset; }
  template <class T>
  std::optional<std::vector<T>> table(std::uint64_t offset, std::uint64_t bytes) const {
    if (bytes > most_table_bytes || !holds(offset, bytes)) return std::nullopt;
    std::vector<T> entries(bytes / sizeof(T));
    if (!read(offset, entries.data(), entries.size() * sizeof(T))) return std::nullopt;
    return entries;
  }

  // Nothing: no ELF file of this machine's word size and byte order, or cut off before their end.
  std::optional<std::vector<Elf64_Phdr>> program_headers() const;
  bool has_magic() const;

 private:
  int fd_;
  std::uint64_t size_ = 0;
};

}  // namespace pclscope::elf
