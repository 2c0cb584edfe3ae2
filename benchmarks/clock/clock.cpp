// How well do the aggregators' clocks agree, and does the error that they state cover the true one?
//   mpirun -n RANKS clock_benchmark [--seconds 15] [--clock tsc|monotonic] [--nodes N] [--drift PPM] [--skip 5]
// The first rank of each node (host name, or rank mod N) is its anchor and runs ClockSync; all others keep the machine
// busy: a ring of messages with computing in between. --drift makes node i's axis faster by i x PPM. Truth: truth.hpp,
// so all nodes must be one machine (testbed). Prints per node, for moments after --skip seconds; status 1 when less
// than 99.9 % of the moments' true errors are within the stated error.
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "analysis/aggregator/clock_sync.hpp"
#include "analysis/collect/clock_refit.hpp"
#include "analysis/collect/global_clock.hpp"
#include "analysis/collect/tick_clock.hpp"
#include "benchmarks/clock/truth.hpp"

namespace {

using pclscope::record::ClockSource;

struct Settings {
  double seconds = 15, skip = 5, drift_ppm = 0;
  int nodes = 0;
  ClockSource source = ClockSource::tsc;
};

struct Row {  // ns
  double moments = 0, true50 = 0, true95 = 0, worst = 0, stated50 = 0, stated95 = 0, covered = 0, refit95 = 0,
         refit_covered = 0, updates = 0, cpu = 0;
};

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i], value = argv[i + 1];
    if (option == "--seconds") settings.seconds = std::atof(value.c_str());
    if (option == "--skip") settings.skip = std::atof(value.c_str());
    if (option == "--drift") settings.drift_ppm = std::atof(value.c_str());
    if (option == "--nodes") settings.nodes = std::atoi(value.c_str());
    if (option == "--clock") settings.source = value == "monotonic" ? ClockSource::monotonic : ClockSource::tsc;
  }
  return settings;
}

double wall() { return static_cast<double>(pclscope::collect::read_ticks(ClockSource::monotonic)) / 1e9; }

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

int node_of(const Settings& settings, int rank, int size) {
  if (settings.nodes > 0) return rank % settings.nodes;
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  ::gethostname(name, sizeof name - 1);
  std::vector<char> names(static_cast<std::size_t>(size) * sizeof name);
  MPI_Allgather(name, sizeof name, MPI_CHAR, names.data(), sizeof name, MPI_CHAR, MPI_COMM_WORLD);
  for (int first = 0; first < size; ++first)
    if (std::strcmp(&names[static_cast<std::size_t>(first) * sizeof name], name) == 0) return first;
  return rank;
}

// What keeps the machine busy: compute 0.2 ms, pass 1 KiB on around the ring.
void be_the_application(const Settings& settings, MPI_Comm ring) {
  int rank = 0, size = 1, stop = 0;
  MPI_Comm_rank(ring, &rank);
  MPI_Comm_size(ring, &size);
  const double end = wall() + settings.seconds;
  std::vector<char> out(1024), in(1024);
  for (int round = 0; stop == 0; ++round) {
    for (const double until = wall() + 2e-4; wall() < until;) {}
    MPI_Sendrecv(out.data(), 1024, MPI_CHAR, (rank + 1) % size, 0, in.data(), 1024, MPI_CHAR, (rank + size - 1) % size,
                 0, ring, MPI_STATUS_IGNORE);
    if (round % 64 == 0) {
      const int over = wall() >= end;
      MPI_Allreduce(&over, &stop, 1, MPI_INT, MPI_MAX, ring);
    }
  }
}

struct Moment {
  std::int64_t local_ns;
  double truth_ns;  // offset
};

Row judge(const std::vector<double>& errors, const std::vector<double>& stated, const std::vector<Moment>& moments,
          const pclscope::collect::GlobalClock& clock) {
  Row row;
  double covered = 0, refit_covered = 0;
  for (std::size_t i = 0; i < errors.size(); ++i) covered += errors[i] <= stated[i];
  const auto final_clock = pclscope::collect::refit(clock.records());
  std::vector<double> final_errors;
  for (const Moment& moment : moments) {
    if (final_clock.points().empty()) break;
    final_errors.push_back(std::abs(final_clock.offset_ns(moment.local_ns) - moment.truth_ns));
    refit_covered += final_errors.back() <= final_clock.error_ns(moment.local_ns);
  }
  const double count = std::max<double>(1, static_cast<double>(errors.size()));
  row.moments = static_cast<double>(errors.size());
  row.true50 = quantile(errors, 0.5);
  row.true95 = quantile(errors, 0.95);
  row.worst = quantile(errors, 1);
  row.stated50 = quantile(stated, 0.5);
  row.stated95 = quantile(stated, 0.95);
  row.covered = covered / count;
  row.refit95 = quantile(final_errors, 0.95);
  row.refit_covered = final_errors.empty() ? 1 : refit_covered / count;
  row.updates = static_cast<double>(clock.records().size());
  return row;
}

