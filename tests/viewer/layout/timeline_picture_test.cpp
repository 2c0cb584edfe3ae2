// Pixels of the rank timeline against sums made pixel by pixel, call by call.
#include "viewer/layout/timeline_picture.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <random>

#include "tests/seed.hpp"
#include "viewer/layout/function_colours.hpp"

using namespace pclscope;
using namespace pclscope::layout;

namespace {

constexpr std::uint16_t send = 328, recv = 300, wait_all = 412;

MpiCall call_of(std::int32_t rank, std::uint16_t function, std::int64_t begin, std::int64_t end,
                std::int64_t outside = -1, std::uint16_t thread = 0) {
  MpiCall c;
  c.rank = rank;
  c.thread = thread;
  c.function = function;
  c.begin = begin;
  c.end = end;
  c.outside = outside;
  return c;
}

// Threads with calls of any length, one after the other; after some of them nothing is known for a while.
std::vector<MpiCall> random_calls(std::mt19937_64& random, std::int32_t ranks, std::int64_t until) {
  std::vector<MpiCall> calls;
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    for (std::uint16_t thread = 0; thread < 1 + (rank % 3 == 2); ++thread)
      for (std::int64_t now = static_cast<std::int64_t>(random() % 500); now < until;) {
        const auto outside = static_cast<std::int64_t>(random() % (random() % 8 == 0 ? 900 : 40));
        const auto length = static_cast<std::int64_t>(random() % (random() % 8 == 0 ? 700 : 30));
        const bool known = random() % 6 != 0;
        calls.push_back(call_of(rank, static_cast<std::uint16_t>(1 + random() % 6), now + outside,
                                now + outside + length, known ? outside : -1, thread));
        now += outside + length;
      }
  return calls;
}

double overlap(double a0, double a1, double b0, double b1) {
  return std::max(0.0, std::min(a1, b1) - std::max(a0, b0));
}

struct Sums {
  std::map<std::uint16_t, double> functions;
  double inside = 0, known = 0;
};
Sums brute_force(const std::vector<MpiCall>& calls, std::int32_t rank, double t0, double t1) {
  Sums sums;
  double threads = 0;
  for (const MpiCall& c : calls)
    if (c.rank == rank) threads = std::max<double>(threads, c.thread + 1);
  for (const MpiCall& c : calls) {
    if (c.rank != rank) continue;
    const auto begin = static_cast<double>(c.begin), end = static_cast<double>(c.end);
    const double in = overlap(begin, end, t0, t1) / (t1 - t0) / threads;
    if (in > 0 || (begin == end && begin >= t0 && begin < t1)) sums.functions[c.function] += in;
    sums.inside += in;
    sums.known += in;
    if (c.outside > 0)
      sums.known += overlap(begin - static_cast<double>(c.outside), begin, t0, t1) / (t1 - t0) / threads;
  }
  return sums;
}

}  // namespace

TEST_CASE("each pixel has the function with most of its time") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 15; ++round) {
    const std::vector<MpiCall> calls = random_calls(random, 7, 4000);
    const auto run = session::timeline_of(7, calls, {}, {}, false);
    TimelineSight sight;
    sight.time0 = static_cast<double>(random() % 2000);
    sight.time1 = sight.time0 + 50 + static_cast<double>(random() % 2000);
    sight.rank1 = 7;
    sight.width = 5 + static_cast<int>(random() % 60);
    sight.height = 7 * static_cast<int>(1 + random() % 5);
    const auto pixels = timeline_pixels(*run, sight);
    REQUIRE(pixels.size() == static_cast<std::size_t>(sight.width) * static_cast<std::size_t>(sight.height));
    int wrong = 0;
    for (int y = 0; y < sight.height; ++y)
      for (int x = 0; x < sight.width; ++x) {
        const TimelinePixel& pixel =
            pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(sight.width) + static_cast<std::size_t>(x)];
        const std::int32_t rank = y * 7 / sight.height;
        const Sums sums =
            brute_force(calls, rank, sight.time(static_cast<float>(x)), sight.time(static_cast<float>(x) + 1));
        double most = -1, second = -1;
        std::uint16_t function = TimelinePixel::none;
        for (const auto& [f, time] : sums.functions) {
          if (time > most) second = most, most = time, function = f;
          else second = std::max(second, time);
        }
        wrong += pixel.rank != rank;
        wrong += std::fabs(pixel.inside - sums.inside) > 1e-3 || std::fabs(pixel.known - sums.known) > 1e-3;
        if (most > second + 1e-3 && most > 1e-3) wrong += pixel.function != function;
        if (most > 1e-3) wrong += std::fabs(pixel.share - most) > 1e-3;
        if (sums.functions.empty()) wrong += pixel.share > 1e-3f;
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a call without a length at a pixel's edge takes nothing from the pixel before") {
  // 891 is the edge of pixels 13 and 14, to rounding: on one side of it as a moment, on the other as a stretch's begin.
  const std::vector<MpiCall> calls{call_of(0, send, 866, 871, 366), call_of(0, recv, 891, 891, 20),
                                   call_of(0, send, 900, 905, 9)};
  const auto run = session::timeline_of(1, calls, {}, {}, false);
  TimelineSight sight;
  sight.time0 = 501;
  sight.time1 = 1671;
  sight.rank1 = 1;
  sight.width = 42;
  sight.height = 1;
  const auto pixels = timeline_pixels(*run, sight);
  CHECK(pixels[13].function == send);
  CHECK(pixels[13].inside == Approx(5 * 42 / 1170.0));
  CHECK(pixels[13].known == Approx(1));
}

