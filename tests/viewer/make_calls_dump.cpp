// A dump with the calls of one of the paper's situations: CASE RANKS FILE. For pictures. Of up to 1,024 ranks it has
// single calls, too.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/store/writer.hpp"
#include "tests/viewer/layout/paper_program.hpp"

int main(int argc, char** argv) {
  using namespace pclscope;
  struct Case {
    std::string_view name;
    void (*fill)(test::PaperCalls&);
  };
  constexpr Case cases[] = {{"lu", test::lu_decomposition},
                            {"inversion", test::inversion},
                            {"program", test::matrix_operations},
                            {"multiplication", test::growing_multiplication}};
  const auto* const found =
      argc == 4 ? std::ranges::find(cases, std::string_view(argv[1]), &Case::name) : std::end(cases);
  if (found == std::end(cases))
    return std::fprintf(stderr, "%s lu|inversion|program|multiplication RANKS FILE\n", argv[0]), 2;
  const int ranks = std::atoi(argv[2]);
  test::PaperCalls made(ranks);
  found->fill(made);
  Snapshot s = made.snapshot();
  s.job = found->name;
  s.ranks.resize(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) s.ranks[static_cast<std::size_t>(r)].rank = r;
  // As they come from rings: by the moment at which they returned.
  std::vector<MpiCall> calls = made.kept();
  std::ranges::stable_sort(calls, {}, [](const MpiCall& c) { return std::tuple(c.end, c.rank); });
  auto writer = store::Writer::create(argv[3], {});
  if (!writer || !(*writer)->append(std::span<const MpiCall>(calls)) || !(*writer)->summarize(s) ||
      !(*writer)->flush() || !(*writer)->close())
    return 1;
  return 0;
}
