#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>

#include "interpose/record/functions.hpp"
#include "tests/viewer/hand_made.hpp"
#include "tests/viewer/joined.hpp"
#include "viewer/launch/shell_words.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/views/blocked_time_lines.hpp"
#include "viewer/views/closing_lines.hpp"
#include "viewer/views/efficiency_rows.hpp"
#include "viewer/views/held_up_text.hpp"
#include "viewer/views/message_rows.hpp"
#include "viewer/views/missing_text.hpp"
#include "viewer/views/network_lines.hpp"
#include "viewer/views/region_section.hpp"
#include "viewer/views/sentences.hpp"
#include "viewer/views/summary_tables.hpp"
#include "viewer/views/watch_json.hpp"
#include "viewer/views/watch_page.hpp"

using namespace pclscope;
using Catch::Contains;
using Catch::StartsWith;
using pclscope::test::joined;
using Lines = std::vector<std::string>;

namespace {

std::size_t line_of(const Lines& lines, const std::string& part) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find(part) != std::string::npos) return i;
  }
  return lines.size();
}

void check_fits(const Lines& lines, std::size_t width, std::size_t height) {
  CHECK(lines.size() <= height);
  for (const auto& line : lines) {
    INFO(line);
    CHECK(text::display_width(line) <= width);
    CHECK(text::printable(line) == line);
  }
}

Snapshot big_snapshot(int regions, unsigned seed) {
  Snapshot s = test::hand_made_snapshot();
  std::mt19937 random(seed);
  const Region model = s.regions[0];
  s.regions.clear();
  for (int id = 0; id < regions; ++id) {
    Region r = model;
    r.id = id * 1000;
    r.ranks.clear();
    for (int rank = 0; rank < 500; ++rank) {
      if (random() % 3 == 0) r.ranks.push_back(rank);
    }
    r.messages = random() * std::uint64_t{random()};
    r.mean_latency_ratio = random() * 1e-3;
    s.regions.push_back(r);
  }
  for (int i = 0; i < 30; ++i) s.worst.push_back(s.worst.front());
  s.application.command = std::string(500, 'x');
  return s;
}

}  // namespace

TEST_CASE("the watch page shows what matters") {
  const Lines page = views::watch_page(test::hand_made_snapshot(), {0.08, 0.1, 0.1}, {80, 24, false});
  const std::string text = joined(page);
  check_fits(page, 80, 24);
  CHECK_THAT(text, Contains("heat-4711  ./heat input.txt"));
  CHECK_THAT(text, Contains("Open MPI v4.1.4  6 ranks on 2 nodes  elapsed 12.5 s  data 80.0 ms old"));
  CHECK_THAT(text, Contains("matched 123,456  unmatched 3+1  ambiguous 2  dropped 7  8.0 MiB  half recorded 6"));
  CHECK_THAT(text, Contains("ratio so far typical 1.25  mean 1.50  median 3.25 us  p99 41.5 us  clock viola"));
  CHECK_THAT(text, Contains("\n8 received before sent within the clocks' error\n"));
  CHECK_THAT(text, Contains("25/25/50"));
  CHECK_THAT(text, Contains("4 -> 5"));
  CHECK_THAT(text, Contains("inside now:  outside MPI 50%"));
}

TEST_CASE("several nodes: the dead first, then how well the clocks agree") {
  CHECK(views::network_line({}).empty());
  CHECK(views::network_lines({}).empty());
  CHECK(views::network_lines(test::hand_made_snapshot()).empty());
  const Snapshot s = test::eventful_snapshot();
  CHECK(views::network_line(s) ==
        "the aggregator of n2 died: its ranks were not recorded from then on; "
        "9 messages were counted on their nodes only; "
        "8 received before sent within the clocks' error; clocks agree within 2.10 us");
  CHECK(views::network_lines(s) ==
        Lines{"clocks     n2: offset -2.50 s, drift 3.25 ppm, error at most 2.10 us",
              "dead       the aggregator of n2 died: its ranks were not recorded from then on",
              "left out   9 messages and 1 collective calls: counted on their nodes, not sent to the root"});
  CHECK_THAT(joined(views::summary_lines(s, "", 0)),
             Contains("\nclocks     n2: offset") && Contains("violations 4, unclear 8"));
  CHECK_THAT(joined(views::watch_page(s, {}, {200, 30, false})),
             Contains("the aggregator of n2 died") && Contains("agree within"));
}

