// A writer that is killed at any moment leaves a dump that opens, with everything that had been flushed.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <random>

#include "analysis/store/blank.hpp"
#include "analysis/store/reader.hpp"
#include "analysis/store/writer.hpp"
#include "tests/analysis/store/older_version.hpp"
#include "tests/analysis/store/sample_rows.hpp"
#include "tests/seed.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::store;
using namespace pclscope::testing;
namespace fs = std::filesystem;

namespace {

// Called after every step in which a write becomes visible to others: a page at most.
std::function<void()> after_step;

constexpr std::size_t page = 4096;

}  // namespace

// Takes the place of libc's pwrite() in this program: the kernel copies page by page, and a kill may come between
// two.
extern "C" ssize_t pwrite(int fd, const void* from, size_t size, off_t at) {
  using Function = ssize_t (*)(int, const void*, size_t, off_t);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "pwrite"));
  size_t done = 0;
  while (done < size) {
    const size_t position = static_cast<size_t>(at) + done;
    const size_t piece = after_step ? std::min(size - done, page - position % page) : size - done;
    const ssize_t written = real(fd, static_cast<const char*>(from) + done, piece, static_cast<off_t>(position));
    if (written < 0) return done > 0 ? static_cast<ssize_t>(done) : -1;
    done += static_cast<size_t>(written);
    if (after_step) after_step();
  }
  return static_cast<ssize_t>(done);
}

namespace {

// What must be there, and what may be.
struct Written {
  std::uint64_t flushed_rows = 0;
  std::uint64_t appended_rows = 0;
  std::uint64_t flushed_calls = 0;
  std::uint64_t appended_calls = 0;
  std::uint64_t flushed_windows = 0;
  std::uint64_t flushed_sequence = 0;  // of the summary
  std::uint32_t flushed_sites = 0;     // with names: the first half of them
  std::uint64_t sequence = 0;
};

Snapshot summary_of(std::uint64_t sequence) {
  Snapshot snapshot = sequence == 0 ? Snapshot{} : snapshot_beside_rows(sequence, 40);
  snapshot.job = snapshot.application.command = snapshot.application.mpi = sequence == 0 ? "" : "constant";
  snapshot.live.sequence = sequence;
  return snapshot;
}

// Three more sites, and names for the three that came before them.
Status append_sites(Writer& writer, std::uint32_t so_far) {
  std::vector<CallSite> news = sites_of(so_far + 1, 3, false);
  for (const CallSite& site : sites_of(so_far < 3 ? 1 : so_far - 2, so_far < 3 ? 0 : 3, true)) news.push_back(site);
  return writer.append(news);
}

std::string fault_in_sites(const std::vector<CallSite>& sites, const Written& written) {
  if (sites.size() < written.flushed_sites) return "sites lost";
  for (std::uint32_t i = 0; i < sites.size(); i++) {
    const bool must_be_named = i + 4 <= written.flushed_sites;
    if (sites[i] != site_of(i + 1, true) && (must_be_named || sites[i] != site_of(i + 1, false))) return "wrong site";
  }
  return "";
}

// Empty when the dump at `path` is as it must be.
std::string fault_in(const std::string& path, const Written& written) {
  const auto reader = Reader::open(path);
  if (!reader) return reader.error().message;
  const std::uint64_t count = (*reader)->message_count();
  if (count < written.flushed_rows) return "rows lost: " + std::to_string(count);
  if (count > written.appended_rows) return "rows invented: " + std::to_string(count);
  const auto rows = (*reader)->messages(0, count);
  if (!rows) return rows.error().message;
  for (std::uint64_t i = 0; i < count; i++) {
    if ((*rows)[i] != message_of(i)) return "row " + std::to_string(i) + " is wrong";
  }
  const std::uint64_t call_count = (*reader)->collective_count();
  if (call_count < written.flushed_calls || call_count > written.appended_calls) return "calls lost or invented";
  const auto calls = (*reader)->collectives(0, call_count);
  if (!calls) return calls.error().message;
  if (*calls != collectives_of(0, call_count)) return "wrong call";
  const auto windows = (*reader)->windows();
  if (!windows) return windows.error().message;
  if (windows->size() < written.flushed_windows) return "windows lost";
  for (std::uint64_t i = 0; i < windows->size(); i++) {
    if ((*windows)[i] != window_of(i)) return "window " + std::to_string(i) + " is wrong";
  }
  const std::uint64_t sequence = (*reader)->summary().live.sequence;
  if (sequence < written.flushed_sequence || sequence > written.sequence) return "wrong summary";
  Snapshot expected = summary_of(sequence);
  expected.job = (*reader)->summary().job;  // written with the first summary, in place
  expected.application.command = (*reader)->summary().application.command;
  expected.application.mpi = (*reader)->summary().application.mpi;
  expected.sites = (*reader)->summary().sites;
  if ((*reader)->summary() != expected) return "mixed summary";
  return fault_in_sites(expected.sites, written);
}

}  // namespace

