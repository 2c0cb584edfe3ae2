#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <random>

#include "tests/test_data.hpp"
#include "viewer/text/function_name.hpp"
#include "viewer/text/nearest.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/text/sparkline.hpp"
#include "viewer/text/table.hpp"

using namespace pclscope::text;
using Ranks = std::vector<std::int32_t>;

TEST_CASE("labels of an axis: neighbours differ, and each is the moment that it says") {
  for (double step = 5e-9; step < 1; step *= 10)
    for (const double begin : {0.0, 0.4, 2.0, 98.0, 3600.0}) {
      std::string before;
      for (int i = 0; i < 12; ++i) {
        const double moment = begin + i * step;
        const std::string words = format_tick(moment, step);
        CHECK(words != before);
        CHECK(std::fabs(std::stod(words) - moment) <= step / 100 + 1e-12);
        before = words;
      }
    }
  CHECK(format_tick(2.005, 0.005) == "2.005 s");
  CHECK(format_tick(2, 0.5) == "2.0 s");
  CHECK(format_tick(133, 10) == "02:13");
}

TEST_CASE("durations are read with their unit") {
  CHECK(parse_duration_ns("100ms") == 100'000'000);
  CHECK(parse_duration_ns("0.5s") == 500'000'000);
  CHECK(parse_duration_ns("1s") == 1'000'000'000);
  CHECK(parse_duration_ns("250us") == 250'000);
  CHECK(parse_duration_ns("7ns") == 7);
  CHECK(parse_duration_ns("2min") == 120'000'000'000);
  CHECK(parse_duration_ns("0s") == 0);
}

TEST_CASE("sizes are read with decimal and binary units, never without one") {
  CHECK(parse_bytes("500MB") == 500'000'000);
  CHECK(parse_bytes("2GB") == 2'000'000'000);
  CHECK(parse_bytes("2G") == 2'000'000'000);
  CHECK(parse_bytes("1.5GiB") == 1'610'612'736);
  CHECK(parse_bytes("800kB") == 800'000);
  CHECK(parse_bytes("1KiB") == 1024);
  CHECK(parse_bytes("7B") == 7);
  for (const char* word : {"", "2", "MB", "-1MB", "2 GB", "2gb", "2GBs", "nanB", "1e5TB", "99999999999TB", "2iB"})
    CHECK_FALSE(parse_bytes(word));
}

TEST_CASE("what is no duration is refused") {
  for (const char* word : {"", "100", "ms", "-1s", "1 s", "1sec", "1h", "nan", "nans", "inf", "infs", "1e3s", "0x10s",
                           "1s ", " 1s", "1..2s", "99999999999999999999s"}) {
    INFO(word);
    CHECK_FALSE(parse_duration_ns(word));
  }
}

TEST_CASE("seconds are shown with three digits and a unit") {
  CHECK(format_seconds(0) == "0 s");
  CHECK(format_seconds(3.25e-6) == "3.25 us");
  CHECK(format_seconds(41.5e-6) == "41.5 us");
  CHECK(format_seconds(812e-6) == "812 us");
  CHECK(format_seconds(999.9e-6) == "1.00 ms");
  CHECK(format_seconds(4e-9) == "4 ns");
  CHECK(format_seconds(-2e-3) == "-2.00 ms");
  CHECK(format_seconds(12.5) == "12.5 s");
  CHECK(format_seconds(200) == "3 min 20 s");
  CHECK(format_seconds(7384) == "2 h 3 min");
  CHECK(format_seconds(std::numeric_limits<double>::quiet_NaN()) == "-");
  CHECK(format_seconds(std::numeric_limits<double>::infinity()) == "-");
}

TEST_CASE("bytes, counts, ratios and shares stay short") {
  CHECK(format_bytes(512) == "512 B");
  CHECK(format_bytes(8192) == "8.0 KiB");
  CHECK(format_bytes(1023.99 * 1024) == "1.0 MiB");
  CHECK(format_bytes(1.5 * 1024 * 1024 * 1024) == "1.5 GiB");
  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1000) == "1,000");
  CHECK(format_count(1234567) == "1,234,567");
  CHECK(format_short_count(99999) == "99999");
  CHECK(format_short_count(123456) == "123k");
  CHECK(format_short_count(999'999) == "1.00M");
  CHECK(format_short_count(UINT64_MAX) == "18.4E");
  CHECK(format_ratio(1.314) == "1.31");
  CHECK(format_ratio(41.25) == "41.2");
  CHECK(format_ratio(NAN) == "-");
  CHECK(format_share(0.34) == "34%");
  CHECK(format_share(0.001) == "<1%");
  CHECK(format_share(0) == "0%");
}

TEST_CASE("instants are shown as UTC") {
  CHECK(format_utc(0) == "1970-01-01T00:00:00.000Z");
  CHECK(format_utc(1'714'566'896'789'000'000) == "2024-05-01T12:34:56.789Z");
  CHECK(format_utc(-1'000'000) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("rank lists are compacted from three neighbours on") {
  CHECK(compact_ranks(Ranks{}) == "-");
  CHECK(compact_ranks(Ranks{5}) == "5");
  CHECK(compact_ranks(Ranks{0, 1}) == "0,1");
  CHECK(compact_ranks(Ranks{0, 1, 2, 3, 8}) == "0-3,8");
  CHECK(compact_ranks(Ranks{8, 3, 2, 1, 0, 3}) == "0-3,8");
  CHECK(compact_ranks(Ranks{1, 3, 5}) == "1,3,5");
}

TEST_CASE("rank lists too wide say how many ranks are left out") {
  CHECK(compact_ranks(Ranks{0, 2, 4, 6, 8, 10, 12}, 20) == "0,2,4,6,8,10,12");
  CHECK(compact_ranks(Ranks{0, 2, 4, 6, 8, 10, 12}, 10) == "0,2,4,6,+3");
  CHECK(compact_ranks(Ranks{0, 1, 2, 4, 10, 11, 12, 13}, 8) == "0-2,4,+4");
}

TEST_CASE("malformed rank lists are refused") {
  for (const char* list :
       {"", ",", "1,", ",1", "a", "1-", "-1", "3-1", "1--2", "1 2", "1,a", "99999999999", "0-99999999"}) {
    INFO(list);
    CHECK_FALSE(parse_ranks(list));
  }
}

TEST_CASE("compacted lists read back as they were") {
  const auto seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
  INFO("seed " << seed);
  std::mt19937 random(seed);
  Ranks ranks;
  for (int rank = 0; rank < 200; ++rank) {
    if (random() % 8 < seed) ranks.push_back(rank);
  }
  if (ranks.empty()) return;
  CHECK(parse_ranks(compact_ranks(ranks)) == ranks);
  for (std::size_t width = 8; width < 60; width += 7) CHECK(compact_ranks(ranks, width).size() <= width);
}

TEST_CASE("a sparkline has its newest value on the right") {
  const std::vector<float> values = {0, 5, 10};
  const std::vector<std::uint32_t> weights = {1, 1, 1};
  CHECK(sparkline(values, weights, 3, 10, false) == "▁▅█");
  CHECK(sparkline(values, weights, 5, 10, false) == "  ▁▅█");
  CHECK(sparkline(values, weights, 3, 10, true) == ".+#");
}

TEST_CASE("windows without messages leave a blank column") {
  CHECK(sparkline(std::vector<float>{10, 0, 10}, std::vector<std::uint32_t>{1, 0, 1}, 3, 10, true) == "# #");
  CHECK(sparkline({}, {}, 4, 10, true) == "    ");
}

TEST_CASE("a long history is averaged by weight") {
  // Columns: (0*1 + 10*3) / 4 = 7.5 -> level 5 of 7; (10*1 + 0*0) / 1 = 10.
  CHECK(sparkline(std::vector<float>{0, 10, 10, 0}, std::vector<std::uint32_t>{1, 3, 1, 0}, 2, 10, true) == "*#");
}

TEST_CASE("values beyond the scale and broken values fill the column") {
  CHECK(sparkline(std::vector<float>{99, NAN, INFINITY}, std::vector<std::uint32_t>{1, 1, 1}, 3, 10, true) == "###");
}

TEST_CASE("control characters do not reach the terminal") {
  CHECK(printable("a\x1b[2Jb") == "a?[2Jb");
  CHECK(printable(std::string("a\0b\n\r\t\x7f", 7)) == "a?b????");
  CHECK(printable("\xc2\x9b"
                  "31m") == "?31m");  // C1: one-byte CSI
  CHECK(printable("a\xe2\x80\xae"
                  "b") == "a?b");             // right-to-left override
  CHECK(printable("\xff\xc3") == "??");       // no UTF-8
  CHECK(printable("\xc0\x9b") == "??");       // overlong ESC
  CHECK(printable("\xed\xa0\x80") == "???");  // surrogate
  CHECK(printable("Grüße ▁█ 日本") == "Grüße ▁█ 日本");
}

TEST_CASE("random bytes become printable for good") {
  const auto seed = GENERATE(11u, 12u, 13u);
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::string bytes(random() % 40, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    const std::string safe = printable(bytes);
    CHECK(printable(safe) == safe);
    for (const unsigned char c : safe) CHECK((c >= 0x20 && c != 0x7f));
  }
}

TEST_CASE("text is cut by columns and says so") {
  CHECK(clip("abcdef", 6) == "abcdef");
  CHECK(clip("abcdef", 5) == "abcd~");
  CHECK(clip("▁▂▃▄▅", 3) == "▁▂~");
  CHECK(clip("日本語", 4) == "日~");
  CHECK(clip("abc", 0) == "");
  CHECK(display_width("日本") == 4);
  CHECK(display_width("e\xcc\x81") == 1);
}

TEST_CASE("tables align numbers right and words left") {
  Table table;
  table.column("name", Align::left);
  table.column("n", Align::right);
  table.row({"a", "1"});
  table.row({"long", "1000"});
  CHECK(table.lines() == std::vector<std::string>{"name     n", "a        1", "long  1000"});
  CHECK(table.lines(8)[2] == "long  1~");
}

TEST_CASE("comma-separated values are quoted where needed") {
  CHECK(csv_line({"a", "b c", "1"}) == "a,b c,1");
  CHECK(csv_line({"a,b", "say \"x\"", ""}) == "\"a,b\",\"say \"\"x\"\"\",");
}

TEST_CASE("mistakes between words, and what was meant") {
  CHECK(mistakes("", "") == 0);
  CHECK(mistakes("abc", "") == 3);
  CHECK(mistakes("watch", "watch") == 0);
  CHECK(mistakes("wacht", "watch") == 2);
  CHECK(mistakes("wathc", "watch") == 1);  // neighbours exchanged
  CHECK(mistakes("inspekt", "inspect") == 1);
  CHECK(mistakes("list", "lists") == 1);
  const std::vector<std::string> known = {"inspect", "watch", "list", "--from", "--to", "attach", "attribution"};
  const auto meant = [&](const char* word) { return did_you_mean(word, known); };
  CHECK(meant("inspekt") == ", did you mean 'inspect'?");
  CHECK(meant("--form") == ", did you mean '--from'?");
  CHECK(meant("lst") == ", did you mean 'list'?");
  CHECK(meant("attri") == ", did you mean 'attribution'?");
  CHECK(meant("att").empty());  // two begin so
  CHECK(meant("frobnicate").empty());
  CHECK(meant("").empty());
  CHECK(meant("--").empty());
  CHECK(meant("xy").empty());
  CHECK(meant(std::string(10'000, 'x').c_str()).empty());
  CHECK(did_you_mean("a", {}).empty());
}

TEST_CASE("C++ functions are told without their arguments") {
  std::ifstream names(pclscope::test::data_file("function_names.txt"));  // the Python reader's test has the same
  int count = 0;
  for (std::string line; std::getline(names, line); ++count) {
    const std::size_t tab = line.find('\t');
    REQUIRE(tab != std::string::npos);
    CHECK(pclscope::text::short_function(line.substr(0, tab)) == line.substr(tab + 1));
  }
  CHECK(count > 15);
}