TEST_CASE("a thousand nodes: eight clocks, those with the largest errors") {
  Snapshot s = test::hand_made_snapshot();
  s.application.nodes.clear();
  for (int n = 0; n < 1000; ++n) {
    s.application.nodes.emplace_back("n").append(std::to_string(n));
    if (n > 0) s.network.clocks.push_back({n, 1, 0.5, -1e-6, n * 1e-6});
    if (n % 100 == 7) s.network.dead_nodes.push_back(n);
  }
  s.network.corrections.resize(1);
  const Lines lines = views::network_lines(s);
  REQUIRE(lines.size() == 11);
  CHECK(lines[0] == "clocks     n999: offset 500 ms, drift -1.00 ppm, error at most 999 us");
  CHECK(lines[7] == "           n992: offset 500 ms, drift -1.00 ppm, error at most 992 us");
  CHECK(lines[8] == "           991 more, error at most 991 us");
  CHECK_THAT(lines[9], Contains("corrected"));
  CHECK(
      lines[10] ==
      "dead       the aggregators of n7, n107, n207, n307 and 6 more died: their ranks were not recorded from then on");
}

TEST_CASE("the worst region comes first, with its newest window") {
  const Lines page = views::watch_page(test::hand_made_snapshot(), {0.08, 0.1, 0.1}, {80, 24, false});
  CHECK(line_of(page, "3-5") < line_of(page, "0-2"));
  CHECK_THAT(page[line_of(page, "3-5")], Contains(" 12.0     8.50  9.75") && Contains("▂▆▇█"));
  // No message in the newest window: neither a ratio nor a column.
  CHECK_THAT(page[line_of(page, "0-2")], Contains("   -     1.12  1.25"));
}

TEST_CASE("once a cause is found, the region that delays others most comes first") {
  Snapshot s = test::hand_made_snapshot();
  s.ranks[1].delay_caused_s = 2 * s.duration_s;
  s.ranks[4].delay_caused_s = s.duration_s;
  views::PageOptions page{100, 40, true};
  CHECK(joined(views::region_section(s, 10, page)).find("     7  ") <
        joined(views::region_section(s, 10, page)).find("     1  "));
  Finding& found = s.attribution.findings.emplace_back();
  found.cause = Cause::late_sender;
  found.confidence = 0.8;
  const std::string text = joined(views::region_section(s, 10, page));
  CHECK_THAT(text, Contains("delay") && !Contains("mean") && Contains("2.00"));
  CHECK(text.find("     1  ") < text.find("     7  "));
  const views::Closing closing{"job", "", false, true, true, true};
  CHECK_THAT(joined(views::closing_lines(closing, s)),
             Contains("region 1, ranks 0-2, delays others most: as if 2.00 ranks stood still all the time"));
  s.ranks[4].delay_caused_s = s.ranks[1].delay_caused_s;
  CHECK_THAT(joined(views::closing_lines(closing, s)), Contains("all regions are alike"));
  s.ranks[1].delay_caused_s = s.ranks[4].delay_caused_s = 0;
  CHECK_THAT(joined(views::closing_lines(closing, s)), Contains("worst region 7"));
}

TEST_CASE("plain characters on request") {
  const std::string text = joined(views::watch_page(test::hand_made_snapshot(), {0.08, 0.1, 0.1}, {80, 24, true}));
  for (const char c : text) CHECK((c == '\n' || (c >= 0x20 && c < 0x7f)));
}

TEST_CASE("silence is said, not frozen over") {
  const Snapshot snapshot = test::hand_made_snapshot();
  CHECK_THAT(joined(views::watch_page(snapshot, {12.0, 11.8, 0.1}, {80, 24, false})), Contains("no news for 12 s"));
  // With windows of 60 s, silence of 12 s is usual.
  CHECK_THAT(joined(views::watch_page(snapshot, {12.0, 11.8, 60}, {80, 24, false})), Contains("data 12.0 s old"));
  Snapshot over = snapshot;
  over.finished = true;
  CHECK_THAT(joined(views::watch_page(over, {12.0, 11.8, 0.1}, {80, 24, false})), Contains("finished"));
}

