// The sentences about a run, their grammar, and that nothing is said that is not known.
#include "viewer/views/sentences.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "tests/analysis/wire/random_snapshot.hpp"
#include "viewer/text/printable.hpp"

using namespace pclscope;
using Lines = std::vector<std::string>;

namespace {

// A finished job of 10 s in which each rank was inside MPI for `mpi_s`, all of it waiting for late senders.
Snapshot job(std::int32_t ranks, double mpi_s) {
  Snapshot s;
  s.finished = true;
  s.duration_s = 10;
  s.application.ranks = ranks;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    RankSummary& r = s.ranks.emplace_back();
    r.rank = rank;
    r.threads = 1;
    r.mpi_s = r.late_sender_s = mpi_s;
  }
  s.delay_totals.waited_s = s.delay_totals.attributed_s = ranks * mpi_s;
  return s;
}

Snapshot late_rank(std::int32_t rank, double mpi_s = 4) {
  Snapshot s = job(4, mpi_s);
  s.ranks[static_cast<std::size_t>(rank)].delay_caused_s = 0.9 * s.delay_totals.waited_s;
  return s;
}

Lines said(const Snapshot& s) { return views::sentences(s, views::Sites(s.sites)); }

}  // namespace

TEST_CASE("words are listed with commas and one and") {
  CHECK(views::in_words({}).empty());
  CHECK(views::in_words({"a"}) == "a");
  CHECK(views::in_words({"a", "b"}) == "a and b");
  CHECK(views::in_words({"a", "b", "c"}) == "a, b and c");
}

TEST_CASE("ranks: one, several, and others") {
  CHECK(views::ranks_in_words({5}) == "rank 5");
  CHECK(views::ranks_in_words({5, 4}) == "ranks 5 and 4");
  CHECK(views::ranks_in_words({1, 2, 3, 4}) == "ranks 1, 2, 3 and 4");
  CHECK(views::ranks_in_words({9, 2, 3, 4, 5}) == "ranks 9, 2, 3 and 2 others");
  std::vector<std::int32_t> many(40);
  for (std::int32_t r = 0; r < 40; ++r) many[static_cast<std::size_t>(r)] = r;
  CHECK(views::ranks_in_words(many) == "ranks 0, 1, 2 and 37 others");
}

TEST_CASE("a rank that comes as late, and that hardly anybody waited for, is told with the one waited for") {
  Snapshot s = late_rank(3);
  s.ranks[1].delay_caused_s = 0.01 * s.delay_totals.waited_s;
  Finding& f = s.attribution.findings.emplace_back();
  f.cause = Cause::collective_wait;
  f.detail = "same rank late";
  f.ranks = {3, 1};
  f.confidence = 0.9;
  f.gain_s = 3;
  const Lines both = said(s);
  REQUIRE(both.size() == 3);
  CHECK(both[1] == "Most of the waiting (90%) was for ranks 3 and 1.");
  CHECK(both[2].starts_with("Without that the run would have taken 7.0"));
  s.ranks[1].delay_caused_s = 0.2 * s.delay_totals.waited_s;  // of its group: waited for, but less
  CHECK(said(s)[1] == "Most of the waiting (90%) was for rank 3.");
}

TEST_CASE("where time goes: the largest parts, and none that is zero") {
  Snapshot s = job(4, 2);
  s.delay_totals = {};
  CHECK(said(s) == Lines{"The ranks spent 20% of their time in MPI: 20% waiting for messages that were not sent yet."});
  for (RankSummary& r : s.ranks) {
    r.late_sender_s = 0;
    r.transfer_s = 1.5;
    r.other_s = 0.5;
  }
  CHECK(said(s).front() ==
        "The ranks spent 20% of their time in MPI: 15% waiting for messages under way and 5% otherwise inside MPI.");
  s.finished = false;
  CHECK(said(s).front().starts_with("The ranks spend 20% of their time"));
  s.ended = true;  // not in order, but it is over
  CHECK(said(s).front().starts_with("The ranks spent 20% of their time"));
}

