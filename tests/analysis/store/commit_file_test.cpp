// CommitFile: what is on disk changes at commit only, in the stated order.
#include "analysis/store/commit_file.hpp"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tests/analysis/store/sample_rows.hpp"

using namespace pclscope::store;
using pclscope::testing::TemporaryDirectory;

namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("data is on disk at once, structure at commit; reading sees both") {
  const TemporaryDirectory directory;
  const auto file = CommitFile::create(directory / "f");
  REQUIRE(file);
  CHECK(file->allocate_data(4) == 0);
  const std::uint64_t structure = file->allocate_structure(8);
  REQUIRE(file->write_data(0, 4, "data"));
  REQUIRE(file->write_structure(structure, 8, "12345678", 1));
  CHECK(content_of(directory / "f") == "data");
  char read[10] = {};
  REQUIRE(file->read(structure + 2, 4, read));
  CHECK(std::string(read) == "3456");
  REQUIRE(file->commit());
  CHECK(content_of(directory / "f").substr(structure, 8) == "12345678");
  CHECK(content_of(directory / "f").size() == file->end());
}

TEST_CASE("structure never crosses a page, and space is never handed out twice") {
  const TemporaryDirectory directory;
  const auto file = CommitFile::create(directory / "f");
  std::uint64_t last_end = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> given;
  for (std::uint64_t i = 0; i < 2000; i++) {
    const std::uint64_t size = 1 + pclscope::testing::mix(i) % (i % 10 == 0 ? 9000 : 1500);
    const bool data = i % 3 == 0;
    const std::uint64_t at = data ? file->allocate_data(size) : file->allocate_structure(size);
    if (!data && size <= 4096) CHECK(at / 4096 == (at + size - 1) / 4096);
    given.emplace_back(at, at + size);
    last_end = std::max(last_end, at + size);
  }
  CHECK(file->end() >= last_end);
  std::sort(given.begin(), given.end());
  for (std::size_t i = 1; i < given.size(); i++) {
    if (given[i].first < given[i - 1].second) FAIL("overlap at " << given[i].first);
  }
}

TEST_CASE("after discard nothing is written any more") {
  const TemporaryDirectory directory;
  const auto file = CommitFile::create(directory / "f");
  const std::uint64_t at = file->allocate_structure(4);
  REQUIRE(file->write_structure(at, 4, "good", 1));
  REQUIRE(file->commit());
  REQUIRE(file->write_structure(at, 4, "evil", 1));
  file->discard();
  CHECK(file->write_data(at, 4, "evil"));
  CHECK(file->commit());
  CHECK(content_of(directory / "f").substr(at, 4) == "good");
}

TEST_CASE("create does not overwrite, open does not write") {
  const TemporaryDirectory directory;
  std::ofstream(directory / "f") << "precious";
  CHECK_FALSE(CommitFile::create(directory / "f"));
  CHECK(errno == EEXIST);
  const auto file = CommitFile::open(directory / "f");
  REQUIRE(file);
  CHECK_FALSE(file->write_data(0, 1, "x"));
  char bytes[8];
  CHECK(file->read(0, 8, bytes));
  CHECK_FALSE(file->read(1, 8, bytes));  // beyond the end
  CHECK_FALSE(CommitFile::open(directory.path()));
}