TEST_CASE("of many ranks in a pixel row the one that differs is seen, whether it is late or waits alone") {
  std::vector<MpiCall> calls;
  constexpr std::int32_t ranks = 4000, late = 2345, alone = 1234;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    // Until 1000 one rank computes while all others wait; until 2000 one rank waits while all others compute.
    calls.push_back(call_of(rank, wait_all, rank == late ? 1000 : 10, 1010, rank == late ? 1000 : 10));
    calls.push_back(call_of(rank, recv, rank == alone ? 1020 : 1990, 2000, rank == alone ? 10 : 980));
  }
  const auto run = session::timeline_of(ranks, calls, {}, {}, false);
  TimelineSight sight;
  sight.time1 = 2000;
  sight.rank1 = ranks;
  sight.width = 20;
  sight.height = 10;
  const auto pixels = timeline_pixels(*run, sight);
  const auto at = [&](int x, std::int32_t rank) { return pixels[static_cast<std::size_t>(rank / 400 * 20 + x)]; };
  CHECK(at(5, late).rank == late);
  CHECK(at(5, late).function == TimelinePixel::none);
  CHECK(at(5, late + 400).function == wait_all);
  CHECK(at(15, alone).rank == alone);
  CHECK(at(15, alone).function == recv);
  CHECK(at(15, alone + 400).function == TimelinePixel::none);
}

TEST_CASE("no picture is empty while there are calls in sight") {
  const std::uint64_t seed = test::random_seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const std::vector<MpiCall> calls = random_calls(random, 300, 3000);
  const auto run = session::timeline_of(300, calls, {}, {}, false);
  for (int round = 0; round < 30; ++round) {
    const MpiCall& in_sight = calls[random() % calls.size()];
    TimelineImageRequest request;
    request.run = run;
    request.palette = &palette(random() % 2 ? Theme::dark : Theme::light);
    request.sight.time0 = static_cast<double>(in_sight.begin) - static_cast<double>(random() % 100);
    request.sight.time1 = request.sight.time0 + 101 + static_cast<double>(random() % 5000);
    request.sight.rank0 = std::max(0.0, in_sight.rank - static_cast<double>(random() % 20));
    request.sight.rank1 = in_sight.rank + 1 + static_cast<double>(random() % 20);
    request.sight.width = 40 + static_cast<int>(random() % 100);
    request.sight.height = 40 + static_cast<int>(random() % 100);
    const TimelineImage image = draw_timeline(request, {});
    CHECK(image.image.rgba.size() == static_cast<std::size_t>(request.sight.width * request.sight.height * 4));
    CHECK(image.coloured > 0);
    REQUIRE(!image.functions.empty());
  }
}

TEST_CASE("a function whose calls in sight took no time is named with its colour") {
  const std::vector<MpiCall> calls{call_of(0, recv, 50, 50, 50)};
  TimelineImageRequest request;
  request.run = session::timeline_of(1, calls, {}, {}, false);
  request.palette = &palette(Theme::dark);
  request.sight.time1 = 100;
  request.sight.rank1 = 1;
  request.sight.width = 40;
  request.sight.height = 10;
  const TimelineImage image = draw_timeline(request, {});
  CHECK(image.coloured == 10);
  REQUIRE(image.functions.size() == 1);
  CHECK(image.functions[0].first == recv);
}

