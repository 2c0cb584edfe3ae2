#include "viewer/layout/function_colours.hpp"

#include <array>
#include <string_view>

#include "interpose/record/functions.hpp"

namespace pclscope::layout {
namespace {

constexpr std::size_t most_functions = 1024;

bool has(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

struct Known {
  std::string_view name;
  Rgba colour;
};
// The frequent ones, by hand.
constexpr Known known[] = {
    {"MPI_Send", {230, 159, 0}},         {"MPI_Isend", {255, 199, 95}},      {"MPI_Recv", {86, 180, 233}},
    {"MPI_Irecv", {166, 216, 245}},      {"MPI_Sendrecv", {0, 114, 178}},    {"MPI_Wait", {0, 158, 115}},
    {"MPI_Waitall", {30, 130, 95}},      {"MPI_Waitany", {110, 205, 175}},   {"MPI_Barrier", {213, 94, 0}},
    {"MPI_Allreduce", {204, 121, 167}},  {"MPI_Bcast", {150, 90, 180}},      {"MPI_Reduce", {230, 170, 210}},
    {"MPI_Alltoall", {120, 60, 130}},    {"MPI_Allgather", {180, 130, 210}}, {"MPI_Init", {84, 100, 150}},
    {"MPI_Init_thread", {84, 100, 150}}, {"MPI_Finalize", {56, 66, 105}},
};

Rgba kind_colour(std::string_view name) {
  if (has(name, "Win_") || has(name, "Put") || has(name, "Get_acc") || has(name, "Rget") || has(name, "Rput") ||
      name == "MPI_Get" || has(name, "Fetch") || has(name, "ccumulate"))
    return {240, 228, 66};
  if (has(name, "File_")) return {150, 100, 60};
  if (has(name, "Init") || has(name, "Finalize") || has(name, "Session")) return {120, 135, 165};
  if (has(name, "Wait") || has(name, "Test")) return {0, 158, 115};
  if (has(name, "arrier")) return {213, 94, 0};
  if (has(name, "Sendrecv")) return {0, 114, 178};
  if (has(name, "send") || has(name, "Send") || has(name, "Start") || has(name, "Psend")) return {230, 159, 0};
  if (has(name, "recv") || has(name, "Recv") || has(name, "robe")) return {86, 180, 233};
  if (has(name, "Comm_") || has(name, "Group_") || has(name, "Cart")) return {140, 160, 120};
  return {204, 121, 167};  // collectives
}

Rgba colour_of(std::uint16_t function) {
  const std::string_view name = record::function_name(function);
  for (const Known& k : known)
    if (k.name == name) return k.colour;
  // Darker or lighter by its number.
  const Rgba kind = kind_colour(name);
  const float by = static_cast<float>(function % 5) / 10;
  return function % 2 == 0 ? mix(kind, {255, 255, 255}, by) : mix(kind, {40, 40, 40}, by);
}

}  // namespace

Rgba function_colour(std::uint16_t function) {
  static const auto table = [] {
    std::array<Rgba, most_functions> all{};
    for (std::size_t f = 0; f < all.size(); ++f) all[f] = colour_of(static_cast<std::uint16_t>(f));
    return all;
  }();
  return table[function < table.size() ? function : 0];
}

Rgba outside_colour(const Palette& palette) {
  return palette.theme == Theme::dark ? Rgba{120, 123, 130} : Rgba{214, 216, 220};
}

}  // namespace pclscope::layout
