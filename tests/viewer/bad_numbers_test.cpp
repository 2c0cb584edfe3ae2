// Whatever a snapshot holds: JSON stays JSON, without NaN or infinity, and lines stay lines.
#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/analysis/wire/random_dag.hpp"
#include "tests/analysis/wire/random_snapshot.hpp"
#include "tests/thinned.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/views/collective_rows.hpp"
#include "viewer/views/dag_rows.hpp"
#include "viewer/views/delay_rows.hpp"
#include "viewer/views/efficiency_rows.hpp"
#include "viewer/views/evolution_rows.hpp"
#include "viewer/views/link_rows.hpp"
#include "viewer/views/summary_tables.hpp"
#include "viewer/views/watch_json.hpp"
#include "viewer/views/watch_page.hpp"

using namespace pclscope;

namespace {

class Poison {
 public:
  explicit Poison(unsigned seed) : random_(seed) {}

  void operator()(double& value) {
    static const double bad[] = {std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::max(),
                                 -1e300,
                                 1e-320,
                                 0};
    if (random_() % 2 == 0) value = bad[random_() % std::size(bad)];
  }
  void operator()(float& value) {
    double wide = value;
    (*this)(wide);
    value = static_cast<float>(wide);
  }
  template <class... More>
  void all(More&... values) {
    ((*this)(values), ...);
  }

  void snapshot(Snapshot& s) {
    all(s.duration_s, s.latency.mean_ratio, s.latency.median_s, s.latency.p99_s, s.live.window_s, s.collectives.wait_s,
        s.retention.bites_since_s, s.retention.memory_from_s, s.retention.shed_from_s, s.retention.shed_to_s);
    for (Region& r : s.regions) {
      all(r.mean_latency_ratio, r.mean_transfer_ratio, r.delayed_share, r.late_sender_s, r.late_receiver_s,
          r.transfer_s, r.collective_wait_s);
      for (float& ratio : r.history_ratio) (*this)(ratio);
      for (Period& p : r.periods)
        all(p.begin_s, p.end_s, p.mean_ratio, p.begin_ratio, p.middle_ratio, p.end_ratio, p.late_sender_s,
            p.late_receiver_s, p.transfer_s);
    }
    for (RegionLink& l : s.links)
      all(l.mean_latency_ratio, l.mean_transfer_ratio, l.late_sender_s, l.late_receiver_s, l.transfer_s);
    for (DelayOrigin& d : s.delays) {
      all(d.cost_s, d.direct_s, d.collective_s, d.worst_s, d.first_s, d.last_s);
      for (double& lost : d.victim_s) (*this)(lost);
    }
    for (WorstMessage& w : s.worst) all(w.start_s, w.time_s, w.ratio, w.late_sender_s, w.late_receiver_s, w.transfer_s);
    for (RankSummary& r : s.ranks)
      all(r.mean_latency_ratio, r.mpi_s, r.late_sender_s, r.late_receiver_s, r.call_for_s, r.collective_wait_s,
          r.delay_caused_s, r.init_s, r.finalize_s, r.begin_s, r.end_s, r.ideal_saved_s, r.off_core_computing_s,
          r.off_core_computing_least_s, r.off_core_computing_most_s);
    for (Criterion& c : s.criteria) all(c.median_s, c.transfer_median_s);
    for (ClockState& c : s.network.clocks) all(c.at_s, c.offset_s, c.drift, c.error_s);
  }

  void windows(std::vector<Window>& windows) {
    for (Window& w : windows) {
      all(w.begin_s, w.length_s);
      for (RegionWindow& r : w.regions)
        all(r.mean_ratio, r.mean_transfer_ratio, r.late_sender_s, r.late_receiver_s, r.transfer_s);
    }
  }

  void dag(Dag& dag) {
    all(dag.from_s, dag.to_s);
    for (DagRank& r : dag.ranks) all(r.load_balance, r.node_ratio);
    for (DagNode& n : dag.nodes) {
      all(n.begin_s, n.end_s);
      for (DagMessage& m : n.received) all(m.begin_s, m.time_s, m.ratio);
    }
    for (DagEdge& e : dag.edges) (*this)(e.ratio);
  }

