#include "analysis/wire/last_words.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analysis/wire/decode.hpp"
#include "analysis/wire/encode.hpp"
#include "analysis/wire/frame.hpp"

namespace pclscope::wire {
namespace {

constexpr const char* memory_name = "pclscope-last-words";

bool is_for_last_words(const std::string& link) {
  char target[64];
  const ssize_t length = ::readlink(link.c_str(), target, sizeof target);
  return length > 0 &&
         std::string(target, static_cast<std::size_t>(length)).rfind(std::string("/memfd:") + memory_name, 0) == 0;
}

bool write_all(int file, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

LastWords::LastWords() : file_(::memfd_create(memory_name, MFD_CLOEXEC)) {}

LastWords::~LastWords() {
  if (file_ >= 0) ::close(file_);
}

std::string LastWords::path() const {
  return file_ < 0 ? std::string() : "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file_);
}

std::optional<Snapshot> LastWords::read() const {
  struct stat status {};
  if (file_ < 0 || ::fstat(file_, &status) != 0) return std::nullopt;
  if (status.st_size <= 0 || static_cast<std::uint64_t>(status.st_size) > limit::frame_bytes) return std::nullopt;
  std::vector<std::uint8_t> frame(static_cast<std::size_t>(status.st_size));
  for (std::size_t at = 0; at < frame.size();) {
    const ssize_t got = ::pread(file_, frame.data() + at, frame.size() - at, static_cast<off_t>(at));
    if (got <= 0) return std::nullopt;
    at += static_cast<std::size_t>(got);
  }
  auto snapshot = decode_snapshot(frame);
  return snapshot ? std::optional<Snapshot>(std::move(*snapshot)) : std::nullopt;
}

bool write_last_words(const std::string& path, const Snapshot& snapshot) {
  if (!is_for_last_words(path)) return false;
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  Encoder encoder;
  const bool written =
      is_for_last_words("/proc/self/fd/" + std::to_string(file)) && write_all(file, encoder.snapshot(snapshot));
  ::close(file);
  return written;
}

}  // namespace pclscope::wire
