// Markers of the program: parts that it names (docs/markers.md). A program that was compiled with pclscope.h finds this
// function by its name, when it runs with the library.
#include <string.h>

#include "interpose/wrap/call_scope.hpp"

namespace pclscope {
namespace {

using record::MarkerKind;

// The names' bytes lie in fields that hold numbers: as they come.
struct NamePart {
  std::uint64_t words[3] = {0, 0, 0};
  NamePart(const char* name, std::size_t bytes) { memcpy(words, name, bytes); }
};

void write_marker(Recorder& r, MarkerKind kind, const char* name, std::size_t length, std::int64_t number) {
  const std::uint64_t t = now();
  const auto write = [&](MarkerKind what, const NamePart& part, std::uint64_t ordinal, std::size_t bytes) {
    return r.write(EventKind::marker, Function::none, t, t, 0, part.words[0], part.words[1], ordinal,
                   static_cast<std::int32_t>(bytes), static_cast<std::int32_t>(what), 0);
  };
  while (length > record::marker_name_last) {
    const std::size_t bytes = length < record::marker_name_part ? length : record::marker_name_part;
    const NamePart part(name, bytes);
    if (!write(MarkerKind::name_part, part, part.words[2], bytes)) return;
    name += bytes;
    length -= bytes;
  }
  write(kind, NamePart(name, length), static_cast<std::uint64_t>(number), length);
}

}  // namespace
}  // namespace pclscope

// `length` below 0: the name ends with a zero byte; else blanks at its end are Fortran's.
extern "C" __attribute__((visibility("default"))) void pclscope_marker(int kind, const char* name, long length,
                                                                       long long number) {
  using namespace pclscope;
  if (!process.known || !process.recording.load(std::memory_order_relaxed) || name == nullptr) return;
  if (kind < static_cast<int>(MarkerKind::begin) || kind > static_cast<int>(MarkerKind::iteration)) return;
  std::size_t bytes = length < 0 ? strnlen(name, record::most_marker_name) : static_cast<std::size_t>(length);
  while (length > 0 && bytes > 0 && name[bytes - 1] == ' ') --bytes;
  if (bytes > record::most_marker_name) bytes = record::most_marker_name;
  if (bytes == 0) return;
  Recorder* const r = recorder();
  const CallEnd end(r);
  if (r != nullptr) write_marker(*r, static_cast<MarkerKind>(kind), name, bytes, number);
}