TEST_CASE("MPI_Init and MPI_Finalize are parts, and the end may be for one rank") {
  Snapshot s = job(4, 1);
  for (RankSummary& r : s.ranks) {
    r.init_s = 0.5;
    r.finished = true;
    r.end_s = r.rank == 2 ? 10 : 7 + 0.1 * r.rank;
    r.finalize_s = 10 - r.end_s;
    r.mpi_s += r.init_s + r.finalize_s;
  }
  CHECK(said(s) ==
        Lines{"The ranks spent 37% of their time in MPI: 22% waiting in MPI_Finalize for ranks that came later, "
              "10% waiting for messages that were not sent yet and 5% in MPI_Init.",
              "Most of the waiting in MPI_Finalize was for rank 2, which came last."});
  s.ranks[1].end_s = 9.9, s.ranks[1].finalize_s = 0.1, s.ranks[3].end_s = 9, s.ranks[3].finalize_s = 1;
  s.ranks[0].finalize_s = 5, s.ranks[0].end_s = 5;  // nobody alone
  CHECK(said(s).size() == 1);
}

TEST_CASE("calls that do not return are time in MPI") {
  Snapshot s = job(4, 1);
  s.delay_totals = {};
  for (RankSummary& r : s.ranks) r.call_function = 1, r.call_for_s = r.rank == 0 ? 0 : 8;
  CHECK(said(s).front() ==
        "The ranks spent 70% of their time in MPI: 60% in calls that did not return and 10% waiting for messages that "
        "were not sent yet.");
  s.finished = false;
  CHECK(said(s).front().find("60% in calls that have not returned yet") != std::string::npos);
  s.ranks[1].finished = true;  // in MPI_Finalize
  CHECK(said(s).front().find("50% in calls that ") == std::string::npos);
}

TEST_CASE("ranks without a core are told so, not of a faster network") {
  Snapshot s = job(4, 1);
  s.delay_totals = {};
  for (RankSummary& r : s.ranks) {
    r.running_s = 5, r.off_core_s = 4, r.asleep_s = 1, r.begin_s = 0, r.end_s = 10;
    r.off_core_computing_s = 3;
    r.ideal_saved_s = 5;
  }
  CHECK(said(s).back() == "The ranks were ready to compute, but had no core, for 30% of their time.");
  s.conditions.resize(2);  // the costliest says why, whichever comes first
  s.conditions[0].kind = ConditionKind::other_load;
  s.conditions[0].cost_s = 1;
  s.conditions[1].kind = ConditionKind::more_ranks_than_cores;
  s.conditions[1].cost_s = 11;
  CHECK(said(s).back() ==
        "The ranks were ready to compute, but had no core, for 30% of their time: there were more ranks than cores.");
  s.finished = false;
  CHECK(said(s).back() ==
        "The ranks are ready to compute, but have no core, for 30% of their time: there are more ranks than cores.");
  s.finished = true;
  // Off the core inside MPI: a network would not help either, whoever has the cores.
  for (RankSummary& r : s.ranks) r.off_core_computing_s = 0;
  s.conditions[0].in_mpi_s = 12;
  s.conditions[1].in_mpi_s = 4;
  CHECK(said(s).back() ==
        "The ranks had no core for 40% of their time, most of it inside MPI: other programs used them.");
  s.conditions[1].in_mpi_s = 13;
  CHECK(said(s).back() ==
        "The ranks had no core for 40% of their time, most of it inside MPI: there were more ranks than cores.");
  s.conditions.clear();  // nobody knows why
  CHECK(said(s).back() == "The ranks had no core for 40% of their time, most of it inside MPI.");
  // Less, and of a network that would save 1 s: nothing is said as long as the cores explain more than a tenth of it.
  for (RankSummary& r : s.ranks) r.off_core_s = 1, r.running_s = 8;
  CHECK(said(s).back().find("network") == std::string::npos);
  for (RankSummary& r : s.ranks) r.off_core_s = 0.05, r.running_s = 8.95;
  CHECK(said(s).back().starts_with("On a network on which nothing takes time"));
}

TEST_CASE("a job of one rank is no plural") {
  Snapshot s = job(1, 0);
  s.ranks[0].mpi_s = s.ranks[0].file_s = 3;
  CHECK(said(s) == Lines{"The rank spent 30% of its time in MPI: 30% in files."});
}