TEST_CASE("killed after any single write, page by page: all that was flushed is there and right") {
  const TemporaryDirectory directory;
  const std::string path = directory / "run.h5", copy = directory / "copy.h5";
  WriterOptions options;
  // 12: an index node holds 8 chunks: nodes split often, on three levels. The other file is copied from the blank.
  options.rows_per_chunk = GENERATE(12u, blank_rows_per_chunk);
  const int flushes = options.rows_per_chunk == 12 ? 45 : 12;
  INFO(options.rows_per_chunk << " rows in a chunk");
  Written written;
  std::uint64_t steps = 0, checked = 0, faults = 0;
  const std::uint64_t seed = pclscope::test::random_seed();
  std::mt19937_64 random(seed);
  INFO("seed " << seed);
  steps = seed;  // each run looks at other steps
  auto writer = std::move(*Writer::create(path, options));
  bool closely = false;
  after_step = [&] {
    if (steps++ % ((closely ? 11u : 301u) * test::sanitizer_thinning) != 0) return;
    const auto checking = std::exchange(after_step, nullptr);
    fs::copy_file(path, copy, fs::copy_options::overwrite_existing);
    const std::string fault = fault_in(copy, written);
    checked++;
    if (!fault.empty() && faults++ < 5) UNSCOPED_INFO("step " << steps << ": " << fault);
    if (!fault.empty() && faults < 5) WARN("step " << steps << ": " << fault);
    after_step = checking;
  };
  std::uint64_t windows = 0;
  for (int flush = 0; flush < flushes; flush++) {
    closely = flush == 1 || flush == 21;  // index nodes split at all times
    const std::uint64_t rows = flush % 3 == 0 ? 70 : random() % 40;
    written.appended_rows += rows;
    REQUIRE(writer->append(messages_of(written.appended_rows - rows, rows)));
    const std::uint64_t calls = flush % 4 == 0 ? 50 : random() % 9;
    written.appended_calls += calls;
    REQUIRE(writer->append(collectives_of(written.appended_calls - calls, calls)));
    for (std::uint64_t i = random() % 40; i > 0; i--) REQUIRE(writer->append(window_of(windows++)));
    written.sequence++;
    REQUIRE(append_sites(*writer, written.flushed_sites));
    REQUIRE(writer->summarize(summary_of(written.sequence)));
    REQUIRE(writer->flush());
    written.flushed_rows = written.appended_rows;
    written.flushed_calls = written.appended_calls;
    written.flushed_windows = windows;
    written.flushed_sequence = written.sequence;
    written.flushed_sites += 3;
  }
  closely = true;
  REQUIRE(writer->close());
  after_step = nullptr;
  WARN(checked << " states checked of " << steps - seed << "; " << written.appended_rows << " rows");
  CHECK(checked > (flushes > 40 ? 100u : 25u) / test::sanitizer_thinning);
  CHECK(faults == 0);
}

TEST_CASE("kill -9 at random moments: the dump opens and holds what had been flushed") {
  const std::uint64_t seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  std::uint64_t most = 0;
  const int rounds = test::thinned(30);
  for (int round = 0; round < rounds; round++) {
    const TemporaryDirectory directory;
    const std::string path = directory / "run.h5";
    int progress[2];
    REQUIRE(::pipe(progress) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      WriterOptions options;
      options.rows_per_chunk = round % 2 == 0 ? 128 : blank_rows_per_chunk;
      auto writer = Writer::create(path, options);
      Written written;
      for (std::uint64_t windows = 0; writer;) {
        const std::uint64_t rows = mix(written.appended_rows) % 3000;
        written.appended_rows += rows;
        if (!(*writer)->append(messages_of(written.appended_rows - rows, rows))) ::_exit(1);
        written.appended_calls += rows / 2;
        if (!(*writer)->append(collectives_of(written.appended_calls - rows / 2, rows / 2))) ::_exit(1);
        for (int i = 0; i < 10; i++) (void)(*writer)->append(window_of(windows++));
        (void)append_sites(**writer, written.flushed_sites);
        (void)(*writer)->summarize(summary_of(++written.sequence));
        if (!(*writer)->flush()) ::_exit(1);
        written.flushed_rows = written.appended_rows;
        written.flushed_calls = written.appended_calls;
        written.flushed_windows = windows;
        written.flushed_sequence = written.sequence;
        written.flushed_sites += 3;
        if (::write(progress[1], &written, sizeof written) != sizeof written) ::_exit(1);
      }
      ::_exit(1);
    }
    ::close(progress[1]);
    Written last, next;
    REQUIRE(::read(progress[0], &last, sizeof last) == sizeof last);
    ::usleep(static_cast<useconds_t>(random() % 200'000));
    // The moments are not all at the beginning, however slow the machine is.
    while (round == rounds - 1 && last.flushed_rows <= 3000 && ::read(progress[0], &next, sizeof next) == sizeof next)
      last = next;
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(progress[0], &next, sizeof next) == sizeof next) last = next;
    ::close(progress[0]);
    last.appended_calls += 1500;
    last.appended_rows += 3000;  // the child may have been one flush further than it could say
    last.sequence++;
    CHECK(fault_in(path, last) == "");
    most = std::max(most, last.flushed_rows);
  }
  CHECK(most > 3000);
}