 private:
  std::mt19937 random_;
};

// nlohmann's parser takes neither NaN nor Infinity, and its writer makes them null: so text must not have been put
// together past it, and numbers must be numbers or null by intention.
void check_json(const session::Json& json) {
  const std::string text = session::to_text(json, false);
  CHECK_NOTHROW(session::Json::parse(text));
  CHECK(text.find("nan") == std::string::npos);
  CHECK(text.find("inf") == std::string::npos);
}

void check_lines(const std::vector<std::string>& lines, std::size_t width) {
  for (const std::string& line : lines) {
    if (text::printable(line) != line) FAIL("not printable: " << line);
    if (width > 0 && text::display_width(line) > width) FAIL("too wide: " << line);
  }
}

void check_rows(const views::Rows& rows) {
  for (const auto& row : rows.cells) {
    REQUIRE(row.size() == rows.titles.size());
    for (const std::string& cell : row) {
      if (cell == "nan" || cell == "inf" || cell == "-inf") FAIL("cell " << cell);
    }
  }
}

std::vector<Window> windows_of(const Snapshot& s, std::mt19937& random) {
  std::vector<Window> windows(5);
  for (Window& w : windows) {
    w.length_s = 0.1;
    for (const Region& r : s.regions) w.regions.push_back({r.id, random() % 5, 9, 1, 1.5, 0.1, 0.1, 0.1, 1.5});
  }
  return windows;
}

void check_all(const Snapshot& s, const std::vector<Window>& windows) {
  const views::Sites sites(s.sites);
  check_json(views::watch_json(s, 12345));
  check_json(session::summary_json(s));
  for (const std::size_t width : {0u, 80u}) {
    const views::PageOptions page{width, 24, width == 0};
    check_lines(views::summary_lines(s, "", width), width);
    check_lines(views::region_lines(s.regions, width), width);
    check_lines(views::rank_lines(s.ranks, s.application, width), width);
    check_lines(views::criterion_lines(s.criteria, width), width);
    check_lines(views::link_lines(s.links, width), width);
    check_lines(views::delay_lines(s.delays, s.regions, sites, width), width);
    check_lines(views::evolution_lines(views::evolution_of(s, windows), s.time_origin_realtime_ns, page), 0);
    check_lines(views::evolution_lines(views::live_evolution(s), s.time_origin_realtime_ns, page), 0);
    const views::EfficiencyRow row{views::EfficiencyRow::Scope::job, -1, efficiency::efficiency_of(s), s.duration_s};
    check_json(views::efficiency_json(row));
    check_lines(views::efficiency_lines({row}, 0), 0);
  }
  check_lines(views::watch_page(s, {}, {80, 24, false}), 80);
  check_json(views::evolution_json(views::evolution_of(s, windows)));
  check_json(views::evolution_json(views::live_evolution(s)));
  check_json(views::delays_json(s.delays, s.regions, sites));
  for (const views::Rows& rows :
       {views::region_rows(s.regions), views::link_rows(s.links), views::criterion_rows(s.criteria),
        views::rank_rows(s.ranks, s.application), views::summary_rows(s), views::delay_rows(s.delays, s.regions, sites),
        views::evolution_rows(views::live_evolution(s))}) {
    check_rows(rows);
  }
}

}  // namespace

TEST_CASE("snapshots full of numbers that are none") {
  for (unsigned seed = 1; seed <= pclscope::test::thinned(40u); ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    Snapshot s = pclscope::testing::RandomSnapshot(seed, 40).make();
    std::vector<Window> windows = windows_of(s, random);
    Poison poison(seed);
    poison.snapshot(s);
    poison.windows(windows);
    check_all(s, windows);
  }
}

TEST_CASE("nothing at all, one rank, and regions without ranks or messages") {
  check_all({}, {});
  Snapshot one;
  one.application.ranks = 1;
  one.ranks.resize(1);
  check_all(one, {Window{}});
  one.regions.resize(3);
  one.regions[1].periods.resize(2);
  one.links.resize(2);
  one.delays.resize(2);
  check_all(one, windows_of(one, *std::make_unique<std::mt19937>(1)));
}

TEST_CASE("graphs full of numbers that are none") {
  for (unsigned seed = 1; seed <= pclscope::test::thinned(40u); ++seed) {
    INFO("seed " << seed);
    Dag dag = pclscope::testing::random_dag(seed, 30);
    Poison(seed).dag(dag);
    std::string text;
    views::write_dag_json(dag, {"n"}, views::Sites(), [&](const std::string& piece) {
      text += piece;
      return true;
    });
    CHECK_NOTHROW(session::Json::parse(text));
    check_lines(views::dag_lines(dag, 80), 80);
    check_lines(views::dag_lines(dag, 0), 0);
  }
}

TEST_CASE("collective calls that end before they begin, and waits of centuries") {
  views::CollectiveSums sums;
  for (const std::int64_t end : {INT64_MIN / 4, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, INT64_MAX / 4}) {
    CollectiveCall call;
    call.function = 65535;
    call.awaited = 1;
    call.begin = 0;
    call.awaited_begin = end;
    call.end = end;
    sums.add(call);
  }
  check_lines(views::collective_lines({}, sums.rows(), 80), 80);
  check_rows(views::collective_rows(sums.rows()));
}