TEST_CASE("whom most of the waiting is for, and where it comes late") {
  Snapshot s = late_rank(2);
  REQUIRE(said(s).size() == 2);
  CHECK(said(s)[1] == "Most of the waiting (90%) was for rank 2.");
  s.sites = {{7, "/opt/app", 0x1000, "step", "/src/halo.c", 42, 0, ""},
             {8, "/opt/app", 0x2000, "io", "/src/io.c", 7, 0, ""}};
  DelayOrigin d;
  d.rank = 2, d.site = 7, d.cost_s = 8;
  s.delays = {d};
  CHECK(said(s)[1] == "Most of the waiting (90%) was for rank 2, late at halo.c:42.");
  d.site = 8;
  s.delays.push_back(d);
  d.rank = 1, d.site = 7;  // of another rank: not told
  s.delays.push_back(d);
  CHECK(said(s)[1] == "Most of the waiting (90%) was for rank 2, late at halo.c:42 and io.c:7.");
  s.finished = false;
  CHECK(said(s)[1].starts_with("Most of the waiting (90%) is for rank 2"));
}

TEST_CASE("several ranks share the waiting: as many as it takes, the worst first") {
  Snapshot s = job(8, 4);
  for (const std::size_t rank : {1u, 3u, 6u}) s.ranks[rank].delay_caused_s = 6;
  s.ranks[6].delay_caused_s = 6.7;
  CHECK(said(s)[1] == "Most of the waiting (58%) was for ranks 6, 1 and 3.");
}

TEST_CASE("ranks that are late one after the other, as findings of one kind say, are told together") {
  Snapshot s = job(4, 4);
  for (RankSummary& r : s.ranks) r.delay_caused_s = 4;
  s.ranks[3].delay_caused_s = 4.1;
  Finding f;
  f.cause = Cause::late_receiver;
  f.confidence = 0.9;
  f.ranks = {3};
  s.attribution.findings = {f};
  CHECK(said(s)[1] == "Senders waited for rank 3, late to receive.");  // one alone says nothing of the others
  f.ranks = {0};
  s.attribution.findings.push_back(f);
  CHECK(said(s)[1] == "Others waited for ranks 0, 1, 2 and 3 in turn.");
  s.attribution.findings[1].cause = Cause::startup;
  CHECK(said(s)[1] == "Senders waited for rank 3, late to receive.");
}

TEST_CASE("nobody is picked where all are alike") {
  Snapshot s = job(8, 4);
  for (RankSummary& r : s.ranks) r.delay_caused_s = 4;
  s.ranks[6].delay_caused_s = 4.5;
  CHECK(said(s)[1] == "No rank stands out: others waited for many in turn.");
  s.finished = false;
  CHECK(said(s)[1] == "No rank stands out: others wait for many in turn.");
  Snapshot two = job(2, 4);
  two.ranks[0].delay_caused_s = 4.4;
  two.ranks[1].delay_caused_s = 3.6;
  CHECK(said(two)[1] == "No rank stands out: others waited for many in turn.");
  two.ranks[0].delay_caused_s = 6.4;
  two.ranks[1].delay_caused_s = 1.6;
  CHECK(said(two)[1] == "Most of the waiting (80%) was for rank 0.");
}

TEST_CASE("one of many that caused twice as much as the next one stands out, though not for half of it") {
  Snapshot s = job(6, 4);
  for (RankSummary& r : s.ranks) r.delay_caused_s = 0.09 * s.delay_totals.waited_s;
  s.ranks[4].delay_caused_s = 0.2 * s.delay_totals.waited_s;
  CHECK(said(s)[1] == "Others waited for many ranks, longest for rank 4 (20% of the waiting).");
  s.finished = false;
  CHECK(said(s)[1] == "Others wait for many ranks, longest for rank 4 (20% of the waiting).");
  s.ranks[2].delay_caused_s = 0.12 * s.delay_totals.waited_s;
  CHECK(said(s)[1] == "No rank stands out: others wait for many in turn.");
}