TEST_CASE("any snapshot fits any terminal") {
  const auto seed = GENERATE(1u, 2u, 3u);
  const auto regions = GENERATE(0, 1, 5, 20, 300);
  INFO("seed " << seed << ", regions " << regions);
  const Snapshot snapshot = big_snapshot(regions, seed);
  for (const std::size_t width : {1u, 20u, 79u, 80u, 200u}) {
    for (const std::size_t height : {1u, 5u, 10u, 24u, 60u}) {
      check_fits(views::watch_page(snapshot, {}, {width, height, false}), width, height);
    }
  }
  const Lines page = views::watch_page(snapshot, {}, {80, 24, false});
  if (regions >= 20) CHECK_THAT(joined(page), Contains("more regions"));
  CHECK(line_of(page, "inside now") < page.size());
}

TEST_CASE("an empty snapshot has a page") {
  const Lines page = views::watch_page(Snapshot{}, {}, {80, 24, false});
  check_fits(page, 80, 24);
  CHECK_THAT(joined(page), Contains("no regions yet") && Contains("MPI not known yet"));
}

TEST_CASE("what everyone is blocked in") {
  Snapshot s = test::hand_made_snapshot();
  s.sites = {{7, "/bin/heat", 0x123, "exchange", "/src/halo.c", 42, 0, ""}, {8, "/lib/x.so", 0x40, "", "", 0, 0, ""}};
  for (int rank = 3; rank < 6; ++rank) {
    RankSummary& r = s.ranks[static_cast<std::size_t>(rank)];
    r.call_for_s = rank;
    r.call_site = rank == 5 ? 8 : 7;
    r.waits_for = {rank == 5 ? 0 : 1};
  }
  s.functions = {{412, 1000, 12.5, 3, {0, 0.5F, 0.5F, 0.25F}}, {328, 5, 0.5, 0, {0.1F, 0, 0, 0}}};
  s.ranks[3].call_function = s.ranks[4].call_function = s.ranks[5].call_function = 412;
  const Lines page = views::watch_page(s, {}, {80, 24, false});
  check_fits(page, 80, 24);
  CHECK_THAT(joined(page),
             Contains("MPI_Waitall") && Contains("halo.c:42") && Contains("x.so+0x40") && !Contains("DEADLOCK"));
  CHECK_THAT(page[line_of(page, "halo.c:42")], Contains("4.00 s") && Contains("3,4") && Contains("rank 1"));
  CHECK(line_of(page, "x.so+0x40") < line_of(page, "halo.c:42"));  // rank 5 waits longer
  CHECK_THAT(page[line_of(page, "MPI_Send ")], Contains("0%") && Contains("500 ms"));
  CHECK_THAT(page.back(), Contains("outside MPI now: 50%"));
  s.finished = true;
  CHECK(line_of(views::watch_page(s, {}, {80, 24, false}), "halo.c:42") ==
        views::watch_page(s, {}, {80, 24, false}).size());
}

TEST_CASE("a deadlock stands on top, however long, on any terminal") {
  Snapshot s = big_snapshot(20, 4);
  s.sites = {{7, "/bin/heat", 0x123, "\x1b[2J", "/src/\x1b]0;ha\nlo.c", 42, 0, ""}};
  Deadlock d;
  d.since_s = 10;
  for (int rank = 0; rank < 300; ++rank) {
    DeadlockMember m;
    m.rank = rank;
    m.function = 300;
    m.site = 7;
    m.waits_for = {(rank + 1) % 300};
    d.members.push_back(m);
  }
  s.deadlocks = {d, d, d, d, d, d};
  for (const std::size_t width : {1u, 20u, 79u, 80u, 200u}) {
    for (const std::size_t height : {1u, 5u, 10u, 24u, 60u})
      check_fits(views::watch_page(s, {}, {width, height, false}), width, height);
  }
  const Lines page = views::watch_page(s, {}, {80, 24, false});
  CHECK_THAT(page[line_of(page, "DEADLOCK")], Contains("DEADLOCK of ranks 0-299 for 2.50 s: rank 0 in MPI_Recv"));
  CHECK(line_of(page, "DEADLOCK") == 6);  // right below the header
  CHECK(line_of(page, "region") < page.size());
  CHECK_THAT(joined(page), Contains("and more"));
}

