// A dump is usable from h5py without any of our code: finished, cut short, and while it is written.
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "analysis/store/writer.hpp"
#include "tests/analysis/store/sample_rows.hpp"

using namespace pclscope;
using namespace pclscope::store;
using namespace pclscope::testing;

namespace {

constexpr int no_h5py = 77;

int check_with_h5py(const std::string& path, int messages, int complete) {
  const std::string command = "/usr/bin/python3 -B " CHECK_DUMP_SCRIPT " " + path + " " + std::to_string(messages) +
                              " " + std::to_string(complete) + " " FORMAT_PAGE;
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Snapshot known_snapshot() {
  Snapshot s;
  s.job = "melt-17";
  s.application = {"lmp -in 'melt \u00e9.in'", "Open MPI v4.1.4", 3, 1, {"node-a", "node-b"}, {0, 1, -1}};
  s.messages.matched = 12345;
  s.latency.p99_s = 0.25;
  s.regions.resize(2);
  s.regions[0].id = 4;
  s.regions[0].ranks = {0, 2};
  s.regions[0].periods.resize(2);
  s.regions[0].periods[0].kind = PeriodKind::growth;
  s.regions[0].periods[0].mean_ratio = 1.5;
  s.regions[0].periods[1].kind = PeriodKind::steady;
  s.regions[0].periods[1].mean_ratio = 2.5;
  s.regions[0].periods[1].open = true;
  s.regions[1].id = 9;
  s.regions[1].ranks = {1};
  s.ranks.resize(3);
  s.ranks[2].waits_for = {0, 1};
  s.call_density = {1, 20, 20, 8, 1, 0, 7, 2, 0xac, 2, 0, 1, 7, 0xc1, 8, 1, 1, 0};
  s.functions = {{328, 5, 0.5, 1, {0.25f, 0.75f}}, {300, 1, 0.25, 0, {}}};
  s.deadlocks.resize(1);
  s.deadlocks[0].members = {{0, 300, 2, 1, 7, {1}, false, 1.5}, {1, 300, 2, 1, 7, {0}, true, 2.5}};
  s.site_activity = {{2, 10, 0, 100, 3, 0.5, 0, 0, 0.125}};
  s.links = {{4, 9, 10, 100, 1, 2, 0.5, 0, 0, 0}};
  s.dendrogram = {"free-energy", {0, -1, 1}, {{0, 1, 1.25}}, 0.75};
  s.delays = {{1, 2, 3, 4, 2.5, 2, 0, 1, 0, 9, {2, 0}, {2, 0.5}}};
  s.collectives = {3, 9, 1.5};
  s.messages.clock_unclear = 11;
  s.network = {7, 8, 9, {1}, {{1, 3, -0.5, 1e-6, 0.25}}, {{1, 1, 0.125, 0.25}, {1, 2, 0.375, 0.25}}, {}};
  s.attribution.findings.resize(2);
  s.attribution.findings[0].cause = Cause::late_sender;
  s.attribution.findings[0].ranks = {1};
  s.attribution.findings[0].lost_s = 12.5;
  s.attribution.findings[0].evidence = {"rank 1 is late", "twice"};
  s.attribution.findings[1].cause = Cause::background;
  s.attribution.findings[1].lost_s = 3;
  s.attribution.findings[1].nodes = {0, 1};
  s.attribution.findings[1].advice = "wait";
  s.attribution.slices = {{0, 0.5, 1, 3, 0, 0, 0, 0, 0, 0}, {0.5, 0.5, 2, 4, 0, 0, 0, 0, 0, 0}};
  s.attribution.transfer_lines = {{100, 150, 7, false, {1, 2.5}}};
  s.traffic = {{0, 1, 5, 100}, {2, 0, 1, 7}};
  s.retention.keep = Keep::interesting;
  s.retention.messages_left_out = 6;
  return s;
}

}  // namespace

TEST_CASE("h5py reads a dump while it is written, after a loss of the writer, and complete") {
  const TemporaryDirectory directory;
  const std::string path = directory / "run.h5";
  auto writer = std::move(*Writer::create(path, {}));
  REQUIRE(writer->append(messages_of(0, 9000)));
  REQUIRE(writer->append(collectives_of(0, 900)));
  REQUIRE(writer->append(mpi_calls_of(0, 9000)));
  for (std::uint64_t i = 0; i < 50; i++) REQUIRE(writer->append(window_of(i)));
  REQUIRE(writer->append(sites_of(1, 3, false)));
  REQUIRE(writer->append(sites_of(2, 1, true)));
  REQUIRE(writer->summarize(known_snapshot()));
  REQUIRE(writer->flush());
  const int live = check_with_h5py(path, 9000, 0);
  if (live == no_h5py) {
    WARN("skipped: /usr/bin/python3 has no h5py");
    return;
  }
  CHECK(live == 0);
  REQUIRE(writer->append(collectives_of(900, 2000)));
  REQUIRE(writer->append(mpi_calls_of(9000, 20'000)));
  REQUIRE(writer->append(messages_of(9000, 20'000)));  // on disk in part, not flushed
  std::filesystem::copy_file(path, directory / "lost.h5");
  CHECK(check_with_h5py(directory / "lost.h5", 9000, 0) == 0);
  REQUIRE(writer->close());
  CHECK(check_with_h5py(path, 29'000, 1) == 0);
  std::filesystem::rename(path, directory / "closed.h5");  // the example is about run.h5, with sites that exist
  writer = std::move(*Writer::create(path, {}));
  std::vector<Message> messages = messages_of(0, 9000);
  for (Message& m : messages) m.send_site = m.recv_site = 1 + m.source % 3;
  REQUIRE(writer->append(messages));
  REQUIRE(writer->append(collectives_of(0, 900)));
  REQUIRE(writer->append(mpi_calls_of(0, 9000)));
  for (std::uint64_t i = 0; i < 50; i++) REQUIRE(writer->append(window_of(i)));
  REQUIRE(writer->append(sites_of(1, 3, true)));
  REQUIRE(writer->summarize(known_snapshot()));
  REQUIRE(writer->close());
  const std::string example = "cd " + directory.path() +
                              " && /usr/bin/python3 -B " CHECK_DUMP_SCRIPT " --example " FORMAT_PAGE " > example.txt";
  CHECK(std::system(example.c_str()) == 0);
  std::ifstream printed(directory / "example.txt");
  const std::string text{std::istreambuf_iterator<char>(printed), {}};
  CHECK(text.find("region 4 ranks [0 2]") != std::string::npos);
  CHECK(text.find("MPI calls, longest 899 ns by rank") != std::string::npos);
  CHECK(text.find("sent at ('/src/with blanks/") != std::string::npos);
}
