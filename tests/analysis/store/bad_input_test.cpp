// Paths that cannot be, files that are not ours, files that are damaged.
#include <hdf5.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <utility>

#include "analysis/store/hdf5_handle.hpp"
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

// HDF5 does not free everything when it gives up on a damaged file.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

namespace {

std::string sample_dump(const std::string& path, std::uint64_t rows) {
  WriterOptions options;
  options.compact_below_bytes = 0;
  auto writer = std::move(*Writer::create(path, options));
  for (std::uint64_t round = 0; round < 10; round++) {  // as in a run: a bit of everything, again and again
    REQUIRE(writer->append(messages_of(rows * round / 10, rows * (round + 1) / 10 - rows * round / 10)));
    for (std::uint64_t i = 0; i < 10; i++) REQUIRE(writer->append(window_of(round * 10 + i)));
    REQUIRE(writer->append(sites_of(static_cast<std::uint32_t>(round) * 20 + 1, 20, round % 2 == 1)));
    REQUIRE(writer->append(collectives_of(rows * round / 20, rows * (round + 1) / 20 - rows * round / 20)));
    REQUIRE(writer->summarize(snapshot_beside_rows(5)));
    REQUIRE(writer->flush());
  }
  REQUIRE(writer->close());
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

ErrorCode open_error(const std::string& path) {
  const auto reader = Reader::open(path);
  REQUIRE_FALSE(reader);
  CHECK(reader.error().message.find(path) != std::string::npos);
  CHECK(reader.error().message.find('\n') == std::string::npos);
  return reader.error().code;
}

ErrorCode create_error(const std::string& path) {
  const auto writer = Writer::create(path, {});
  REQUIRE_FALSE(writer);
  CHECK(writer.error().message.find(path) != std::string::npos);
  CHECK(writer.error().message.find('\n') == std::string::npos);
  return writer.error().code;
}

// Reads all there is in a process of its own: HDF5 itself may not survive a file that lies. Returns the wait status.
int read_apart(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(120);  // a hang is a failure as well
    const auto reader = Reader::open(path);
    if (!reader) ::_exit(1);
    const auto rows = (*reader)->messages(0, (*reader)->message_count());
    (void)(*reader)->windows();
    (void)(*reader)->collectives(0, (*reader)->collective_count());
    if (rows && (*reader)->complete()) ::_exit(0);
    ::_exit(2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("paths at which no dump can be made") {
  const TemporaryDirectory directory;
  CHECK(create_error(directory / "missing/run.h5") == ErrorCode::not_found);
  CHECK(create_error(directory.path()) == ErrorCode::bad_argument);
  CHECK(create_error(directory.path() + "/") == ErrorCode::bad_argument);
  CHECK(create_error("/dev/null") == ErrorCode::bad_argument);
  CHECK(fs::is_character_file("/dev/null"));
  CHECK_FALSE(Writer::create("", {}));
  write_file(directory / "file", "x");
  CHECK(create_error(directory / "file/run.h5") == ErrorCode::not_found);
  CHECK(create_error("/proc/run.h5") == ErrorCode::not_found);
  CHECK(std::distance(fs::directory_iterator(directory.path()), {}) == 1);
}

TEST_CASE("a directory or file without write permission is refused and unchanged") {
  const TemporaryDirectory directory;
  write_file(directory / "run.h5", "precious");
  fs::create_directory(directory / "closed");
  ::chmod((directory / "run.h5").c_str(), 0444);
  ::chmod((directory / "closed").c_str(), 0555);
  ::chmod(directory.path().c_str(), 0755);
  const pid_t child = ::fork();  // root may write everywhere: try as somebody else
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(9);
    const auto closed = Writer::create(directory / "closed/run.h5", {});
    const auto existing = Writer::create(directory / "run.h5", {});
    const bool right = !closed && closed.error().code == ErrorCode::not_permitted && !existing &&
                       existing.error().code == ErrorCode::not_permitted;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(fs::file_size(directory / "run.h5") == 8);
}

TEST_CASE("what is not a dump is named as such") {
  const TemporaryDirectory directory;
  CHECK(open_error(directory / "missing.h5") == ErrorCode::not_found);
  CHECK(open_error(directory.path()) == ErrorCode::not_ours);
  write_file(directory / "empty", "");
  CHECK(open_error(directory / "empty") == ErrorCode::not_ours);
  write_file(directory / "text", "LAMMPS (29 Sep 2021)\n");
  CHECK(open_error(directory / "text") == ErrorCode::not_ours);
  const std::string other = directory / "other.h5";
  const hid_t file = H5Fcreate(other.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(H5Fclose(file) >= 0);
  CHECK(open_error(other) == ErrorCode::not_ours);
  REQUIRE(::mkfifo((directory / "pipe").c_str(), 0600) == 0);
  CHECK(open_error(directory / "pipe") == ErrorCode::not_ours);
}

TEST_CASE("a dump of another major version is refused by name") {
  const TemporaryDirectory directory;
  const std::string path = directory / "run.h5";
  sample_dump(path, 10);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t version = H5Aopen(file, "version_major", H5P_DEFAULT);
  const int newer = 3;
  REQUIRE(H5Awrite(version, H5T_NATIVE_INT, &newer) >= 0);
  H5Aclose(version);
  H5Fclose(file);
  CHECK(open_error(path) == ErrorCode::wrong_version);
  CHECK(Reader::open(path).error().message.find("version 3") != std::string::npos);
}

TEST_CASE("a dump that was cut off: an error, or the rows before the cut and not complete") {
  const TemporaryDirectory directory;
  const std::string path = directory / "cut.h5";
  const std::string whole = sample_dump(directory / "run.h5", 60'000);
  Snapshot summary = (*Reader::open(directory / "run.h5"))->summary();
  CHECK(summary.sites.size() == 200);
  summary.sites.clear();  // the cut may take some of them
  std::size_t opened = 0, most = 0;
  const std::size_t step = whole.size() / test::thinned(61u, 20u);
  for (std::size_t length = 0; length < whole.size(); length += length < 2000 ? 97 : step) {
    INFO("length " << length << " of " << whole.size());
    write_file(path, whole.substr(0, length));
    const auto reader = Reader::open(path);
    if (!reader) {
      CHECK((reader.error().code == ErrorCode::damaged || reader.error().code == ErrorCode::not_ours));
      continue;
    }
    opened++;
    CHECK_FALSE((*reader)->complete());
    Snapshot found = (*reader)->summary();
    found.sites.clear();
    CHECK(found == summary);
    const std::uint64_t count = (*reader)->message_count();
    const auto rows = (*reader)->messages(0, count);
    REQUIRE(rows);
    for (std::uint64_t i = 0; i < count; i++) {
      if ((*rows)[i] != message_of(i)) FAIL("row " << i);
    }
    const auto calls = (*reader)->collectives(0, (*reader)->collective_count());
    REQUIRE(calls);
    CHECK(*calls == collectives_of(0, (*reader)->collective_count()));
    most = std::max<std::size_t>(most, count);
  }
  CHECK(opened > 10);
  CHECK(most > 20'000);
}

TEST_CASE("a cut-off dump neither crashes nor hangs its reader") {
  const TemporaryDirectory directory;
  const std::string path = directory / "cut.h5";
  const std::string whole = sample_dump(directory / "run.h5", 3000);
  const std::uint64_t seed = pclscope::test::random_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < test::thinned(60, 15); i++) {
    const std::size_t length = random() % whole.size();
    write_file(path, whole.substr(0, length));
    const int status = read_apart(path);
    INFO("length " << length);
    CHECK(WIFEXITED(status));
  }
}

TEST_CASE("chunks without a dimension, with which HDF5 does not come to an end, are refused") {
  const TemporaryDirectory directory;
  const std::string path = directory / "chunks.h5";
  std::string content = sample_dump(directory / "run.h5", 300);
  // Layout messages of chunked datasets of 1 dimension: version 3, class 2, dimensions 2 (the last is an element's).
  int changed = 0;
  for (std::size_t at = 0; (at = content.find("\3\2\2", at)) != std::string::npos; at++) {
    content[at + 2] = 1;
    changed++;
  }
  CHECK(changed > 100);
  write_file(path, content);
  const int status = read_apart(path);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
}

// Where the headers of all datasets with rows are, of tables that a dump must have: {name: place}.
std::map<std::string, haddr_t> headers_of_columns(const std::string& path) {
  const Hdf5Handle file = own_file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  std::map<std::string, haddr_t> found;
  const auto add = [](hid_t root, const char* name, const H5O_info_t* info, void* to) -> herr_t {
    if (info->type != H5O_TYPE_DATASET) return 0;
    const Hdf5Handle column = own_dataset(H5Dopen2(root, name, H5P_DEFAULT));
    const Hdf5Handle space = own_space(H5Dget_space(column.get()));
    if (H5Sget_simple_extent_npoints(space.get()) > 0)
      static_cast<std::map<std::string, haddr_t>*>(to)->emplace(name, info->addr);
    return 0;
  };
  H5Ovisit2(file.get(), H5_INDEX_NAME, H5_ITER_NATIVE, add, &found, H5O_INFO_BASIC);
  std::int32_t current = 0;
  const Hdf5Handle summary = own_group(H5Gopen2(file.get(), "summary", H5P_DEFAULT));
  REQUIRE(read_number(summary.get(), "current", current));
  const std::array<std::string, 4> needed{"summary/" + std::to_string(current) + "/", "messages/", "windows/",
                                          "window_regions/"};
  std::erase_if(found, [&](const auto& column) {
    return std::ranges::none_of(needed, [&](const std::string& of) { return column.first.starts_with(of); });
  });
  return found;
}

TEST_CASE("a column that is there and cannot be opened is damaged, not one that an older version did not have") {
  const TemporaryDirectory directory;
  const std::string path = directory / "column.h5";
  std::string content = sample_dump(directory / "run.h5", 300);
  const auto columns = headers_of_columns(directory / "run.h5");
  CHECK(columns.size() > 100);
  // Under the sanitizers each fourth, which are some of each table.
  const std::uint64_t share = test::under_sanitizer ? 4 : 1;
  std::uint64_t turn = test::random_seed() % share;
  for (const auto& [name, place] : columns) {
    INFO(name);
    if (turn++ % share != 0) continue;
    const char version = std::exchange(content.at(place), 99);
    REQUIRE(version == 1);
    write_file(path, content);
    CHECK(open_error(path) == ErrorCode::damaged);
    content[place] = version;
  }
}

TEST_CASE("a number that is there and cannot be read is damaged") {
  const TemporaryDirectory directory;
  const std::string path = directory / "number.h5";
  const std::string whole = sample_dump(directory / "run.h5", 300);
  for (const std::string name : {"matched", "duration_s", "not_stored"}) {
    INFO(name);
    std::string content = whole;
    int changed = 0;
    // An attribute's message: version 1, a reserved byte, three sizes of two bytes, its name.
    for (std::size_t at = 0; (at = content.find(name + '\0', at)) != std::string::npos; at++) {
      if (content.at(at - 8) != 1 || content.at(at - 6) != static_cast<char>(name.size() + 1)) continue;
      content[at - 8] = 99;
      changed++;
    }
    CHECK(changed > 0);
    write_file(path, content);
    CHECK(open_error(path) == ErrorCode::damaged);
  }
}

TEST_CASE("a dump that was closed and has lost chunks since is neither closed nor complete") {
  const TemporaryDirectory directory;
  const std::string path = directory / "run.h5";
  WriterOptions options;
  options.compact_below_bytes = 0;
  options.rows_per_chunk = 4;
  auto writer = std::move(*Writer::create(path, options));
  REQUIRE(writer->append(messages_of(0, 42)));
  REQUIRE(writer->summarize(snapshot_beside_rows(5)));
  REQUIRE(writer->close());
  {
    const auto whole = Reader::open(path);
    REQUIRE(whole);
    CHECK((*whole)->closed());
    REQUIRE((*whole)->message_count() == 42);
  }
  {
    const Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    REQUIRE(file);
    const Hdf5Handle column(H5Dopen2(file.get(), "messages/source", H5P_DEFAULT), H5Dclose);
    REQUIRE(column);
    const hsize_t rows = 32;
    REQUIRE(H5Dset_extent(column.get(), &rows) >= 0);
  }
  const auto left = Reader::open(path);
  REQUIRE(left);
  CHECK_FALSE((*left)->closed());
  CHECK_FALSE((*left)->complete());
  CHECK((*left)->message_count() < 42);
  CHECK((*left)->messages(0, 32));
}

TEST_CASE("flipped bytes: what HDF5 makes of them is counted") {
  const TemporaryDirectory directory;
  const std::string path = directory / "flipped.h5";
  const std::string whole = sample_dump(directory / "run.h5", 300);
  const std::uint64_t seed = pclscope::test::random_seed();
  std::mt19937_64 random(seed);
  const int flipped = test::thinned(150, 45);
  int read = 0, refused = 0, crashed = 0, hung = 0;
  for (int i = 0; i < flipped; i++) {
    std::string content = whole;
    for (std::uint64_t flips = 1 + random() % 16; flips > 0; flips--) {
      const std::size_t at = random() % (i % 2 ? std::min<std::size_t>(content.size(), 200'000) : content.size());
      content[at] = static_cast<char>(random());
    }
    write_file(path, content);
    const int status = read_apart(path);
    if (WIFEXITED(status)) {
      WEXITSTATUS(status) == 0 ? read++ : refused++;
    } else {
      WTERMSIG(status) == SIGALRM ? hung++ : crashed++;
    }
  }
  WARN(flipped << " dumps with flipped bytes, seed " << seed << ": " << read << " read, " << refused
               << " refused or in part, " << crashed << " crashed HDF5, " << hung << " hung");
  CHECK(read + refused > flipped * 14 / 15);
}
