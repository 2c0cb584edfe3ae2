#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/viewer/hand_made.hpp"
#include "viewer/session/summary_json.hpp"

using namespace pclscope;
using session::Json;

// In whatever order the fields stand.
static bool same(const Json& one, const Json& other) { return nlohmann::json(one) == nlohmann::json(other); }

TEST_CASE("the summary object of a stored run") {
  const Json expected = Json::parse(R"({
    "application": {"command": "./heat input.txt", "mpi": "Open MPI v4.1.4", "ranks": 6, "nodes": 2, "aggregators": 1},
    "time": {"start": "2024-05-01T12:34:56.789Z", "time_origin_realtime_ns": 1714566896789000000, "duration_s": 12.5,
             "finished": false, "ended": false, "finalized_ranks": 0,
             "elapsed_s": 12.5},
    "messages": {"matched": 123456, "unmatched_sends": 3, "unmatched_receives": 1, "ambiguous": 2,
                 "dropped_events": 7, "bytes": 8388608,
                  "delayed": 30864, "clock_violations": 4, "clock_unclear": 8, "foreign": 5,
                 "half_recorded": 6, "events": 300000},
    "latency": {"mean_ratio": 1.5, "median_s": 3.25e-6, "p99_s": 41.5e-6, "typical_ratio": 1.25},
    "collectives": {"operations": 0, "calls": 0, "wait_s": 0.0},
    "delay_totals": {"waits": 0, "waited_s": 0.0, "attributed_s": 0.0, "inside_mpi_s": 0.0, "unknown_s": 0.0,
                     "messages_left_out": 0},
    "ideal": {"messages": 0, "messages_left_out": 0},
    "dendrogram": {"modularity": 0.0},
    "pattern": {"from_s": 0.0, "changes": 0, "modularity": 0.0, "chance_modularity": 0.0, "dropped_regions": 0,
                "dropped_messages": 0, "dropped_bytes": 0},
    "retention": {"keep": "all", "budget_bytes": 0, "file_bytes": 0, "memory_budget_bytes": 0, "memory_bytes": 0,
                  "messages_stored": 0, "messages_left_out": 0, "bites_since_s": null,
                  "messages_shed": 0, "shed_from_s": null, "shed_to_s": null, "memory_from_s": 0.0},
    "network": {"traffic_bytes": 0, "messages_left_out": 0, "collectives_left_out": 0, "clocks_corrected": false,
                "dead_nodes": [], "clocks": [], "links": []},
    "missing": [],
    "regions": [
      {"id": 1, "ranks": [0, 1, 2], "from_s": 0.0, "until_s": -1.0, "parent": -1,
       "messages": 100000, "bytes": 1048576, "delayed": 1000, "mean_latency_ratio": 1.25,
       "delayed_share": 0.01, "late_sender_s": 1.0, "late_receiver_s": 1.0, "transfer_s": 2.0,
       "mean_transfer_ratio": 0.0, "collective_wait_s": 0.0, "typical_ratio": 1.125, "periods": []},
      {"id": 7, "ranks": [3, 4, 5], "from_s": 0.0, "until_s": -1.0, "parent": -1,
       "messages": 100000, "bytes": 1048576, "delayed": 1000, "mean_latency_ratio": 9.75,
       "delayed_share": 0.5, "late_sender_s": 1.0, "late_receiver_s": 1.0, "transfer_s": 2.0,
       "mean_transfer_ratio": 0.0, "collective_wait_s": 0.0, "typical_ratio": 8.5, "periods": []}],
    "links": [], "ended_regions": [], "ended_links": [], "pattern_changes": []
  })");
  const Json summary = session::summary_json(test::hand_made_snapshot());
  INFO(summary.dump(1));
  CHECK(same(summary, expected));
}

