// Dumps: what was written is read back, during the run and after it.
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <limits>
#include <map>

#include "analysis/store/reader.hpp"
#include "analysis/store/writer.hpp"
#include "tests/analysis/store/older_version.hpp"
#include "tests/analysis/store/sample_rows.hpp"
#include "tests/analysis/wire/random_snapshot.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::store;
using namespace pclscope::testing;
namespace fs = std::filesystem;

namespace {

std::unique_ptr<Writer> create(const std::string& path, WriterOptions options = {}) {
  auto writer = Writer::create(path, options);
  if (!writer) FAIL(writer.error().message);
  return std::move(*writer);
}

std::unique_ptr<Reader> open(const std::string& path) {
  auto reader = Reader::open(path);
  if (!reader) FAIL(reader.error().message);
  return std::move(*reader);
}

void check_rows(const Reader& reader, std::uint64_t count) {
  REQUIRE(reader.message_count() == count);
  const auto rows = reader.messages(0, count);
  REQUIRE(rows);
  REQUIRE(rows->size() == count);
  for (std::uint64_t i = 0; i < count; i++) {
    if ((*rows)[i] != message_of(i)) FAIL("row " << i);
  }
}

}  // namespace

TEST_CASE("messages come back equal, however they were cut into appends") {
  // Making and closing a file takes most of the time. Under sanitizers: pieces that are smaller than a chunk, as large,
  // larger, with and without flushes, and all rows at once.
  using Pieces = std::vector<std::uint64_t>;
  const Pieces all = {1, 5, 64, 1000, 20'000};
  const std::map<std::uint32_t, Pieces> few = {{1, {1, 64}}, {7, {5, 64}}, {64, {1, 64, 1000}}, {8192, {1000, 20'000}}};
  for (const std::uint32_t chunk : {1u, 7u, 64u, 8192u}) {
    for (const std::uint64_t piece : test::under_sanitizer ? few.at(chunk) : all) {
      const std::uint64_t count = test::thinned(chunk == 1   ? 300u
                                                : chunk == 7 ? 5000u
                                                             : 20'000u,
                                                chunk == 8192 && piece > 5 ? 9000u : 300u);
      INFO("chunk " << chunk << " piece " << piece);
      const TemporaryDirectory directory;
      WriterOptions options;
      options.rows_per_chunk = chunk;
      const auto writer = create(directory / "run.h5", options);
      for (std::uint64_t i = 0; i < count; i += piece) {
        REQUIRE(writer->append(messages_of(i, std::min(piece, count - i))));
        REQUIRE(writer->append(collectives_of(i, std::min(piece, count - i))));
        if (i % 3 == 0 && piece > 50) REQUIRE(writer->flush());
      }
      REQUIRE(writer->close());
      const auto reader = open(directory / "run.h5");
      CHECK(reader->complete());
      check_rows(*reader, count);
      REQUIRE(reader->collective_count() == count);
      CHECK(*reader->collectives(0, count) == collectives_of(0, count));
    }
  }
}

TEST_CASE("any range of rows can be read, beyond the end there is nothing") {
  const TemporaryDirectory directory;
  const auto writer = create(directory / "run.h5");
  REQUIRE(writer->append(messages_of(0, 100'000)));
  REQUIRE(writer->close());
  const auto reader = open(directory / "run.h5");
  const std::uint64_t everything = ~std::uint64_t{0};
  CHECK(*reader->messages(99'990, 5) == messages_of(99'990, 5));
  CHECK(*reader->messages(8190, 4) == messages_of(8190, 4));
  CHECK(*reader->messages(4095, 8194) == messages_of(4095, 8194));
  CHECK(reader->collectives(0, everything)->empty());
  CHECK(*reader->messages(99'990, everything) == messages_of(99'990, 10));
  CHECK(reader->messages(100'000, 1)->empty());
  CHECK(reader->messages(everything, everything)->empty());
  CHECK(reader->messages(0, everything)->size() == 100'000);
}

TEST_CASE("random summaries come back equal in every field") {
  for (std::uint64_t seed = 1; seed <= test::thinned(20u); seed++) {
    INFO("seed " << seed);
    const TemporaryDirectory directory;
    const auto writer = create(directory / "run.h5");
    Snapshot snapshot = snapshot_without_sites(seed);
    snapshot.sites = RandomSnapshot(seed).make().sites;
    REQUIRE(writer->append(snapshot.sites));
    std::sort(snapshot.sites.begin(), snapshot.sites.end(),
              [](const CallSite& a, const CallSite& b) { return a.id < b.id; });
    REQUIRE(writer->summarize(snapshot));
    REQUIRE(writer->close());
    CHECK(open(directory / "run.h5")->summary() == snapshot);
  }
}

TEST_CASE("summaries that grow and shrink replace one another, and only the flushed one is seen") {
  const TemporaryDirectory directory;
  const auto writer = create(directory / "run.h5");
  for (std::uint64_t seed = 1; seed <= 12; seed++) {
    INFO("seed " << seed);
    const Snapshot early = snapshot_without_sites(seed + 100);
    const Snapshot late = snapshot_without_sites(seed, 1 + seed * 97 % 300);
    REQUIRE(writer->summarize(early));
    REQUIRE(writer->summarize(late));
    REQUIRE(writer->flush());
    REQUIRE(writer->summarize(early));  // not flushed yet
    Snapshot seen = open(directory / "run.h5")->summary();
    seen.job = late.job;  // texts are in one place only
    seen.application.command = late.application.command;
    seen.application.mpi = late.application.mpi;
    CHECK(seen == late);
  }
}

TEST_CASE("a site that gets its names later comes back with them, long paths whole") {
  const TemporaryDirectory directory;
  const auto writer = create(directory / "run.h5");
  for (std::uint32_t round = 0; round < test::thinned(40u, 16u); round++) {
    REQUIRE(writer->append(sites_of(round * 100 + 1, 100, false)));
    REQUIRE(writer->flush());
    if (round % 2 == 1) REQUIRE(writer->append(sites_of(round * 100 - 99, 150, true)));
    REQUIRE(writer->flush());
    const auto sites = open(directory / "run.h5")->summary().sites;
    REQUIRE(sites.size() == round * 100 + 100);
    for (std::uint32_t i = 0; i < sites.size(); i++) {
      const bool named = i / 100 % 2 == 0 ? i / 100 < round : i / 100 <= round && i % 100 < 50;
      if (sites[i] != site_of(i + 1, named)) FAIL("site " << i + 1);
    }
  }
}

TEST_CASE("numbers that are not finite read as 0, and a dendrogram that is no forest as none") {
  const TemporaryDirectory directory;
  const auto writer = create(directory / "run.h5");
  const double infinite = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  Snapshot snapshot;
  snapshot.latency.mean_ratio = nan;
  snapshot.regions.resize(1);
  snapshot.regions[0].mean_latency_ratio = infinite;
  snapshot.regions[0].periods.resize(1);
  snapshot.regions[0].periods[0].kind = static_cast<PeriodKind>(77);
  snapshot.regions[0].periods[0].end_ratio = nan;
  snapshot.retention.keep = static_cast<Keep>(9);
  snapshot.dendrogram = {"paper", {0, 1, 2}, {{0, 1, 1}, {0, 2, 2}}, 0.5};  // leaf 0 twice
  REQUIRE(writer->summarize(snapshot));
  Window window = window_of(1);
  window.all.transfer_s = -infinite;
  REQUIRE(writer->append(window));
  REQUIRE(writer->close());
  const auto reader = open(directory / "run.h5");
  CHECK(reader->summary().latency.mean_ratio == 0);
  CHECK(reader->summary().regions[0].mean_latency_ratio == 0);
  CHECK(reader->summary().regions[0].periods[0] == Period{});
  CHECK(reader->summary().retention.keep == Keep::all);
  CHECK(reader->summary().dendrogram == Dendrogram{});
  CHECK(reader->windows()->front().all.transfer_s == 0);
}

TEST_CASE("an empty run is a whole dump") {
  const TemporaryDirectory directory;
  REQUIRE(create(directory / "run.h5")->close());
  const auto reader = open(directory / "run.h5");
  CHECK(reader->complete());
  CHECK(reader->message_count() == 0);
  CHECK(reader->messages_not_stored() == 0);
  CHECK(reader->messages(0, 10)->empty());
  CHECK(reader->windows()->empty());
  CHECK(reader->summary() == Snapshot{});
}

TEST_CASE("windows come back with their regions") {
  const TemporaryDirectory directory;
  const auto writer = create(directory / "run.h5");
  const std::uint64_t count = test::thinned(5000u, 1000u);
  for (std::uint64_t i = 0; i < count; i++) {
    REQUIRE(writer->append(window_of(i)));
    if (i % 777 == 0) REQUIRE(writer->flush());
  }
  REQUIRE(writer->close());
  const auto windows = open(directory / "run.h5")->windows();
  REQUIRE(windows);
  REQUIRE(windows->size() == count);
  for (std::uint64_t i = 0; i < count; i++) {
    if ((*windows)[i] != window_of(i)) FAIL("window " << i);
  }
}

TEST_CASE("a dump can be read while it is written, and is not complete then") {
  const TemporaryDirectory directory;
  WriterOptions options;
  options.rows_per_chunk = 64;
  const auto writer = create(directory / "run.h5", options);
  CHECK(open(directory / "run.h5")->message_count() == 0);  // from the first moment
  for (std::uint64_t rows = 0; rows < test::thinned(3000u, 1500u); rows += 100) {
    REQUIRE(writer->append(messages_of(rows, 100)));
    REQUIRE(writer->append(collectives_of(rows, 100)));
    REQUIRE(writer->flush());
    const auto reader = open(directory / "run.h5");
    CHECK_FALSE(reader->complete());
    check_rows(*reader, rows + 100);
    CHECK(*reader->collectives(rows / 2, 5000) == collectives_of(rows / 2, rows + 100 - rows / 2));
  }
}

TEST_CASE("a reader that stays open reads its rows rightly while another process goes on writing") {
  // Each waits for the other, so that it does not matter how the two are given processor time: the writer makes three
  // flushes in a step of the reader, and the reader goes on until it has seen what it should.
  struct Progress {
    std::atomic<std::uint64_t> steps, rows_flushed;
  };
  auto* progress = static_cast<Progress*>(
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  REQUIRE(progress != MAP_FAILED);
  const TemporaryDirectory directory;
  const std::string path = directory / "run.h5";
  constexpr std::uint64_t at_once = 40;
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    WriterOptions options;
    options.rows_per_chunk = 4;  // the chunk index changes all the time
    auto writer = std::move(*Writer::create(path, options));
    for (std::uint64_t row = 0;; row += at_once) {
      while (row / at_once >= 3 * progress->steps) ::usleep(200);
      if (!writer->append(messages_of(row, at_once)) || !writer->append(window_of(row / at_once)) || !writer->flush())
        ::_exit(1);
      progress->rows_flushed = row + at_once;
      ::usleep(2000);
    }
  }
  std::unique_ptr<Reader> kept;
  std::uint64_t looks = 0, wrong = 0, too_few = 0, refused = 0, newest = 0;
  bool writes = true;
  progress->steps = 1;
  while ((newest <= 1000 || looks < test::thinned(100u, 24u)) && writes) {
    writes = ::waitpid(child, nullptr, WNOHANG) == 0;
    const std::uint64_t flushed = progress->rows_flushed;
    auto opened = Reader::open(path);
    if (!opened) {
      refused += opened.error().code != ErrorCode::not_found;  // else the child has not begun
      ::usleep(1000);
      continue;
    }
    progress->steps++;
    too_few += (*opened)->message_count() < flushed;
    for (const Reader* reader : {kept.get(), opened->get()}) {
      if (!reader) continue;
      progress->steps++;
      const auto rows = reader->messages(0, reader->message_count());
      const auto windows = reader->windows();
      looks++;
      if (!rows || !windows) {
        refused++;
        continue;
      }
      if (*rows != messages_of(0, reader->message_count())) wrong++;
      for (std::uint64_t i = 0; i < windows->size(); i++) wrong += (*windows)[i] != window_of(i);
      newest = std::max(newest, reader->message_count());
    }
    if (!kept || looks % 20 == 0) kept = std::move(*opened);
  }
  const auto second = Writer::create(path, {});
  if (writes) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  ::munmap(progress, sizeof(Progress));
  WARN(looks << " looks, " << refused << " refused, newest saw " << newest << " rows");
  CHECK(writes);
  CHECK(wrong == 0);
  CHECK(too_few == 0);
  CHECK(looks > 3);
  CHECK(refused * 5 < looks + 5);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::in_use);
  CHECK(Writer::create(path, {}));  // nobody writes it any more
}

TEST_CASE("a long run's summaries do not make the file grow") {
  const TemporaryDirectory directory;
  const auto writer = create(directory / "run.h5");
  const auto summarize = [&](int times) {
    for (int i = 0; i < times; i++) {
      REQUIRE(writer->summarize(snapshot_without_sites(static_cast<std::uint64_t>(i % 40))));
      REQUIRE(writer->flush());
    }
  };
  summarize(80);
  const auto size = fs::file_size(directory / "run.h5");
  summarize(test::thinned(400, 40));  // each of them once more
  CHECK(fs::file_size(directory / "run.h5") == size);
}

TEST_CASE("an existing dump is replaced only when the new one can be opened, and nothing else is left") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "run.h5") << "something older";
  {
    const auto writer = create(directory / "run.h5");
    CHECK(open(directory / "run.h5")->message_count() == 0);
    struct stat found {};
    REQUIRE(::stat((directory / "run.h5").c_str(), &found) == 0);
    CHECK((found.st_mode & 07777) == 0600);
  }
  CHECK(open(directory / "run.h5")->complete());  // closed by the destructor
  CHECK(std::distance(fs::directory_iterator(directory.path()), {}) == 1);
}

TEST_CASE("a dump whose ranks are missing is closed, not complete, and says from when on; also when it is not closed") {
  const TemporaryDirectory directory;
  Snapshot summary = snapshot_beside_rows(5, 40);
  REQUIRE(summary.ranks.size() > 1);
  summary.ranks[1].mark_missing(2'500'000'000);
  const auto writer = create(directory / "run.h5");
  REQUIRE(writer->append(messages_of(0, 30)));
  REQUIRE(writer->summarize(summary));
  REQUIRE(writer->flush());
  CHECK_FALSE(open(directory / "run.h5")->closed());
  CHECK(open(directory / "run.h5")->summary().ranks[1].missing);
  REQUIRE(writer->close());
  const auto torn = open(directory / "run.h5");
  CHECK(torn->closed());
  CHECK_FALSE(torn->complete());
  CHECK(torn->summary().ranks == summary.ranks);
  CHECK(torn->summary().ranks[1].missing_from_s == 2.5);
  check_rows(*torn, 30);

  const auto other = create(directory / "whole.h5");
  REQUIRE(other->summarize(summary));
  REQUIRE(other->flush());
  summary.ranks[1].mark_missing(INT64_MAX);  // what is known last counts
  REQUIRE(other->summarize(summary));
  REQUIRE(other->close());
  CHECK(open(directory / "whole.h5")->complete());
}

TEST_CASE("a closed writer takes nothing more and says so") {
  const TemporaryDirectory directory;
  const auto writer = create(directory / "run.h5");
  REQUIRE(writer->append(messages_of(0, 3)));
  REQUIRE(writer->close());
  REQUIRE(writer->close());
  CHECK(writer->append(messages_of(3, 1)).error().code == ErrorCode::bad_argument);
  CHECK(writer->append(window_of(0)).error().code == ErrorCode::bad_argument);
  CHECK(writer->summarize({}).error().code == ErrorCode::bad_argument);
  CHECK(writer->flush().error().code == ErrorCode::bad_argument);
  check_rows(*open(directory / "run.h5"), 3);
}

TEST_CASE("a symbolic link to a dump stays one") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "real.h5") << "older";
  fs::create_symlink(directory / "real.h5", directory / "link.h5");
  REQUIRE(create(directory / "link.h5")->close());
  CHECK(fs::is_symlink(directory / "link.h5"));
  CHECK(open(directory / "real.h5")->complete());
}

TEST_CASE("several writers and readers live side by side in one process") {
  const TemporaryDirectory directory;
  const auto first = create(directory / "a.h5");
  const auto second = create(directory / "b.h5");
  REQUIRE(first->append(messages_of(0, 10)));
  REQUIRE(second->append(messages_of(0, 20)));
  REQUIRE(first->flush());
  const auto early = open(directory / "a.h5");
  REQUIRE(second->close());
  REQUIRE(first->append(messages_of(10, 10)));
  REQUIRE(first->close());
  check_rows(*early, 10);
  check_rows(*open(directory / "a.h5"), 20);
  check_rows(*open(directory / "b.h5"), 20);
}

TEST_CASE("millions of messages, flushed now and then") {
  const TemporaryDirectory directory;
  const auto writer = create(directory / "run.h5");
  const auto batch = messages_of(0, 10'000);
  const Snapshot snapshot = snapshot_beside_rows(3);
  double worst_flush_ms = 0;
  const auto began = std::chrono::steady_clock::now();
  const int batches = test::thinned(200, 40);
  for (int i = 0; i < batches; i++) {
    REQUIRE(writer->append(batch));
    if (i % 20 != 19) continue;
    REQUIRE(writer->summarize(snapshot));
    const auto flushing = std::chrono::steady_clock::now();
    REQUIRE(writer->flush());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - flushing;
    worst_flush_ms = std::max(worst_flush_ms, took.count());
  }
  REQUIRE(writer->close());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  WARN(batches * batch.size() << " messages in " << seconds << " s; slowest flush " << worst_flush_ms << " ms");
  const auto reader = open(directory / "run.h5");
  const std::uint64_t all = static_cast<std::uint64_t>(batches) * batch.size();
  CHECK(reader->message_count() == all);
  CHECK(*reader->messages(all - batch.size(), batch.size()) == batch);
}
