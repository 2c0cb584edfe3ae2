// Phases and steps (analysis/logical): processor time and memory per message.
// 1. A near-neighbour exchange in three dimensions of 1,024, 8,192 and 32,768 ranks, one of them late in one exchange:
//    each exchange must be a phase of twelve steps, and the late rank be named with its lateness. Clusters of its
//    phase.
// 2. The 8-ary merge tree at 1,024 and 16,384 ranks, in both orders: the improved one must take fewer steps.
// 3. That exchange while records come (logical::Stream), of 1,024 ranks; --steps N: of 16,384 until N steps.
// Records come in order of time, as a dump has them. Exit status 1 when a result is wrong.
//
//   logical_benchmark [--quick | --steps N]
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "analysis/logical/clusters.hpp"
#include "analysis/logical/stream.hpp"
#include "analysis/logical/sums.hpp"
#include "tests/analysis/logical/programs.hpp"

using namespace pclscope;
using namespace pclscope::test;

namespace {

double processor_s() {
  timespec time;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
double peak_mib() {
  rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// The k-th send of an exchange begins 1,000 ns after the one before, up to 300 ns later on some ranks; it arrives
// within 500 ns. The late rank has no neighbour beyond itself: all else is in time.
constexpr std::int64_t exchange_ns = 10'000, late_ns = 400;

struct Exchange {
  Grid grid;
  std::int32_t late_rank = 0;
  int late_in = 0;

  std::vector<Message> messages(int i) const {
    std::vector<Message> all;
    const std::int64_t begin = exchange_ns * i;
    for (int k = 0; k < 6; ++k)
      for (std::int32_t r = 0; r < grid.size(); ++r) {
        const std::int32_t to = grid.neighbour(r, k / 2, k % 2 == 0 ? 1 : -1);
        if (to < 0) continue;
        Message m;
        m.source = r;
        m.destination = to;
        const std::int64_t late = r == late_rank && i == late_in ? late_ns : (r * 31 + i * 7) % 100;
        m.send_begin = begin + 1000 * k + late;
        m.send_end = m.send_begin + 50;
        m.send_site = site::send;
        m.recv_site = site::recv;
        m.recv_post = m.recv_wait = begin + 1000 * k + 460 + (to * 17) % 100;
        m.recv_end = begin + 1000 * k + 600 + (r * 13) % 100;
        all.push_back(m);
      }
    std::stable_sort(all.begin(), all.end(),
                     [](const Message& a, const Message& b) { return a.recv_end < b.recv_end; });
    return all;
  }
};

bool exchange_of(const Grid& grid, int exchanges) {
  const Exchange program{grid, grid.size() / 3, exchanges / 2};
  logical::Records records(grid.size());
  records.reserve(std::size_t{6} * static_cast<std::size_t>(grid.size()) * static_cast<std::size_t>(exchanges));
  double spent = 0;
  for (int i = 0; i < exchanges; ++i) {
    const std::vector<Message> messages = program.messages(i);
    const double begin = processor_s();
    records.add(messages);
    spent += processor_s() - begin;
  }
  const auto count = static_cast<double>(records.messages());
  const double begin = processor_s();
  const auto time = std::move(records).logical_time();
  spent += processor_s() - begin;
  bool right = time && time->phases.size() == static_cast<std::size_t>(exchanges);
  for (int i = 0; right && i < exchanges; ++i) {
    const logical::Phase& p = time->phases[static_cast<std::size_t>(i)];
    right = p.steps == 12 && p.first_step == 12 * static_cast<std::uint32_t>(i);
    if (i != program.late_in) continue;
    const auto steps = logical::steps_of(*time, p);
    right = right && steps[0].lateness.rank == program.late_rank && steps[0].lateness.most_ns == late_ns;
  }
  // All but the late one behave alike, by less than a microsecond.
  const double before = processor_s();
  const logical::Clusters clusters =
      right ? logical::clusters_of(*time, time->phases[static_cast<std::size_t>(program.late_in)])
            : logical::Clusters();
  const double clustered = processor_s() - before;
  right = right && clusters.ranks.size() == static_cast<std::size_t>(grid.size()) && clusters.mean_distance < 1e-12;
  std::printf("exchange    %6d ranks %9.0f messages %6.0f ns per message, %5.2f M/s %7.2f s %7.0f MiB", grid.size(),
              count, spent / count * 1e9, count / spent * 1e-6, spent, peak_mib());
  std::printf(", clusters %.3f s  %s\n", clustered, right ? "" : "WRONG");
  return right;
}

// The same while the records come, some exchanges at a time: what is kept must not grow.
bool stream_of(const Grid& grid, int exchanges) {
  constexpr int at_once = 8;
  const Exchange program{grid, grid.size() / 3, exchanges / 2};
  logical::Stream stream(grid.size(), SIZE_MAX);
  double spent = 0, count = 0;
  std::size_t phases = 0, most_pending = 0;
  bool right = true;
  const auto check = [&](const Result<logical::LogicalTime>& time) {
    right = right && time;
    for (std::size_t i = 0; right && i < time->phases.size(); ++i, ++phases)
      right = time->phases[i].steps == 12 && time->phases[i].first_step == 12 * phases;
  };
  for (int i = 0; i < exchanges; ++i) {
    const std::vector<Message> messages = program.messages(i);
    count += static_cast<double>(messages.size());
    const double begin = processor_s();
    stream.add(messages);
    if (i % at_once == at_once - 1) check(stream.advance(exchange_ns * (i + 1)));
    spent += processor_s() - begin;
    most_pending = std::max(most_pending, stream.pending());
  }
  const double begin = processor_s();
  check(stream.finish());
  spent += processor_s() - begin;
  right = right && phases == static_cast<std::size_t>(exchanges) && stream.pending() == 0;
  std::printf("streamed    %6d ranks %9.0f messages %6.0f ns per message, %5.2f M/s %7.2f s %7.0f MiB", grid.size(),
              count, spent / count * 1e9, count / spent * 1e-6, spent, peak_mib());
  std::printf(", at most %zu kept, %d steps  %s\n", most_pending, 12 * exchanges, right ? "" : "WRONG");
  return right;
}

std::uint32_t steps_of_tree(std::int32_t ranks, bool improved) {
  const Outcome outcome = simulate(merge_tree(ranks, 8, improved));
  const double begin = processor_s();
  const logical::LogicalTime time = logical_time_of(ranks, outcome.messages);
  const double spent = processor_s() - begin;
  std::uint32_t steps = 0;
  for (const logical::Phase& p : time.phases) steps = std::max(steps, p.first_step + p.steps);
  const auto count = static_cast<double>(outcome.messages.size());
  std::printf("merge tree  %6d ranks %9.0f messages %6.0f ns per message, %u steps in %zu phases, %s order\n", ranks,
              count, spent / count * 1e9, steps, time.phases.size(), improved ? "improved" : "original");
  return steps;
}

bool tree(std::int32_t ranks) {
  const std::uint32_t original = steps_of_tree(ranks, false), improved = steps_of_tree(ranks, true);
  if (improved >= original) std::printf("WRONG: the improved order takes as many steps\n");
  return improved < original;
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  if (argc > 2 && std::strcmp(argv[1], "--steps") == 0)
    return stream_of({{32, 32, 16}}, std::max(2, std::atoi(argv[2]) / 12)) ? 0 : 1;
  bool good = exchange_of({{8, 8, 16}}, quick ? 20 : 300);
  good = stream_of({{8, 8, 16}}, quick ? 20 : 300) && good;
  good = tree(1024) && good;
  if (!quick) {
    good = exchange_of({{16, 16, 32}}, 40) && good;
    good = exchange_of({{32, 32, 32}}, 10) && good;
    good = tree(16384) && good;
  }
  return good ? 0 : 1;
}
