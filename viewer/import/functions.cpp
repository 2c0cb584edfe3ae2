#include "viewer/import/functions.hpp"

#include <cctype>
#include <string>
#include <unordered_map>

#include "interpose/record/event.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope::importing {
namespace {

std::string lower(std::string_view text) {
  std::string to(text);
  for (char& c : to) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return to;
}

const std::unordered_map<std::string, std::uint16_t>& numbers() {
  static const auto all = [] {
    std::unordered_map<std::string, std::uint16_t> map;
#define PCLSCOPE_FUNCTION(number, name) map.emplace(lower("MPI_" #name), number);
#include "interpose/record/functions.def"
#undef PCLSCOPE_FUNCTION
    return map;
  }();
  return all;
}

}  // namespace

std::uint16_t function_named(std::string_view name) {
  if (const auto end = name.find_first_of("( \t"); end != std::string_view::npos) name = name.substr(0, end);
  if (name.size() < 5 || name.size() > 64) return 0;
  std::string plain = lower(name);
  if (plain.starts_with("pmpi_")) plain.erase(0, 1);
  if (!plain.starts_with("mpi_")) return 0;
  while (plain.ends_with('_')) plain.pop_back();
  for (const std::string_view ending : {"_f08ts", "_f08"})
    if (plain.ends_with(ending)) plain.erase(plain.size() - ending.size());
  const auto at = numbers().find(plain);
  return at == numbers().end() ? 0 : at->second;
}

std::uint32_t send_flags(std::uint16_t function, bool event_says_nonblocking) {
  namespace flag = record::flag;
  const std::string_view name = record::function_name(function);
  std::uint32_t flags = 0;
  if (name.find("ssend") != name.npos || name.find("Ssend") != name.npos) flags |= flag::synchronous;
  if (name.find("bsend") != name.npos || name.find("Bsend") != name.npos) flags |= flag::buffered;
  if (name.find("rsend") != name.npos || name.find("Rsend") != name.npos) flags |= flag::ready;
  if (name.starts_with("MPI_Start")) return flags | flag::persistent;
  if (event_says_nonblocking || name.starts_with("MPI_I")) flags |= flag::nonblocking;
  return flags;
}

CallKind kind_of(std::uint16_t function) {
  const std::string_view name = record::function_name(function);
  if (name == "MPI_Init" || name == "MPI_Init_thread" || name == "MPI_Session_init") return CallKind::init;
  if (name == "MPI_Finalize" || name == "MPI_Session_finalize") return CallKind::finalize;
  if (name.starts_with("MPI_Win_")) return CallKind::one_sided;
  if (name.starts_with("MPI_File_")) return CallKind::file;
  return CallKind::plain;
}

bool is_prefix_scan(std::uint16_t function) {
  const std::string_view name = record::function_name(function);
  return name.find("Scan") != name.npos || name.find("scan") != name.npos;
}

}  // namespace pclscope::importing
