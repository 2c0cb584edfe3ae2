// How time, memory and traffic of one aggregator grow with the ranks on its node and with the number of nodes: the
// real nodes::Node, fed from programs that are made up, over a link in memory (simulation.hpp). Two sweeps: 8 to 128
// ranks per node on 64 nodes; 64 to 4,096 nodes of 16 ranks. Windows of 100 ms, about 1,000 messages per second and
// rank, an Allreduce per window. Checks every count of every run, and that whole and sampled simulations agree on a
// small job. Exit status 1 when a result is wrong, or time grows faster than n log n in ranks per node, or log n in
// nodes.
//
//   scale_benchmark [--quick] [--sweep nodes|ranks] [--pattern halo|cg|irregular] [--most-nodes N] [--windows W]
//                   [--one NODES RANKS] [--whole] [--json FILE] [--csv FILE]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "benchmarks/scale/figures.hpp"

using namespace pclscope::benchmark;

namespace {

struct Wish {
  bool quick = false, whole = false;
  std::string sweep, pattern, json, csv;
  int most_nodes = 4096, windows = 40, nodes = 0, ranks = 0;
};

bool parse(int argc, char** argv, Wish& wish) {
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const int left = argc - 1 - i;
    if (option == "--quick") wish.quick = true;
    else if (option == "--whole") wish.whole = true;
    else if (option == "--sweep" && left > 0) wish.sweep = argv[++i];
    else if (option == "--pattern" && left > 0) wish.pattern = argv[++i];
    else if (option == "--json" && left > 0) wish.json = argv[++i];
    else if (option == "--csv" && left > 0) wish.csv = argv[++i];
    else if (option == "--most-nodes" && left > 0) wish.most_nodes = std::atoi(argv[++i]);
    else if (option == "--windows" && left > 0) wish.windows = std::atoi(argv[++i]);
    else if (option == "--one" && left > 1) wish.nodes = std::atoi(argv[++i]), wish.ranks = std::atoi(argv[++i]);
    else return false;
  }
  return wish.windows >= 8;
}

Row run(const std::string& sweep, const Setting& setting) {
  Simulation simulation(setting);
  Row row = row_of(sweep, setting, simulation.run());
  print(row);
  std::fflush(stdout);
  return row;
}

// Bytes and frames of whole and sampled runs must be about the same: made-up times differ a little.
bool agree(const Row& whole, const Row& sampled) {
  bool good = true;
  const auto close = [&](const char* what, std::size_t part, double a, double b, double least) {
    if (std::abs(a - b) <= 0.1 * std::max(a, b) + least) return;
    std::printf("WRONG: %s of %s: %.1f whole, %.1f sampled\n", what, part_names[part], a, b);
    good = false;
  };
  for (std::size_t part = 0; part < parts; ++part) {
    const Figures &a = whole.of[part], &b = sampled.of[part];
    for (std::size_t k = 0; k + 1 < kinds; ++k) {  // orders are rare
      close(kind_names[k], part, a.received[k], b.received[k], 200);
      close(kind_names[k], part, a.sent[k], b.sent[k], 200);
    }
    if (part != 0) close("memory", part, a.memory_mb, b.memory_mb, 1);  // the root's has windows in flight, all or none
    std::printf("  %-5s whole %.3f ms, sampled %.3f ms; bytes %.0f, %.0f; memory %.1f, %.1f MB\n", part_names[part],
                a.usual_ms, b.usual_ms, a.bytes(), b.bytes(), a.memory_mb, b.memory_mb);
  }
  return good && whole.outcome.right && sampled.outcome.right;
}

bool compare(const std::string& pattern, int nodes, int ranks, int windows) {
  const Row sampled = run("compare", {pattern, nodes, ranks, windows, false});
  const Row whole = run("compare", {pattern, nodes, ranks, windows, true});
  return agree(whole, sampled);
}

bool sweep(const Wish& wish, const std::string& kind, const std::string& pattern, std::vector<Row>& all) {
  std::vector<Row> rows;
  if (kind == "ranks") {
    for (int ranks = 8; ranks <= 128; ranks *= 2)
      rows.push_back(run(kind, {pattern, 64, ranks, wish.windows, wish.whole}));
  } else {
    for (int nodes = 64; nodes <= wish.most_nodes; nodes *= 2)
      rows.push_back(run(kind, {pattern, nodes, 16, wish.windows, wish.whole}));
  }
  bool good = print_growth(rows);
  for (const Row& row : rows) good = good && row.outcome.right;
  all.insert(all.end(), rows.begin(), rows.end());
  return good;
}

int go(const Wish& wish) {
  std::vector<Row> rows;
  bool good = true;
  if (wish.quick) return compare("halo", 64, 8, 10) ? 0 : 1;
  if (wish.nodes > 0) {
    rows.push_back(
        run("one", {wish.pattern.empty() ? "halo" : wish.pattern, wish.nodes, wish.ranks, wish.windows, wish.whole}));
    good = rows.back().outcome.right;
  } else {
    for (const std::string pattern : {"halo", "cg", "irregular"}) {
      if (!wish.pattern.empty() && wish.pattern != pattern) continue;
      if (wish.sweep.empty()) good = compare(pattern, 64, 16, wish.windows) && good;
      for (const std::string kind : {"ranks", "nodes"})
        if (wish.sweep.empty() || wish.sweep == kind) good = sweep(wish, kind, pattern, rows) && good;
    }
  }
  if (!wish.csv.empty()) good = write_csv(wish.csv, rows) && good;
  if (!wish.json.empty()) good = write_json(wish.json, rows) && good;
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Wish wish;
  if (!parse(argc, argv, wish)) {
    std::fprintf(
        stderr,
        "usage: scale_benchmark [--quick] [--sweep nodes|ranks] [--pattern halo|cg|irregular] [--most-nodes N]\n"
        "       [--windows W] [--one NODES RANKS] [--whole] [--json FILE] [--csv FILE]\n");
    return 2;
  }
  try {
    return go(wish);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "scale_benchmark: %s\n", e.what());
    return 2;
  }
}
