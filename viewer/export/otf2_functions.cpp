#include "viewer/export/otf2_functions.hpp"

#include <array>
#include <cctype>
#include <utility>

namespace pclscope::exporting {
namespace {

struct Operation {
  std::string_view name;
  int op, role;  // OTF2_COLLECTIVE_OP_*, OTF2_REGION_ROLE_*
};
constexpr int one_to_all = 23, all_to_one = 24, all_to_all = 25, other = 26, file_io = 27, point_to_point = 28,
              one_sided = 29, barrier = 15, function_role = 1;
constexpr Operation operations[] = {
    {"Barrier", 0, barrier},
    {"Bcast", 1, one_to_all},
    {"Gather", 2, all_to_one},
    {"Gatherv", 3, all_to_one},
    {"Scatter", 4, one_to_all},
    {"Scatterv", 5, one_to_all},
    {"Allgather", 6, all_to_all},
    {"Allgatherv", 7, all_to_all},
    {"Alltoall", 8, all_to_all},
    {"Alltoallv", 9, all_to_all},
    {"Alltoallw", 10, all_to_all},
    {"Allreduce", 11, all_to_all},
    {"Reduce", 12, all_to_one},
    {"Reduce_scatter", 13, all_to_all},
    {"Scan", 14, other},
    {"Exscan", 15, other},
    {"Reduce_scatter_block", 16, all_to_all},
};

const Operation* operation_of(std::uint16_t function) {
  char buffer[64];
  const std::string_view name = plain_name(record::function_name(function), buffer);
  for (const Operation& operation : operations)
    if (operation.name == name) return &operation;
  return nullptr;
}

// One answer per function, made once.
template <class T, class Of>
T from_table(std::uint16_t function, Of of) {
  static const auto table = [&] {
    std::array<T, 1024> all{};
    for (std::size_t f = 0; f < all.size(); ++f) all[f] = of(static_cast<std::uint16_t>(f));
    return all;
  }();
  return table[function < table.size() ? function : 0];
}

Rma rma_by_name(std::uint16_t function) {
  char buffer[64];
  std::string_view name = plain_name(record::function_name(function), buffer);
  if (name == "Rput" || name == "Put") return Rma::put;
  if (name == "Rget" || name == "Get") return Rma::get;
  if (name == "Accumulate" || name == "Raccumulate") return Rma::accumulate;
  if (name == "Get_accumulate" || name == "Rget_accumulate" || name == "Fetch_and_op") return Rma::fetch_and_add;
  return name == "Compare_and_swap" ? Rma::compare_and_swap : Rma::none;
}

int role_by_name(std::uint16_t function) {
  if (const Operation* operation = operation_of(function)) return operation->role;
  if (rma_by_name(function) != Rma::none) return one_sided;
  const std::string_view name = record::function_name(function);
  if (name.starts_with("MPI_Win_")) return one_sided;
  if (name.starts_with("MPI_File_")) return file_io;
  for (const std::string_view part : {"send", "Send", "recv", "Recv", "Wait", "Test", "probe", "Probe", "Start"})
    if (name.find(part) != std::string_view::npos) return point_to_point;
  return function_role;
}

}  // namespace

std::string_view plain_name(std::string_view name, char (&buffer)[64]) {
  if (name.starts_with("MPI_")) name.remove_prefix(4);
  if (name.ends_with("_c")) name.remove_suffix(2);
  if (name.ends_with("_init")) name.remove_suffix(5);
  // Ibcast, Ireduce: but not Init, Is_thread_main and the like, which name no operation then.
  if (name.size() < 2 || name.size() >= sizeof buffer || name[0] != 'I' ||
      !std::islower(static_cast<unsigned char>(name[1])))
    return name;
  std::size_t length = 0;
  for (const char c : name.substr(1)) buffer[length++] = c;
  buffer[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(buffer[0])));
  return {buffer, length};
}

int collective_op_of(std::uint16_t function) {
  return from_table<int>(function, [](std::uint16_t f) {
    const Operation* operation = operation_of(f);
    return operation == nullptr ? -1 : operation->op;
  });
}

bool has_root(int op) { return op >= 1 && (op <= 5 || op == 12); }

Rma rma_of(std::uint16_t function) { return from_table<Rma>(function, rma_by_name); }

int region_role_of(std::uint16_t function) { return from_table<int>(function, role_by_name); }

}  // namespace pclscope::exporting