TEST_CASE("waits are hatched, messages and the critical path are lines, too many messages are counted") {
  // Rank 1 waits for a send of rank 0 from 100 to 900.
  const std::vector<MpiCall> calls = {call_of(0, send, 900, 950, 900), call_of(1, recv, 100, 1000, 100)};
  Message m;
  m.source = 0;
  m.destination = 1;
  m.send_begin = 900;
  m.send_end = 950;
  m.recv_post = m.recv_wait = 100;
  m.recv_end = 1000;
  const auto run = session::timeline_of(2, calls, std::vector<Message>{m}, {}, true);
  TimelineImageRequest request;
  request.run = run;
  request.palette = &palette(Theme::dark);
  request.sight.time1 = 1000;
  request.sight.rank1 = 2;
  request.sight.width = 100;
  request.sight.height = 40;
  const auto pixels = timeline_pixels(*run, request.sight);
  CHECK(pixels[30 * 100 + 50].waiting == Approx(1).margin(1e-3));
  CHECK(pixels[30 * 100 + 95].waiting == 0);
  CHECK(pixels[10 * 100 + 50].waiting == 0);
  request.messages = request.path = false;
  const TimelineImage plain = draw_timeline(request, {});
  std::map<std::uint32_t, int> colours;
  for (int x = 20; x < 80; ++x) {
    const std::uint8_t* p = &plain.image.rgba[(30 * 100 + static_cast<std::size_t>(x)) * 4];
    ++colours[static_cast<std::uint32_t>(p[0] << 16 | p[1] << 8 | p[2])];
  }
  CHECK(colours.size() == 2);  // the call's, and that of the hatching
  request.messages = true;
  const TimelineImage lines = draw_timeline(request, {});
  CHECK(lines.lines == 1);
  CHECK(lines.image.rgba != plain.image.rgba);
  request.path = true;
  // The path: rank 0 until it sends, then rank 1.
  REQUIRE(run->path.size() >= 2);
  CHECK(run->path.front().rank == 0);
  CHECK(run->path.back().rank == 1);
  const TimelineImage path = draw_timeline(request, {});
  const Rgba bold = request.palette->selection;
  CHECK(path.image.rgba[(10 * 100 + 50) * 4] == bold.red);  // on rank 0 at 500
  CHECK(path.image.rgba[(30 * 100 + 50) * 4] != bold.red);  // not on rank 1 then
  // A message under way all the time is no line of a part in which nothing of it happens.
  request.sight.time0 = 910;
  request.sight.time1 = 990;
  CHECK(draw_timeline(request, {}).lines == 0);
  request.sight.time0 = 0;
  request.sight.time1 = 1000;
  const std::vector<Message> many(5000, m);
  request.run = session::timeline_of(2, calls, many, {}, false);
  const TimelineImage dense = draw_timeline(request, {});
  CHECK(dense.lines == 0);
  CHECK(dense.lines_left_out == 5000);
}

TEST_CASE("frequent functions can be told apart, and from time outside MPI") {
  std::vector<Rgba> colours = {outside_colour(palette(Theme::dark)), outside_colour(palette(Theme::light))};
  const std::vector<std::string_view> names = {"MPI_Send",     "MPI_Isend",     "MPI_Recv",    "MPI_Irecv",
                                               "MPI_Sendrecv", "MPI_Wait",      "MPI_Waitall", "MPI_Waitany",
                                               "MPI_Barrier",  "MPI_Allreduce", "MPI_Bcast",   "MPI_Reduce",
                                               "MPI_Alltoall", "MPI_Allgather", "MPI_Init",    "MPI_Finalize"};
  std::size_t found = 0;
  for (std::uint16_t f = 0; f < 1024; ++f)
    for (const std::string_view name : names)
      if (record::function_name(f) == name) {
        colours.push_back(function_colour(f));
        ++found;
      }
  CHECK(found == names.size());
  for (std::size_t i = 0; i < colours.size(); ++i)
    for (std::size_t j = i + 1; j < colours.size(); ++j) {
      const int apart = std::abs(colours[i].red - colours[j].red) + std::abs(colours[i].green - colours[j].green) +
                        std::abs(colours[i].blue - colours[j].blue);
      CHECK(apart >= 30);
    }
}

TEST_CASE("calls that overlap, of a broken record, do not break the picture") {
  const std::vector<MpiCall> calls = {call_of(0, send, 0, 500), call_of(0, recv, 100, 200),
                                      call_of(0, recv, 300, 900, 1000), call_of(9, send, 0, 10),
                                      call_of(0, send, 50, 20)};
  const auto run = session::timeline_of(2, calls, {}, {}, false);
  CHECK(run->calls.size() == 4);
  TimelineSight sight;
  sight.time1 = 1000;
  sight.rank1 = 2;
  sight.width = 10;
  sight.height = 2;
  for (const TimelinePixel& pixel : timeline_pixels(*run, sight)) {
    CHECK(pixel.inside <= 1);
    CHECK(pixel.known <= 1);
  }
}
