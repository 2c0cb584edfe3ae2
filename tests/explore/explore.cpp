// Explores the protocols between recording threads and the aggregator: README.md. Depends on: nothing.
// In the check what takes seconds; with PCLSCOPE_FULL=1 one deviation more, and schedules at random besides.
// Usage: explore LIBRARY [--scenario NAME] [--deviations N] [--seconds S] [--random S] [--seed N]
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "tests/explore/search.hpp"
#include "tests/explore/world.hpp"

namespace {

struct Arguments {
  std::string library, scenario;
  int deviations = -1;   // the scenario's own
  double seconds = 600;  // at most, for each scenario
  double random = 0;     // then at random for so long
  std::uint64_t seed = 1;
};

bool read_arguments(int argc, char** argv, Arguments& a) {
  if (argc < 2 || argc % 2 != 0) return false;
  a.library = argv[1];
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--scenario") {
      a.scenario = argv[i + 1];
    } else if (name == "--deviations") {
      a.deviations = std::atoi(argv[i + 1]);
    } else if (name == "--seconds") {
      a.seconds = std::atof(argv[i + 1]);
    } else if (name == "--random") {
      a.random = std::atof(argv[i + 1]);
    } else if (name == "--seed") {
      a.seed = std::strtoull(argv[i + 1], nullptr, 10);
    } else {
      return false;
    }
  }
  return true;
}

bool full() {
  const char* asked = std::getenv("PCLSCOPE_FULL");
  return asked != nullptr && *asked == '1';
}

bool explore_one(const explore::Scenario& scenario, const Arguments& a) {
  explore::Search search(a.library, scenario);
  const int deviations = a.deviations >= 0 ? a.deviations : scenario.deviations + (full() ? 1 : 0);
  auto wrong = search.exhaust(deviations, a.seconds);
  if (!wrong && a.random > 0) wrong = search.at_random(a.seed, a.random);
  const explore::Sums& s = search.sums();
  std::printf("%-19s up to %d deviations%s: %9llu schedules %11llu steps %10llu states, %8llu pairs %8llu ambiguous\n",
              scenario.name.c_str(), deviations, s.cut_off ? " (cut off)" : "",
              static_cast<unsigned long long>(s.schedules), static_cast<unsigned long long>(s.steps),
              static_cast<unsigned long long>(s.states), static_cast<unsigned long long>(s.matched),
              static_cast<unsigned long long>(s.ambiguous));
  if (wrong) std::printf("WRONG: %s\n", wrong->c_str());
  std::fflush(stdout);
  return !wrong;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  if (!read_arguments(argc, argv, a)) {
    std::fprintf(stderr, "explore: see the head of tests/explore/explore.cpp\n");
    return 2;
  }
  if (full()) {
    a.random = 20;
    a.seconds = 40;
  }
  if (const char* seed = std::getenv("PCLSCOPE_SEED")) a.seed = std::strtoull(seed, nullptr, 10);
  try {
    bool good = true, any = false;
    for (const explore::Scenario& scenario : explore::scenarios()) {
      if (!a.scenario.empty() && a.scenario != scenario.name) continue;
      any = true;
      good = explore_one(scenario, a) && good;
    }
    if (!any) std::fprintf(stderr, "explore: there is no scenario %s\n", a.scenario.c_str());
    const auto left = explore::World::own_files();
    for (const std::string& name : left) std::printf("WRONG: /dev/shm/%s is left\n", name.c_str());
    return good && any && left.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "explore: %s\n", error.what());
    return 1;
  }
}
