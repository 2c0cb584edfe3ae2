// A disk with less room than a run would take: what does not fit is counted. One that cannot be foreseen to fill up
// during the run: a typed error, and what was flushed before stays readable.
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>

#include "analysis/store/reader.hpp"
#include "analysis/store/writer.hpp"
#include "tests/analysis/store/older_version.hpp"
#include "tests/analysis/store/sample_rows.hpp"
#include "tests/analysis/wire/random_snapshot.hpp"

using namespace pclscope;
using namespace pclscope::store;
using namespace pclscope::testing;

namespace {

class SmallFileSystem {
 public:
  SmallFileSystem(const std::string& directory, const char* options)
      : directory_(directory), mounted_(::mount("tmpfs", directory.c_str(), "tmpfs", 0, options) == 0) {
    if (!mounted_) WARN("skipped: a small file system can be mounted by root only");
  }
  ~SmallFileSystem() {
    if (mounted_) ::umount2(directory_.c_str(), MNT_DETACH);
  }
  SmallFileSystem(const SmallFileSystem&) = delete;
  explicit operator bool() const { return mounted_; }

 private:
  std::string directory_;
  bool mounted_;
};

// Writes until it fails, then looks at what is left.
void fill(const std::string& path) {
  auto created = Writer::create(path, {});
  if (!created) FAIL(created.error().message);
  Writer& writer = **created;
  std::uint64_t appended = 0, flushed = 0;
  Status status;
  for (int i = 0; i < 10'000 && status; i++) {
    status = writer.append(messages_of(appended, 1000));
    appended += 1000;
    if (status && i % 3 == 0) {
      status = writer.summarize(snapshot_beside_rows(3, 20));
      if (status) status = writer.flush();
      if (status) flushed = appended;
    }
  }
  REQUIRE_FALSE(status);
  CHECK(status.error().code == ErrorCode::no_space);
  CHECK(status.error().message.find(path) != std::string::npos);
  CHECK(flushed > 1000);
  // Broken for good, with the same error, and quietly.
  CHECK(writer.append(messages_of(0, 100'000)).error().message == status.error().message);
  CHECK(writer.flush().error().code == ErrorCode::no_space);
  CHECK(writer.close().error().code == ErrorCode::no_space);
  created->reset();
  const auto reader = Reader::open(path);
  if (!reader) FAIL(reader.error().message);
  CHECK_FALSE((*reader)->complete());
  CHECK((*reader)->message_count() == flushed);
  const auto rows = (*reader)->messages(0, flushed);
  REQUIRE(rows);
  CHECK(*rows == messages_of(0, flushed));
  CHECK((*reader)->summary() == snapshot_beside_rows(3, 20));
}

}  // namespace

TEST_CASE("a disk with little room is as a small budget: what is not stored is counted, the last summary is there") {
  const TemporaryDirectory directory;
  const SmallFileSystem mounted(directory.path(), "size=4m,mode=700");
  if (!mounted) return;
  const std::string path = directory / "run.h5";
  auto created = Writer::create(path, {});
  if (!created) FAIL(created.error().message);
  Writer& writer = **created;
  constexpr std::uint64_t count = 400'000;
  for (std::uint64_t appended = 0; appended < count; appended += 1000) {
    REQUIRE(writer.append(messages_of(appended, 1000)));
    if (appended == 0) CHECK_FALSE(writer.lacks_disk());
    if (appended % 16'000 != 0) continue;
    REQUIRE(writer.summarize(snapshot_beside_rows(3, 20)));
    REQUIRE(writer.flush());
  }
  CHECK(writer.lacks_disk());
  REQUIRE(writer.summarize(snapshot_beside_rows(5, 20)));
  REQUIRE(writer.close());
  const std::uint64_t stored = count - writer.messages_not_stored();
  CHECK(stored > 4096);
  CHECK(stored < count);
  const auto reader = Reader::open(path);
  if (!reader) FAIL(reader.error().message);
  CHECK((*reader)->complete());
  CHECK((*reader)->message_count() == stored);
  const auto rows = (*reader)->messages(0, stored);
  REQUIRE(rows);
  CHECK(*rows == messages_of(0, stored));
  CHECK((*reader)->summary() == snapshot_beside_rows(5, 20));
}

TEST_CASE("a disk with room enough stores everything") {
  const TemporaryDirectory directory;
  const SmallFileSystem mounted(directory.path(), "size=40m,mode=700");
  if (!mounted) return;
  auto created = Writer::create(directory / "run.h5", {});
  if (!created) FAIL(created.error().message);
  for (std::uint64_t appended = 0; appended < 100'000; appended += 1000)
    REQUIRE((*created)->append(messages_of(appended, 1000)));
  REQUIRE((*created)->close());
  CHECK((*created)->messages_not_stored() == 0);
  CHECK_FALSE((*created)->lacks_disk());
}

TEST_CASE("disk full before the run: the existing dump stays") {
  const TemporaryDirectory directory;
  const SmallFileSystem mounted(directory.path(), "size=256k,mode=700");
  if (!mounted) return;
  std::ofstream(directory / "run.h5") << "older";
  std::ofstream(directory / "ballast") << std::string(200'000, 'x');
  const auto writer = Writer::create(directory / "run.h5", {});
  REQUIRE_FALSE(writer);
  CHECK(writer.error().code == ErrorCode::no_space);
  CHECK(std::filesystem::file_size(directory / "run.h5") == 5);
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 2);  // no draft left
}

TEST_CASE("a limit on file size in the middle of a run") {
  const TemporaryDirectory directory;
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{6 << 20, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  fill(directory / "run.h5");
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
}
