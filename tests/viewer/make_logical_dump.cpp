// make_logical_dump FILE tree|improved|exchange RANKS [ITERATIONS]: writes the dump of a program whose logical time is
// known (tests/analysis/logical/programs.hpp): the 8-ary merge tree (of 16 ranks: 4-ary) in both orders, where a part
// of the ranks has more to compute than others; or the near-neighbour exchange, in which one rank is late once.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "analysis/store/writer.hpp"
#include "interpose/record/functions.hpp"
#include "tests/analysis/logical/programs.hpp"

using namespace pclscope;
using namespace pclscope::test;

namespace {

std::uint16_t number_of(std::string_view name) {
  for (std::uint16_t n = 0; n < record::function_count; ++n)
    if (record::function_name(n) == name) return n;
  return 0;
}

constexpr std::int64_t us = 1000;

// As the data of a merge tree are: a few blocks have much, the rest little.
std::vector<std::int64_t> unequal(std::int32_t ranks) {
  std::vector<std::int64_t> ns;
  for (std::int32_t r = 0; r < ranks; ++r)
    ns.push_back(20 * us + (r * 37 % 23) * us + (r / 8 % 11 == 5 ? 60 * us + (r % 8) * 10 * us : 0));
  return ns;
}

Program exchange_of(std::int32_t ranks, int iterations) {
  Grid grid{{1, 1, 1}};
  for (int axis = 0; grid.size() < ranks; axis = (axis + 1) % 3) grid.extent[static_cast<std::size_t>(axis)] *= 2;
  const std::int32_t late = grid.size() / 3;
  return exchange(grid, iterations, [=](std::int32_t r, int i) {
    return 20 * us + (r * 13 + i * 7) % 5 * us + (r == late && i == iterations / 3 ? 100 * us : 0);
  });
}

std::vector<CallSite> sites() {
  std::vector<CallSite> list(9);
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const bool sends = i + 1 == site::send || i + 1 == site::task_send || i + 1 == site::isend;
    list[i].id = i + 1;
    list[i].module = "/opt/tree";
    list[i].function = i + 1 == site::task_send || i + 1 == site::recv ? "gather" : "scatter";
    list[i].file = "tree.c";
    list[i].line = 20 + i;
    list[i].mpi_function = number_of(sends ? "MPI_Send" : "MPI_Recv");
  }
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::int32_t ranks = std::atoi(argv[3]);
  const int iterations = argc > 4 ? std::atoi(argv[4]) : 4;
  const bool improved = std::strcmp(argv[2], "improved") == 0;
  const Program program = std::strcmp(argv[2], "exchange") == 0
                              ? exchange_of(ranks, iterations)
                              : merge_tree(ranks, ranks == 16 ? 4 : 8, improved, unequal(ranks));
  const Outcome outcome = simulate(program);
  Snapshot summary;
  summary.finished = true;
  summary.application.ranks = program.ranks();
  summary.application.command = std::string("./") + argv[2];
  summary.messages.matched = outcome.messages.size();
  for (const std::int64_t end : outcome.end_ns)
    summary.duration_s = std::max(summary.duration_s, static_cast<double>(end) * 1e-9);
  for (std::int32_t r = 0; r < program.ranks(); ++r) {
    summary.ranks.emplace_back();
    summary.ranks.back().rank = r;
    summary.ranks.back().end_s = static_cast<double>(outcome.end_ns[static_cast<std::size_t>(r)]) * 1e-9;
  }
  summary.sites = sites();
  auto writer = store::Writer::create(argv[1], {});
  if (!writer) return std::fprintf(stderr, "%s\n", writer.error().message.c_str()), 1;
  const bool good = (*writer)->append(outcome.messages) && (*writer)->append(outcome.collectives) &&
                    (*writer)->append(summary.sites) && (*writer)->summarize(summary) && (*writer)->flush();
  return good && (*writer)->close() ? 0 : 1;
}