TEST_CASE("the JSON of watch has functions, blocked ranks and deadlocks") {
  Snapshot s = test::hand_made_snapshot();
  s.sites = {{7, "/bin/heat", 0x123, "exchange", "/src/halo.c", 42, 0, ""}};
  s.functions = {{300, 1000, 12.5, 3, std::vector<float>(100, 0.5F)}};
  s.ranks[4].call_function = 300;
  s.ranks[4].call_for_s = 3;
  s.ranks[4].call_site = 7;
  s.ranks[4].waits_for = {5};
  s.deadlocks.resize(1);
  s.deadlocks[0].members.resize(1);
  s.deadlocks[0].members[0].waits_for = {0};
  const session::Json json = views::watch_json(s, s.live.window_end_realtime_ns);
  CHECK(json["messages"]["matched"] == 123456);
  CHECK(json["functions"][0]["function"] == "MPI_Recv");
  CHECK(json["functions"][0]["history_share"].size() == 60);
  REQUIRE(json["blocked"].size() == 1);
  CHECK(json["blocked"][0]["rank"] == 4);
  CHECK(json["blocked"][0]["site"] == "/src/halo.c:42");
  CHECK(json["blocked"][0]["waits_for"] == session::Json::array({5}));
  CHECK(json["deadlocks"][0]["members"][0]["waits_for"] == session::Json::array({0}));
  CHECK(views::watch_json(Snapshot{}, std::nullopt)["deadlocks"].empty());
}

TEST_CASE("ranks that have not started yet are nowhere") {
  Snapshot s = test::hand_made_snapshot();
  for (RankSummary& rank : s.ranks) rank.node = -1;
  CHECK_THAT(views::watch_page(s, {}, {80, 24, false}).back(), Contains("no rank has called MPI_Init yet"));
  s.ranks[5].node = 0;
  CHECK_THAT(views::watch_page(s, {}, {80, 24, false}).back(), Contains("MPI_") && Contains(" 100%"));
  s.ranks[5].finished = true;
  CHECK_THAT(views::watch_page(s, {}, {80, 24, false}).back(), Contains("(1 finished)"));
}

TEST_CASE("control characters in names do not reach any view") {
  Snapshot s = test::hand_made_snapshot();
  s.job = "a\x1b[2Jb";
  s.application.command = "x\x1b]0;owned\x07\n\xc2\x9b";
  s.application.mpi = "\x1b[31mMPI";
  s.application.nodes = {"n\x1b", "m\n"};
  check_fits(views::watch_page(s, {}, {80, 24, false}), 80, 24);
  check_fits(views::summary_lines(s, "", 80), 80, 100);
  check_fits(views::rank_lines(s.ranks, s.application, 80), 80, 100);
  for (const auto& row : views::summary_rows(s).cells) check_fits(row, 1000, 2);
}

TEST_CASE("tables of a dump fit 80 columns when asked, and are whole otherwise") {
  const Snapshot s = big_snapshot(40, 5);
  check_fits(views::summary_lines(s, "", 80), 80, 100);
  check_fits(views::region_lines(s.regions, 80), 80, 41);
  check_fits(views::rank_lines(s.ranks, s.application, 80), 80, 7);
  check_fits(views::criterion_lines(s.criteria, 80), 80, 4);
  CHECK(joined(views::region_lines(s.regions, 0)).find('~') == std::string::npos);
  CHECK_THAT(joined(views::criterion_lines(s.criteria, 80)), Contains("inter-node") && Contains("2.00 us"));
}

TEST_CASE("rows for programs have the names and values of the JSON objects") {
  const Snapshot s = test::hand_made_snapshot();
  const views::Rows regions = views::region_rows(s.regions);
  CHECK(regions.titles == Lines{"id", "ranks", "from_s", "until_s", "parent", "messages", "bytes", "delayed",
                                "mean_latency_ratio", "mean_transfer_ratio", "delayed_share", "late_sender_s",
                                "late_receiver_s", "transfer_s", "collective_wait_s", "typical_ratio"});
  CHECK(regions.cells[1] == Lines{"7", "3 4 5", "0.0", "-1.0", "-1", "100000", "1048576", "1000", "9.75", "0.0", "0.5",
                                  "1.0", "1.0", "2.0", "0.0", "8.5"});
  CHECK(views::summary_rows(s).cells[0] == Lines{"application.command", "./heat input.txt"});
  CHECK(views::criterion_rows(s.criteria).cells[2] == Lines{"1", "0", "50", "5", "0.0001", "", "0.0", "0.0"});
  CHECK(views::rank_rows(s.ranks, s.application).cells[3][1] == "n2");
}