TEST_CASE("several nodes: clocks, the dead, what stayed on its node") {
  Snapshot snapshot = test::hand_made_snapshot();
  snapshot.network = {4096, 9, 1, {1, 7}, {{1, 12, -2.5, 3.25e-6, 2.1e-6}}, {{1, 0, 1e-6, 0}}, {}};
  snapshot.network.links.push_back({0, 1, 5, 500, 2, 1.5, 1.25, 0.5, 0.25, 0.125, 1e-3, 3, 2.5, 7.5, 4});
  snapshot.network.clocks.push_back({-1, 0, std::numeric_limits<double>::infinity(), 0, 0});
  CHECK(same(session::summary_json(snapshot)["network"], Json::parse(R"({
    "traffic_bytes": 4096, "messages_left_out": 9, "collectives_left_out": 1,
     "clocks_corrected": true, "dead_nodes": ["n2", null],
    "clocks": [{"node": "n2", "at_s": 12.0, "offset_s": -2.5, "drift": 3.25e-6, "error_s": 2.1e-6},
               {"node": null, "at_s": 0.0, "offset_s": null, "drift": 0.0, "error_s": 0.0}],
    "links": [{"source": "n1", "destination": "n2", "messages": 5, "bytes": 500, "delayed": 2,
               "mean_latency_ratio": 1.5,
               "mean_transfer_ratio": 1.25, "late_sender_s": 0.5, "late_receiver_s": 0.25, "transfer_s": 0.125,
               "mean_transfer_s": 1e-3, "newest_messages": 3, "newest_transfer_ratio": 2.5,
               "peak_transfer_ratio": 7.5, "peak_s": 4.0}]})")));
}

TEST_CASE("a live summary adds window and age") {
  const Snapshot snapshot = test::hand_made_snapshot();
  const Json json = session::summary_json(snapshot, snapshot.live.window_end_realtime_ns + 250'000'000);
  CHECK(json["live"]["window_s"] == 0.1);
  CHECK(json["live"]["age_s"].get<double>() == Approx(0.25));
  CHECK(json["live"]["sequence"] == 42);
}

TEST_CASE("a clock ahead of ours gives no negative age, and an unknown age is null") {
  Snapshot snapshot = test::hand_made_snapshot();
  CHECK(session::summary_json(snapshot, snapshot.live.window_end_realtime_ns - 5)["live"]["age_s"] == 0.0);
  snapshot.live.window_end_realtime_ns = 0;
  CHECK(session::summary_json(snapshot, 1)["live"]["age_s"].is_null());
}

TEST_CASE("numbers that are none become null") {
  Snapshot snapshot = test::hand_made_snapshot();
  snapshot.latency.mean_ratio = std::numeric_limits<double>::quiet_NaN();
  snapshot.latency.p99_s = std::numeric_limits<double>::infinity();
  snapshot.regions[0].mean_latency_ratio = -std::numeric_limits<double>::infinity();
  const std::string text = session::to_text(session::summary_json(snapshot), true);
  const Json back = Json::parse(text);  // strict: throws at NaN and Infinity
  CHECK(back["latency"]["mean_ratio"].is_null());
  CHECK(back["latency"]["p99_s"].is_null());
  CHECK(back["regions"][0]["mean_latency_ratio"].is_null());
  CHECK(text.find("nan") == std::string::npos);
  CHECK(text.find("inf") == std::string::npos);
}

TEST_CASE("any command becomes valid ASCII") {
  Snapshot snapshot = test::hand_made_snapshot();
  snapshot.application.command = "\x1b]0;x\x07 \xff\xc2\x9b \xe6\x97\xa5";
  const std::string text = session::to_text(session::summary_json(snapshot), false);
  for (const char c : text) CHECK((c >= 0x20 && c < 0x7f));
  CHECK_NOTHROW(Json::parse(text));
  CHECK(text.find('\n') == std::string::npos);
}

TEST_CASE("a run without anything is a valid object too") {
  const Json json = session::summary_json(Snapshot{});
  CHECK(json["messages"]["matched"] == 0);
  CHECK(json["regions"].is_array());
  CHECK(json["regions"].empty());
  CHECK(json["time"]["start"] == "1970-01-01T00:00:00.000Z");
}