TEST_CASE("waiting that goes back to no rank") {
  Snapshot s = job(4, 4);
  s.delay_totals.attributed_s = 0;
  s.delay_totals.inside_mpi_s = 15;
  CHECK(said(s)[1] == "Most of the waiting was for ranks that were held up inside MPI themselves.");
  s.delay_totals.inside_mpi_s = 0;
  CHECK(said(s)[1] == "Where most of the waiting began was not seen.");
  s = job(4, 0.1);  // hardly any
  CHECK(said(s).size() == 1);
}

TEST_CASE("what it would bring: of the finding, in words that fit the sentence before") {
  Snapshot s = late_rank(2);
  Finding f;
  f.cause = Cause::late_sender;
  f.ranks = {2};
  f.confidence = 0.9;
  f.gain_s = 3;
  s.attribution.findings = {f};
  REQUIRE(said(s).size() == 3);
  CHECK(said(s)[2] == "Without that the run would have taken 7.00 s instead of 10.0 s.");
  // The finding is of somebody else than the delays: it is believed, and both sentences are of it.
  s.attribution.findings[0].ranks = {1};
  CHECK(said(s)[1] == "Others waited for rank 1.");
  CHECK(said(s)[2] == "Without that the run would have taken 7.00 s instead of 10.0 s.");
  // Of more, or of fewer ranks than those most of the waiting is for.
  s.attribution.findings[0].ranks = {2, 3};
  s.ranks[3].delay_caused_s = 0.2 * s.ranks[2].delay_caused_s;
  CHECK(said(s)[1] == "Most of the waiting (90%) was for rank 2.");
  CHECK(said(s)[2] == "Without the delays by ranks 2 and 3 the run would have taken 7.00 s instead of 10.0 s.");
  s.ranks[3].delay_caused_s = 0;
  s.ranks[1].delay_caused_s = s.ranks[2].delay_caused_s = 7;
  s.attribution.findings[0].ranks = {2};
  CHECK(said(s)[1] == "Most of the waiting (88%) was for ranks 1 and 2.");
  CHECK(said(s)[2] == "Without the delays by rank 2 alone the run would have taken 7.00 s instead of 10.0 s.");
  s.ranks[1].delay_caused_s = 0;
  s.attribution.findings[0].ranks.clear();
  s.attribution.findings[0].cause = Cause::mapping;
  CHECK(said(s)[2] == "With the ranks placed better the run would have taken 7.00 s instead of 10.0 s.");
  s.attribution.findings[0].cause = Cause::pattern;
  s.attribution.findings[0].detail = "many to one";
  CHECK(said(s)[2] ==
        "Without the first finding (pattern, many to one) the run would have taken 7.00 s instead of 10.0 s.");
  s.attribution.findings[0].cause = Cause::load_imbalance;
  CHECK(said(s)[2] == "With equal load the run would have taken 7.00 s instead of 10.0 s.");
  s.finished = false;
  CHECK(said(s)[2] == "With equal load the run so far would have taken 7.00 s instead of 10.0 s.");
  for (const double nothing : {-1.0, 0.0, 0.1, 11.0, std::numeric_limits<double>::quiet_NaN()}) {
    s.attribution.findings[0].gain_s = nothing;
    CHECK(said(s).size() == 2);
  }
  s.attribution.findings[0].gain_s = 3;
  s.attribution.findings[0].confidence = 0.4;
  CHECK(said(s).size() == 2);
}