TEST_CASE("a ratio is the time over the criterion of its class and size") {
  const views::Criteria criteria(test::hand_made_snapshot().criteria);
  Message m;
  m.bytes = 49;
  m.recv_end = 3000;
  CHECK(*criteria.ratio(m) == Approx(1.5));
  m.bytes = 50;
  CHECK(*criteria.ratio(m) == Approx(0.75));
  m.bytes = 100;
  CHECK_FALSE(criteria.ratio(m));  // beyond all bins of its class
  m.bytes = 10;
  m.flags = message_flag::inter_node;
  CHECK(*criteria.ratio(m) == Approx(0.03));
  m.flags = message_flag::unseen_completion;
  CHECK_FALSE(criteria.ratio(m));
  CHECK_FALSE(views::Criteria({}).ratio(Message{}));
}

TEST_CASE("efficiencies in a line: what is not known is left out") {
  Efficiency e;
  CHECK(views::efficiency_text(e).empty());
  e.ranks = 4;
  e.end_s = 10;
  e.useful_s = 4;
  e.most_useful_s = 5;
  CHECK(views::efficiency_text(e) == "parallel 40% = load balance 80% x communication 50%");
  CHECK(views::brief_efficiency_text(e) == "parallel 40% = balance 80% x communication 50%");
  e.ideal_s = 6.25;
  e.replayed = 1;
  CHECK(views::efficiency_text(e) ==
        "parallel 40% = load balance 80% x communication 50% (serialisation 80% x transfer 62%)");
  CHECK(views::brief_efficiency_text(e) == "parallel 40% = balance 80% x serialisation 80% x transfer 62%");
  e.replayed = 0.25;
  e.off_core_s = 1;
  CHECK(views::brief_efficiency_text(e).ends_with("62%, transfer from 25% of the messages; 10% off the core"));
  // Useful time is known between two numbers only: no factor is told.
  e.useful_least_s = 0.02;
  e.useful_most_s = 4;
  const std::string range = "parallel <1% to 40%: not known closer, ranks were off the core";
  CHECK(views::efficiency_text(e) == range);
  CHECK(views::brief_efficiency_text(e) == range);
  const auto lines = views::efficiency_lines({{views::EfficiencyRow::Scope::job, -1, e, {}}}, 200);
  REQUIRE(lines.size() == 3);
  CHECK(lines[1].find('%') == std::string::npos);
  CHECK(lines[2] ==
        "job: useful between 20.0 ms and 4.00 s of 10.0 s, not known closer: ranks were off the core, inside MPI or "
        "outside");
  const auto json = views::efficiency_json(e);
  for (const char* name : {"parallel", "load_balance", "communication", "serialisation", "transfer", "useful_s",
                           "most_useful_s", "most_useful_rank", "off_core_s"})
    CHECK(json[name].is_null());
  CHECK(json["useful_most_s"] == 4);
  CHECK(views::grade_of(0.8) == views::Grade::good);
  CHECK(views::grade_of(0.79) == views::Grade::fair);
  CHECK(views::grade_of(0.59) == views::Grade::poor);
}

