// Dumps that older versions of pclscope wrote.
#include "tests/analysis/store/older_version.hpp"

#include <catch2/catch.hpp>

#include "analysis/store/reader.hpp"
#include "tests/analysis/store/sample_rows.hpp"

using namespace pclscope;
using namespace pclscope::store;
using namespace pclscope::testing;

namespace {

std::vector<Window> old_windows(std::uint64_t count) {
  std::vector<Window> windows;
  for (std::uint64_t i = 0; i < count; i++) {
    Window& window = windows.emplace_back(window_of(i));
    window.all.mean_transfer_ratio = 0;
    for (RegionWindow& region : window.regions) region.mean_transfer_ratio = 0;
  }
  return windows;
}

// What both versions have.
void check_summary(const Snapshot& s) {
  CHECK(s.job == "heat-4711");
  CHECK(s.application.command == "./heat input.txt");
  CHECK(s.application.nodes == std::vector<std::string>{"n1", "n2"});
  CHECK(s.application.node_of_rank == std::vector<std::int32_t>{0, 0, 0, 1, 1, 1});
  CHECK(s.messages.matched == 123456);
  CHECK(s.latency == LatencySummary{1.5, 3.25e-6, 41.5e-6});
  REQUIRE(s.regions.size() == 2);
  CHECK(s.regions[1].id == 7);
  CHECK(s.regions[1].ranks == std::vector<std::int32_t>{3, 4, 5});
  CHECK(s.regions[1].history_ratio == std::vector<float>{1, 8, 10, 12});
  CHECK(s.regions[0].late_sender_s == 1);
  REQUIRE(s.ranks.size() == 6);
  CHECK(s.ranks[4].call_function == 305);
  REQUIRE(s.criteria.size() == 3);
  CHECK(s.criteria[2] == Criterion{true, 0, 50, 5, 1e-4, 0});
  REQUIRE(s.worst.size() == 1);
  CHECK(s.worst[0].ratio == 41);
  CHECK(s.live.sequence == 42);
}

// What version 2 brought has its default values.
void check_defaults(const Snapshot& s) {
  for (const Region& region : s.regions) {
    CHECK(region.mean_transfer_ratio == 0);
    CHECK(region.collective_wait_s == 0);
    CHECK(region.periods.empty());
  }
  for (const RankSummary& rank : s.ranks) CHECK(rank.collective_wait_s + rank.delay_caused_s == 0);
  CHECK(s.links.empty());
  CHECK(s.dendrogram == Dendrogram{});
  CHECK(s.collectives == CollectiveTotals{});
  CHECK(s.delays.empty());
  CHECK(s.retention == Retention{});
  CHECK(s.network == Network{});
  CHECK(s.messages.clock_unclear == 0);
}

}  // namespace

TEST_CASE("a dump of version 1.1 is read: what it has, and defaults for the rest") {
  const TemporaryDirectory directory;
  const std::string path = directory / "run.h5";
  unpack_version_1_1(path);
  const auto reader = Reader::open(path);
  if (!reader) FAIL(reader.error().message);
  CHECK((*reader)->complete());
  REQUIRE((*reader)->message_count() == 99);
  CHECK(*(*reader)->messages(0, 1000) == messages_of(0, 99));
  CHECK(*(*reader)->messages(30, 5) == messages_of(30, 5));
  CHECK((*reader)->collective_count() == 0);
  CHECK((*reader)->collectives(0, 10)->empty());
  CHECK(*(*reader)->windows() == old_windows(21));
  check_summary((*reader)->summary());
  check_defaults((*reader)->summary());
  std::vector<CallSite> sites = sites_of(1, 5, true);
  for (CallSite& site : sites) site.caller = 0;
  CHECK((*reader)->summary().sites == sites);
  CHECK((*reader)->summary().messages.half_recorded == 6);
}

TEST_CASE("a dump of version 1.0 is read: no call sites, and addresses do not pass for them") {
  const TemporaryDirectory directory;
  const std::string path = directory / "run.h5";
  unpack_version_1_1(path);
  make_version_1_0(path);
  const auto reader = Reader::open(path);
  if (!reader) FAIL(reader.error().message);
  std::vector<Message> messages = messages_of(0, 99);
  for (Message& m : messages) m.send_site = m.recv_site = 0;
  CHECK(*(*reader)->messages(0, 1000) == messages);
  check_summary((*reader)->summary());
  check_defaults((*reader)->summary());
  CHECK((*reader)->summary().sites.empty());
  CHECK((*reader)->summary().messages.half_recorded == 0);
}

TEST_CASE("a dump of version 1.1 that was cut off gives the rows before the cut") {
  const TemporaryDirectory directory;
  unpack_version_1_1(directory / "whole.h5");
  std::size_t opened = 0;
  for (std::uint64_t part = 1; part < 20; part++) {
    std::filesystem::copy_file(directory / "whole.h5", directory / "cut.h5",
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(directory / "cut.h5", std::filesystem::file_size(directory / "whole.h5") * part / 20);
    const auto reader = Reader::open(directory / "cut.h5");
    if (!reader) continue;
    opened++;
    CHECK_FALSE((*reader)->complete());
    const std::uint64_t count = (*reader)->message_count();
    CHECK(*(*reader)->messages(0, count) == messages_of(0, count));
  }
  CHECK(opened > 0);
}