TEST_CASE("where delays name nobody, the finding that is believed does") {
  Snapshot s = job(2, 4);
  s.ranks[0].delay_caused_s = 4.4;
  s.ranks[1].delay_caused_s = 3.6;
  Finding f;
  f.confidence = 0.9;
  f.ranks = {1};
  f.site = 7;
  s.sites = {{7, "/opt/app", 0x1000, "step", "/src/halo.c", 42, 0, ""}};
  const auto second = [&](Cause cause, const char* detail = "") {
    f.cause = cause;
    f.detail = detail;
    s.attribution.findings = {f};
    return said(s).size() > 1 ? said(s)[1] : std::string();
  };
  CHECK(second(Cause::late_sender) == "Others waited for rank 1, late at halo.c:42.");
  CHECK(second(Cause::late_receiver) == "Senders waited for rank 1, late to receive at halo.c:42.");
  CHECK(second(Cause::collective_wait) == "Others waited in collectives for rank 1, late at halo.c:42.");
  CHECK(second(Cause::one_sided_wait) == "Others waited in one-sided synchronisation for rank 1, late at halo.c:42.");
  CHECK(second(Cause::startup) == "Others waited in MPI_Init for rank 1.");
  CHECK(second(Cause::load_imbalance) == "What the ranks compute differed over all of them.");
  CHECK(second(Cause::pattern, "imbalance") ==
        "Others waited for rank 1, which had more messages and more to compute.");
  CHECK(second(Cause::pattern, "chain") == "In a chain each rank waited for the one before.");
  CHECK(second(Cause::mapping) == "No rank stands out: others waited for many in turn.");
  f.ranks.clear();
  CHECK(second(Cause::startup, "processes begun late") ==
        "Ranks waited in MPI_Init for processes that were begun later, or had no core.");
  f.ranks = {1};
  s.finished = false;
  CHECK(second(Cause::blocked, "still waiting") == "Others wait for rank 1, which does not come.");
  f.ranks = {0, 1};
  CHECK(second(Cause::blocked, "deadlock") == "Deadlock: ranks 0 and 1 can not go on, in a call at halo.c:42.");
  CHECK(second(Cause::blocked, "collectives that do not match") ==
        "Deadlock: the collectives of ranks 0 and 1 do not match.");
  // What is blocked comes first, whatever else was found.
  Finding late = f;
  late.cause = Cause::late_sender;
  s.attribution.findings.insert(s.attribution.findings.begin(), late);
  CHECK(said(s)[1].starts_with("Deadlock"));
  f.confidence = 0.4;
  CHECK(second(Cause::late_sender) == "No rank stands out: others wait for many in turn.");
}

TEST_CASE("no finding: what an ideal network would bring") {
  Snapshot s = job(2, 4);
  s.delay_totals = {};
  for (RankSummary& r : s.ranks) {
    r.begin_s = 0, r.end_s = 10, r.finished = true;
    r.ideal_saved_s = 3;
  }
  REQUIRE(said(s).size() == 2);
  CHECK(said(s)[1] == "On a network on which nothing takes time the run would have taken 7.00 s instead of 10.0 s.");
  for (RankSummary& r : s.ranks) r.ideal_saved_s = 0.5;  // ranks that wait for each other cost more
  CHECK(said(s).size() == 1);
}

TEST_CASE("nothing recorded: nothing said") {
  CHECK(said(Snapshot()).empty());
  Snapshot s = job(3, 1);
  for (RankSummary& r : s.ranks) r.threads = 0;  // an older dump
  CHECK(said(s).empty());
}

TEST_CASE("in narrow lines only whole sentences are shown") {
  const Snapshot s = late_rank(2);
  const views::Sites sites(s.sites);
  CHECK(views::sentence_lines(s, sites, 0, 9) == said(s));
  CHECK(views::sentence_lines(s, sites, 0, 1) == Lines{said(s)[0]});
  const Lines narrow = views::sentence_lines(s, sites, 40, 9);
  CHECK(narrow.size() > 2);
  for (const std::string& line : narrow) CHECK(text::display_width(line) <= 40);
  CHECK(narrow.back().ends_with("2."));
  CHECK(views::sentence_lines(s, sites, 40, narrow.size() - 1).back().ends_with("sent yet."));
}

TEST_CASE("any snapshot: at most three, all printable, none without an end") {
  testing::RandomSnapshot random(5, 40);
  for (int round = 0; round < 100; ++round) {
    const Snapshot s = random.make();
    const Lines lines = said(s);
    CHECK(lines.size() <= 3);
    for (const std::string& line : lines) {
      CHECK(text::printable(line) == line);
      CHECK(line.ends_with('.'));
    }
  }
}

TEST_CASE("what is not known is not known yet while more may come, and not known when the run is over") {
  Snapshot s;
  CHECK(views::so_far(s, "MPI not known") == "MPI not known yet");
  s.ended = true;
  CHECK(views::so_far(s, "MPI not known") == "MPI not known");
  s.ended = false;
  s.finished = true;
  CHECK(views::so_far(s, "none") == "none");
}