TEST_CASE("who ended a job is named where one rank stands out") {
  constexpr auto abort = static_cast<std::uint16_t>(record::Function::Abort);
  constexpr auto receive = static_cast<std::uint16_t>(record::Function::Recv);
  Snapshot s;
  s.application.ranks = 4;
  for (std::int32_t r = 0; r < 4; ++r) {
    RankSummary& rank = s.ranks.emplace_back();
    rank.rank = r;
    rank.threads = 1;
    rank.mark_missing(1'000'000'000);
    if (r != 2) rank.call_function = receive;
  }
  const std::string ended = "ranks 0-3 are missing from 1.0 s on (the job or its aggregator was ended";
  CHECK(views::missing_text(s, true) == ended + "; rank 2 was outside MPI at the end, all others inside MPI calls)");
  CHECK(views::missing_text(s, false).find("rank 2") == std::string::npos);  // nobody knows how it ended
  s.ranks[1].call_function = 0;                                              // two of four: no one stands out
  CHECK(views::missing_text(s, true) == ended + ")");
  s.ranks[1].call_function = abort;
  CHECK(views::missing_text(s, true) == ended + "; rank 1 called MPI_Abort)");
  s.ranks[1].call_function = receive;
  s.ranks[2].missing = false;  // its record is whole: it ended by itself
  CHECK(views::missing_text(s, true) ==
        "ranks 0,1,3 are missing from 1.0 s on (the job or its aggregator was ended; "
        "rank 2 ended without MPI_Finalize)");
  s.finished = true;
  CHECK(views::missing_text(s, true).find("rank 2") == std::string::npos);
  // All left by themselves: nothing is missing of any.
  for (RankSummary& rank : s.ranks) rank.missing = false, rank.call_function = 0;
  s.finished = false;
  CHECK(views::missing_text(s, true).empty());  // it still runs
  s.ended = true;
  CHECK(views::missing_text(s, true) == "the job ended before MPI_Finalize (ranks 0-3 ended without MPI_Finalize)");
}

TEST_CASE("calls that have not returned are part of a time that is as long as they") {
  Snapshot s;
  s.application.ranks = 2;
  s.duration_s = 1;  // the newest event; both have been inside a call for 9 s since
  for (std::int32_t r = 0; r < 2; ++r) {
    RankSummary& rank = s.ranks.emplace_back();
    rank.rank = r;
    rank.threads = 1;
    rank.mpi_s = rank.other_s = 0.5;
    rank.end_s = 1;
    rank.call_function = static_cast<std::uint16_t>(record::Function::Recv);
    rank.call_for_s = 9;
  }
  const views::InsideMpi sum = views::inside_mpi(s);
  CHECK(sum.inside_s == Approx(19));
  CHECK(sum.whole_s == Approx(20));
  CHECK_THAT(views::sentences(s, views::Sites(s.sites)).at(0), StartsWith("The ranks spend 95% of their time in MPI"));
  s.ranks[0].mark_missing(1'000'000'000);  // only of a job that is over
  CHECK_THAT(views::sentences(s, views::Sites(s.sites)).at(0), StartsWith("The ranks spent 95% of their time in MPI"));
}

TEST_CASE("what is missing is said in one sentence") {
  Snapshot s = test::hand_made_snapshot();
  s.finished = true;
  CHECK(views::missing_text(s, true).empty());
  s.ranks[3].mark_missing(7'387'200'000'000);
  CHECK(views::missing_text(s, true) == "rank 3 is missing from 2:03:07 on (its record breaks off)");
  s.ranks[5].mark_missing(7'387'200'000'001);
  CHECK(views::missing_text(s, true) == "ranks 3,5 are missing from 2:03:07 on (their records break off)");
  s.finished = false;
  s.ranks[4].mark_missing(12'000'000'000);
  CHECK(views::missing_text(s, true) ==
        "ranks 3-5 are missing, the first (4) from 12.0 s on (the job or its aggregator was ended)");
  s.ranks[0].mark_missing(-5);
  CHECK(views::missing_text(s, false) ==
        "ranks 0,3-5 are missing, the first (0) from the beginning (the run was cut off or still goes on)");
  CHECK_THAT(joined(views::summary_lines(s, "rank 3 is missing", 0)), Contains("\nnot complete: rank 3 is missing\n"));
  const views::Closing closing{"heat-1", "/tmp/run.h5", true, true, true};
  CHECK_THAT(joined(views::closing_lines(closing, s)), Contains("\nnot complete: ranks 0,3-5 are missing"));
  const session::Json json = session::summary_json(s);
  CHECK(json["missing"].size() == 4);
  CHECK(json["missing"][0] == session::Json::parse(R"({"rank": 0, "from_s": 0.0})"));
}

TEST_CASE("what full buffers cost the ranks is said in one line, and nothing when it was nothing") {
  Snapshot s = test::hand_made_snapshot();
  const views::Closing closing{"heat-1", "/tmp/run.h5", true, true, true};
  const auto all = [&] {
    return joined(views::summary_lines(s, "", 0)) + joined(views::closing_lines(closing, s)) +
           joined(views::header_lines(s, {}));
  };
  CHECK_THAT(all(), !Contains("held up"));
  s.ranks[1].held_up_s = 1.25;
  s.ranks[4].held_up_s = 2;
  const std::string line = "ranks were held up by the tool for 3.25 s in all: their buffers were full";
  CHECK(views::held_up_text(s) == line);
  CHECK_THAT(joined(views::summary_lines(s, "", 0)), Contains(line));
  CHECK_THAT(joined(views::closing_lines(closing, s)), Contains(line));
  CHECK_THAT(joined(views::header_lines(s, {})), Contains(line));
}

TEST_CASE("of a run of which nothing was recorded there are no numbers, and one line unless somebody has said why") {
  Snapshot s;
  s.application.ranks = 2;
  s.ended = true;
  s.ranks.resize(2);
  for (RankSummary& r : s.ranks) r.mark_missing(0);
  views::Closing closing{"job", "", false, true, true};
  CHECK(views::closing_lines(closing, s) == Lines{"job: nothing was recorded"});
  closing.why_nothing_said = true;
  CHECK(views::closing_lines(closing, s).empty());
  s.ranks[1].threads = 1;
  CHECK_THAT(joined(views::closing_lines(closing, s)), Contains("0 messages matched") && Contains("not complete"));
}

TEST_CASE("a run that ended in order names the ranks that left without MPI_Finalize") {
  Snapshot s;
  s.application.ranks = 3;
  s.ended = s.finished = true;
  s.ranks.resize(3);
  for (std::size_t r = 0; r < 3; ++r) {
    s.ranks[r].rank = static_cast<std::int32_t>(r);
    s.ranks[r].threads = 1;
  }
  views::Closing closing{"job", "", false, true, true};
  closing.detached = true;  // they left the record alone
  CHECK_THAT(joined(views::closing_lines(closing, s)), !Contains("MPI_Finalize"));
  closing.detached = false;
  CHECK_THAT(joined(views::closing_lines(closing, s)), Contains("\nranks 0-2 ended without MPI_Finalize"));
  s.ranks[0].finished = s.ranks[2].finished = true;
  s.finalized_ranks = 2;
  CHECK_THAT(joined(views::closing_lines(closing, s)), Contains("\nrank 1 ended without MPI_Finalize"));
  s.finalized_ranks = 3;  // it is known only that all did
  CHECK_THAT(joined(views::closing_lines(closing, s)), !Contains("MPI_Finalize"));
}

TEST_CASE("a dump's name is quoted in the command that is offered, where a shell needs it") {
  const std::string name = "/tmp/odd dir/it's <b>&.h5";
  const views::Closing closing{"job", name, true, true, true};
  const std::string line = views::closing_lines(closing, test::hand_made_snapshot()).back();
  const auto words = launch::split_words(line.substr(line.find("pclscope inspect")));
  CHECK(words == std::vector<std::string>{"pclscope", "inspect", name});
}

TEST_CASE("closing lines are at most six and name the worst region") {
  views::Closing closing{"heat-1", "/tmp/run.h5", true, true, true};
  const Lines lines = views::closing_lines(closing, test::hand_made_snapshot());
  REQUIRE(lines.size() == 4);
  CHECK_THAT(lines[0], Contains("123,456 messages matched") && Contains("2 regions") && Contains("dropped events 7"));
  CHECK(lines[1] == "2 nodes: 8 received before sent within the clocks' error");
  CHECK_THAT(lines[2], Contains("worst region 7, ranks 3-5"));
  CHECK_THAT(lines[3], Contains("pclscope inspect /tmp/run.h5"));
  Snapshot one = test::hand_made_snapshot();
  one.application.nodes.resize(1);
  CHECK(views::closing_lines(closing, one).size() == 3);  // a job on one node has no line of nodes
  closing.dump_exists = false;
  CHECK_THAT(views::closing_lines(closing, std::nullopt).back(), Contains("no readable dump"));
  closing.dump_exists = true;
  closing.dump_whole = false;
  CHECK_THAT(views::closing_lines(closing, one).back(), Contains("storing stopped"));
  CHECK(views::closing_lines({"x", "", false, true, true}, std::nullopt).empty());
  CHECK_THAT(views::closing_lines({"x", "", false, false, false}, std::nullopt).at(0),
             Contains("nothing was recorded"));
}
