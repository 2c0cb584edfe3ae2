// A dump with the calls of one of the paper's situations: CASE RANKS FILE. For pictures.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "analysis/store/writer.hpp"
#include "tests/viewer/layout/paper_calls.hpp"

int main(int argc, char** argv) {
  using namespace pclscope;
  if (argc != 4) return std::fprintf(stderr, "%s multiplication|lu|inversion RANKS FILE\n", argv[0]), 2;
  const std::string what = argv[1];
  const int ranks = std::atoi(argv[2]);
  Snapshot s = what == "multiplication" ? test::matrix_multiplication(ranks)
               : what == "lu"           ? test::lu_decomposition(ranks)
                                        : test::inversion(ranks);
  s.job = what;
  s.ranks.resize(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) s.ranks[static_cast<std::size_t>(r)].rank = r;
  auto writer = store::Writer::create(argv[3], {});
  if (!writer || !(*writer)->summarize(s) || !(*writer)->flush() || !(*writer)->close()) return 1;
  return 0;
}
