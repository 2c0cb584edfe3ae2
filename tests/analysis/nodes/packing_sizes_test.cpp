// Bytes per send and per message on the patterns of simulations: the traffic budget lives on them.
#include <catch2/catch.hpp>
#include <chrono>
#include <random>

#include "tests/analysis/nodes/packing_values.hpp"

using namespace pclscope;
using namespace pclscope::nodes;
using namespace pclscope::nodes::test;

namespace {

constexpr std::uint64_t some_comm = 0x9e3779b97f4a7c15;

// A rank's sends of one iteration: to whom, what, after how many ns.
struct Step {
  std::int32_t peer, tag;
  std::uint64_t bytes;
  std::uint32_t site;
  std::int64_t gap_ns;
};

// 3-d halo of `ranks` in a box, 6 faces, x fastest.
std::vector<Step> halo_steps(int rank, int side) {
  const int x = rank % side, y = rank / side % side, z = rank / side / side;
  const auto at = [&](int i, int j, int k) {
    return (i + side) % side + side * ((j + side) % side + side * ((k + side) % side));
  };
  const int peers[] = {at(x - 1, y, z), at(x + 1, y, z), at(x, y - 1, z),
                       at(x, y + 1, z), at(x, y, z - 1), at(x, y, z + 1)};
  std::vector<Step> steps;
  for (int d = 0; d < 6; ++d) {
    steps.push_back(
        {peers[d], 100 + d, 40'000u << (d / 2), static_cast<std::uint32_t>(11 + d), d == 0 ? 4'000'000 : 900});
  }
  return steps;
}

// NPB CG on a square grid: sums over the row in log2 steps, the transpose, two dot products, 8 bytes each.
std::vector<Step> cg_steps(int rank, int side) {
  const int row = rank / side, column = rank % side;
  std::vector<Step> steps;
  for (int k = 1; k < side; k *= 2)
    steps.push_back({row * side + (column ^ k), 1, 37'336, 21, k == 1 ? 180'000 : 25'000});
  steps.push_back({column * side + row, 1, 37'336, 22, 14'000});
  for (int twice = 0; twice < 2; ++twice) {
    for (int k = 1; k < side; k *= 2) {
      steps.push_back(
          {row * side + (column ^ k), 1, 8, static_cast<std::uint32_t>(23 + twice), k == 1 ? 30'000 : 5'000});
    }
  }
  return steps;
}

std::int64_t around(Random& random, std::int64_t ns) {
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::normal_distribution<>(1, 0.15)(random) * static_cast<double>(ns)));
}

struct Program {
  std::vector<std::vector<Step>> steps;  // of each rank
  int per_node = 0;
};
Program halo(int side, int per_node) {
  Program p{{}, per_node};
  for (int r = 0; r < side * side * side; ++r) p.steps.push_back(halo_steps(r, side));
  return p;
}
Program cg(int side, int per_node) {
  Program p{{}, per_node};
  for (int r = 0; r < side * side; ++r) p.steps.push_back(cg_steps(r, side));
  return p;
}

// What node 0 sends to the other nodes in an epoch of so many iterations, one frame each.
std::vector<SendRecords> epoch_of(const Program& p, int iterations, Random& random) {
  std::vector<SendRecords> to(p.steps.size() / static_cast<std::size_t>(p.per_node));
  for (int rank = 0; rank < p.per_node; ++rank) {
    std::int64_t now = 3'600'000'000'000 + around(random, 100'000);
    std::uint64_t number = 123'456;
    for (int i = 0; i < iterations; ++i) {
      for (const Step& s : p.steps[static_cast<std::size_t>(rank)]) {
        now += around(random, s.gap_ns);
        const std::int64_t begin = now;
        now += around(random, 350 + static_cast<std::int64_t>(s.bytes / 50));
        const std::uint64_t ordinal = number++;
        if (s.peer / p.per_node == 0) continue;
        RankEvent h{};
        h.rank = rank;
        h.event = {static_cast<std::uint64_t>(begin),
                   static_cast<std::uint64_t>(now),
                   s.site,
                   some_comm,
                   s.bytes,
                   ordinal,
                   s.peer,
                   s.tag,
                   record::EventKind::send,
                   17,
                   record::flag::nonblocking};
        to[static_cast<std::size_t>(s.peer / p.per_node)].events.push_back(h);
      }
    }
  }
  return to;
}

double bytes_per_send(const Program& p, int iterations, Random& random) {
  std::size_t sends = 0, bytes = 0;
  for (const SendRecords& h : epoch_of(p, iterations, random)) {
    if (h.events.empty()) continue;
    sends += h.events.size();
    bytes += pack(h).size();
  }
  REQUIRE(sends > 0);
  return static_cast<double>(bytes) / static_cast<double>(sends);
}

// Node 0's received messages in the order of matching: rank by rank in pieces, as its rings are read.
std::vector<Message> received(const Program& p, int iterations, bool waitall, Random& random) {
  std::vector<Message> list;
  for (int from = 0; from < iterations; from += 5) {
    for (int rank = 0; rank < p.per_node; ++rank) {
      std::int64_t now = 3'600'000'000'000 + from * 5'000'000ll;
      for (int i = from; i < std::min(iterations, from + 5); ++i) {
        std::vector<Message> burst;
        for (const Step& s : p.steps[static_cast<std::size_t>(rank)]) {  // the patterns are symmetric
          now += around(random, s.gap_ns);
          Message m;
          m.comm = some_comm, m.source = s.peer, m.destination = rank, m.tag = s.tag, m.bytes = s.bytes;
          m.send_site = s.site, m.recv_site = s.site + 30;
          m.flags = record::flag::nonblocking | (random() % 3 == 0 ? message_flag::delayed : 0);
          if (s.peer / p.per_node != 0) m.flags |= message_flag::inter_node, m.clock_error_ns = 800;
          m.recv_post = now;
          m.send_begin = now + around(random, 20'000) - 15'000;
          m.send_end = m.send_begin + around(random, 350 + static_cast<std::int64_t>(s.bytes / 50));
          if (!waitall) {
            m.recv_wait = now + around(random, 2000);
            m.recv_end = now =
                std::max(m.recv_wait, m.send_begin) + around(random, 1000 + static_cast<std::int64_t>(s.bytes / 10));
          }
          burst.push_back(m);
        }
        if (waitall) {
          const std::int64_t wait = now + around(random, 3000), end = wait + around(random, 60'000);
          for (Message& m : burst) m.recv_wait = wait, m.recv_end = now = end;
        }
        list.insert(list.end(), burst.begin(), burst.end());
      }
    }
  }
  return list;
}

double bytes_per_message(const std::vector<Message>& messages) {
  RawMessages raw;
  raw.messages = messages;
  return static_cast<double>(pack(raw).size()) / static_cast<double>(messages.size());
}

}  // namespace

TEST_CASE("a send takes few bytes") {
  Random random(1);
  for (const int iterations : {5, 50, 500}) {
    const double bound = iterations == 5 ? 10 : 7.5;
    for (const int per_node : {8, 16, 64}) {
      const double h = bytes_per_send(halo(8, per_node), iterations, random);
      const double c = bytes_per_send(cg(16, per_node), iterations, random);
      WARN(iterations << " iterations per epoch, " << per_node << " ranks per node: halo " << h << ", cg " << c
                      << " bytes per send");
      CHECK(h < bound);
      // A node of one row of the grid has one send per iteration for each other node: the frame's first one weighs.
      CHECK(c < (iterations == 5 && per_node == 16 ? 14 : bound));
    }
  }
}

TEST_CASE("a message takes few bytes") {
  Random random(2);
  for (const int per_node : {8, 64}) {
    const double h = bytes_per_message(received(halo(8, per_node), 50, true, random));
    const double w = bytes_per_message(received(halo(8, per_node), 50, false, random));
    const double c = bytes_per_message(received(cg(16, per_node), 50, false, random));
    WARN(per_node << " ranks per node: halo with Waitall " << h << ", with Waits " << w << ", cg " << c
                  << " bytes per message");
    CHECK(h < 11);
    CHECK(w < 14);
    CHECK(c < 14);
  }
}

TEST_CASE("a message without clock error takes as many bytes as if there were no such thing") {
  Random random(3);
  std::vector<Message> with = received(cg(16, 8), 50, false, random), without = with;
  for (Message& m : without) m.clock_error_ns = 0;
  const double extra = bytes_per_message(with) - bytes_per_message(without);
  WARN(extra << " bytes per message for the clock error");
  CHECK(extra < 0.1);
}

TEST_CASE("pairs, times and placements take few bytes") {
  Random random(4);
  Report report;
  for (std::int32_t a = 0; a < 64; ++a) {
    for (std::int32_t b = 0; b < 6; ++b) {
      LatencySums s;
      s.messages = s.timed = 200;
      s.bytes = 200 * 80'000;
      s.delayed = 70;
      s.blocked.late_sender = around(random, 900'000);
      s.blocked.late_receiver = around(random, 800'000);
      s.blocked.transfer_receiver = around(random, 3'000'000);
      s.blocked.transfer_sender = around(random, 800'000);
      s.transfer_time_ns = around(random, 4'000'000);
      report.pairs.push_back({a, a + 64 + b, s});
      report.pair_times.push_back({a, a + 64 + b, false, 300, 200, around(random, 5'000'000), around(random, 4'000'000),
                                   around(random, 200 * 65536 * 10)});
    }
  }
  const double pair = static_cast<double>(pack(report).size()) / static_cast<double>(report.pairs.size());
  WARN(pair << " bytes per pair");
  CHECK(pair < 44);
  Report times;
  for (std::uint32_t i = 0; i < 1000; ++i)
    times.times.push_back({true, false, 300 + i / 50, 1500 + i % 50 * 3, 1 + random() % 200});
  CHECK(static_cast<double>(pack(times).size()) < 1000 * 5.5);
  Orders orders;
  for (std::int32_t r = 0; r < 100'000; ++r)
    orders.node_of_rank.push_back(r / 64), orders.region_of_rank.push_back(r / 900);
  const std::size_t blocks = pack(orders).size();
  for (std::int32_t r = 0; r < 100'000; ++r) orders.node_of_rank[static_cast<std::size_t>(r)] = r % 1600;
  const std::size_t robin = pack(orders).size();
  WARN("orders of 100,000 ranks: " << blocks << " bytes by blocks, " << robin << " round robin");
  CHECK(blocks < 8000);
  CHECK(robin < 8000);
}

TEST_CASE("packing keeps up with rings") {
  Random random(6);
  const std::vector<SendRecords> frames = epoch_of(halo(8, 64), 2000, random);
  const std::vector<Message> messages = received(halo(8, 64), 500, true, random);
  using Clock = std::chrono::steady_clock;
  std::size_t sends = 0;
  const auto begin = Clock::now();
  std::vector<std::vector<std::byte>> packed;
  for (const SendRecords& h : frames) packed.push_back(pack(h)), sends += h.events.size();
  const auto middle = Clock::now();
  SendRecords back;
  for (const auto& frame : packed) REQUIRE(unpack(frame, back));
  const auto end = Clock::now();
  RawMessages raw, raw_back;
  raw.messages = messages;
  const auto begin_bulk = Clock::now();
  const std::vector<std::byte> frame = pack(raw);
  const auto middle_bulk = Clock::now();
  REQUIRE(unpack(frame, raw_back));
  const auto end_bulk = Clock::now();
  const auto ns = [](auto from, auto to, std::size_t n) {
    return std::chrono::duration<double, std::nano>(to - from).count() / static_cast<double>(n);
  };
  WARN("ns per send: " << ns(begin, middle, sends) << " packed, " << ns(middle, end, sends)
                       << " unpacked; per message: " << ns(begin_bulk, middle_bulk, messages.size()) << " packed, "
                       << ns(middle_bulk, end_bulk, messages.size()) << " unpacked");
  CHECK(raw_back.messages == messages);
}