Row be_an_anchor(const Settings& settings, MPI_Comm anchors) {
  namespace collect = pclscope::collect;
  int node = 0;
  MPI_Comm_rank(anchors, &node);
  collect::TickClock ticks;
  ticks.settle(settings.source);
  pclscope::TickScale scale = ticks.scale();
  scale.ns_per_tick *= 1 + node * settings.drift_ppm * 1e-6;
  const ClockFacts here{scale.origin_ticks, scale.ns_per_tick, namespace_offset(settings.source)};
  ClockFacts root = here;
  MPI_Bcast(&root, sizeof root, MPI_BYTE, 0, anchors);

  const auto local = [&] { return scale.to_ns(collect::read_ticks(settings.source)); };
  collect::GlobalClock clock(node == 0 ? collect::GlobalClock::Role::root : collect::GlobalClock::Role::other);
  pclscope::aggregator::ClockSync sync(
      anchors, [&](const pclscope::nodes::ClockUpdate& update) { clock.apply(update, local()); });
  sync.set_clock(settings.source, scale);
  std::vector<double> errors, stated;
  std::vector<Moment> moments;
  const double begin = wall(), cpu = cpu_seconds();
  while (wall() < begin + settings.seconds) {
    if (sync.poll()) continue;
    ::usleep(500);
    if (wall() < begin + settings.skip) continue;
    const std::uint64_t now = collect::read_ticks(settings.source);
    const std::int64_t here_ns = scale.to_ns(now);
    const long double truth = true_global(now, here, root);
    errors.push_back(static_cast<double>(std::abs(static_cast<long double>(clock.to_global(here_ns)) - truth)));
    stated.push_back(node == 0 ? 1 : clock.error_ns(here_ns));  // the root's own: rounding
    moments.push_back({here_ns, static_cast<double>(truth - static_cast<long double>(here_ns))});
  }
  const double share = (cpu_seconds() - cpu) / (wall() - begin);
  sync.stop();
  Row row = judge(errors, stated, moments, clock);
  row.cpu = share;
  return row;
}

int report(const Row& row, MPI_Comm anchors) {
  int node = 0, nodes = 1, status = 0;
  MPI_Comm_rank(anchors, &node);
  MPI_Comm_size(anchors, &nodes);
  std::vector<Row> rows(static_cast<std::size_t>(nodes));
  MPI_Gather(&row, sizeof row, MPI_BYTE, rows.data(), sizeof row, MPI_BYTE, 0, anchors);
  if (node != 0) return 0;
  std::printf(
      "node  moments  true error 50 %% / 95 %% / worst (us)   stated 50 %% / 95 %% (us)   covered   "
      "refitted 95 %% (us), covered   updates   CPU\n");
  for (int i = 0; i < nodes; ++i) {
    const Row& r = rows[static_cast<std::size_t>(i)];
    std::printf("%4d %8.0f %12.3f %8.3f %8.3f %18.2f %8.2f %17.3f %% %10.3f %11.3f %% %9.0f %6.2f %%\n", i, r.moments,
                r.true50 / 1e3, r.true95 / 1e3, r.worst / 1e3, r.stated50 / 1e3, r.stated95 / 1e3, 100 * r.covered,
                r.refit95 / 1e3, 100 * r.refit_covered, r.updates, 100 * r.cpu);
    if (i > 0 && (r.covered < 0.999 || r.refit_covered < 0.999 || r.updates < 1)) status = 1;
  }
  if (status != 0) std::printf("FAILED: stated errors do not cover the true ones\n");
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Settings settings = parse(argc, argv);
  int rank = 0, size = 1, status = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int node = node_of(settings, rank, size);
  MPI_Comm group;
  const bool anchor = rank == node;
  MPI_Comm_split(MPI_COMM_WORLD, anchor ? 0 : 1, rank, &group);
  Row row;
  if (anchor) row = be_an_anchor(settings, group);
  else be_the_application(settings, group);
  MPI_Barrier(MPI_COMM_WORLD);
  if (anchor) status = report(row, group);
  MPI_Comm_free(&group);
  MPI_Finalize();
  return status;
}
