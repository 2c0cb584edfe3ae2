#include "analysis/callsite/process_maps.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <string_view>

namespace pclscope::callsite {
namespace {

constexpr std::chrono::milliseconds read_every{100};
constexpr std::size_t most_bytes = std::size_t{64} << 20;  // of a maps file
constexpr std::string_view deleted_mark = " (deleted)";

std::string link_target(int directory, const char* name) {
  std::array<char, 4096> target;
  const ssize_t length = ::readlinkat(directory, name, target.data(), target.size());
  return length > 0 ? std::string(target.data(), static_cast<std::size_t>(length)) : std::string();
}

// The kernel writes a line break in a path as \012.
std::string unescaped(std::string_view path) {
  constexpr std::string_view escape = "\\012";
  std::string text;
  while (!path.empty()) {
    const bool line_break = path.starts_with(escape);
    text += line_break ? '\n' : path[0];
    path.remove_prefix(line_break ? escape.size() : 1);
  }
  return text;
}

}  // namespace

ProcessMaps::~ProcessMaps() {
  if (directory_ >= 0) ::close(directory_);
}

bool ProcessMaps::attach(std::uint32_t pid, const std::string& executable) {
  const std::string name = "/proc/" + std::to_string(pid);
  directory_ = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory_ < 0) return false;
  // The process wrote down what it could hold of the path.
  if (!executable.empty() && !link_target(directory_, "exe").starts_with(executable)) {
    ::close(directory_);
    directory_ = -1;
    return false;
  }
  return read();
}

bool ProcessMaps::read() {
  last_read_ = std::chrono::steady_clock::now();
  const int file = ::openat(directory_, "maps", O_RDONLY | O_CLOEXEC);
  std::string text;
  if (file >= 0) {
    std::array<char, 1 << 16> buffer;
    ssize_t length = 0;
    while (text.size() < most_bytes && (length = ::read(file, buffer.data(), buffer.size())) > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(length));
    }
    ::close(file);
  }
  if (text.empty()) {  // gone, or never ours
    ::close(directory_);
    directory_ = -1;
    return false;
  }
  take(text);
  return true;
}

void ProcessMaps::take(const std::string& maps) {
  for (std::size_t at = 0; at < maps.size();) {
    const std::size_t end = std::min(maps.find('\n', at), maps.size());
    take_line(maps.substr(at, end - at));
    at = end + 1;
  }
}

// begin-end perms offset device inode    path
void ProcessMaps::take_line(const std::string& line) {
  std::uint64_t begin = 0, end = 0, offset = 0;
  char rights[5] = "";
  int path_at = 0;
  const int fields = std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &begin, &end,
                                 rights, &offset, &path_at);
  if (fields != 4 || begin >= end || rights[2] != 'x') return;
  forget(begin, end);
  std::string path = unescaped(std::string_view(line).substr(static_cast<std::size_t>(path_at)));
  if (path.empty() || path[0] != '/') return;  // anonymous, [vdso] ...
  const bool deleted = path.ends_with(deleted_mark);
  if (deleted) path.resize(path.size() - deleted_mark.size());
  ranges_[begin] = {end, offset, file_of(path, deleted)};
}

// What was mapped there before is not any more; ranges elsewhere stay, since events of before may still come.
void ProcessMaps::forget(std::uint64_t begin, std::uint64_t end) {
  auto at = ranges_.upper_bound(begin);
  if (at != ranges_.begin() && std::prev(at)->second.end > begin) --at;
  while (at != ranges_.end() && at->first < end) at = ranges_.erase(at);
}

std::uint32_t ProcessMaps::file_of(const std::string& path, bool deleted) {
  const auto known = std::find_if(files_.begin(), files_.end(),
                                  [&](const MappedFile& f) { return f.deleted == deleted && f.path == path; });
  if (known != files_.end()) return static_cast<std::uint32_t>(known - files_.begin());
  MappedFile& file = files_.emplace_back();
  file.path = path;
  file.deleted = deleted;
  if (!deleted) file.image = elf::read_elf_image(path).value_or(elf::ElfImage{});
  return static_cast<std::uint32_t>(files_.size() - 1);
}

std::optional<MappedAddress> ProcessMaps::look_up(std::uint64_t address) const {
  auto at = ranges_.upper_bound(address);
  if (at == ranges_.begin()) return std::nullopt;
  --at;
  const Range& range = at->second;
  if (address >= range.end) return std::nullopt;
  const std::uint64_t file_offset = address - at->first + range.file_offset;
  return MappedAddress{range.file, files_[range.file].image.address_of(file_offset)};
}

bool ProcessMaps::may_read() {
  if (directory_ < 0) return false;
  if (reads_left_ > 0) {
    --reads_left_;
    return true;
  }
  return std::chrono::steady_clock::now() - last_read_ >= read_every;
}

std::optional<MappedAddress> ProcessMaps::locate(std::uint64_t address, bool& certain) {
  certain = true;
  if (const auto place = look_up(address)) return place;
  if (may_read()) {
    read();
    return look_up(address);
  }
  certain = directory_ < 0;
  return std::nullopt;
}

}  // namespace pclscope::callsite
