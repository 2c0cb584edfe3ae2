// What a relay sends: bytes per snapshot of jobs in which every number of every rank changes from one snapshot to the
// next, and the bandwidth that comes of it at the relay's pace. Checks that all snapshots come out as they went in.
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <thread>

#include "analysis/wire/decode.hpp"
#include "analysis/wire/encode.hpp"
#include "tests/viewer/fake_run.hpp"
#include "viewer/reach/relay_stream.hpp"

using namespace pclscope;
using Clock = std::chrono::steady_clock;

namespace {

void go_on(Snapshot& snapshot, std::minstd_rand& random) {
  const auto any = [&] { return static_cast<double>(random()) / 2147483647.0; };
  snapshot.duration_s += 1;
  ++snapshot.live.sequence;
  for (RankSummary& rank : snapshot.ranks) {
    rank.sends += 900 + random() % 200;
    rank.receives += 900 + random() % 200;
    rank.bytes_sent += 8 * (90'000 + random() % 20'000);
    rank.bytes_received += 8 * (90'000 + random() % 20'000);
    rank.collectives += 10;
    rank.mean_latency_ratio = 1 + any();
    rank.mpi_s += any();
    rank.late_sender_s += 0.3 * any();
    rank.late_receiver_s += 0.2 * any();
    rank.collective_wait_s += 0.1 * any();
    rank.call_for_s = 0.01 * any();
  }
  for (Region& region : snapshot.regions) {
    region.messages += 10'000 + random() % 1000;
    region.mean_latency_ratio = 1 + any();
  }
}

bool measure(std::int32_t ranks, std::int32_t regions, int snapshots) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return false;
  std::minstd_rand random(1);
  Snapshot snapshot = test::fake_snapshot({.ranks = ranks, .regions = regions, .slow = 2, .windows = 120});
  std::vector<std::vector<std::uint8_t>> frames;
  for (int i = 0; i < snapshots; ++i, go_on(snapshot, random)) {
    wire::Encoder encoder;
    const auto frame = encoder.snapshot(snapshot);
    frames.emplace_back(frame.begin(), frame.end());
  }
  std::vector<std::uint64_t> sizes;
  double pack_s = 0;
  std::thread writer([&] {
    reach::RelayWriter to(ends[0]);
    for (const auto& frame : frames) {
      const std::uint64_t before = to.bytes_written();
      const auto began = Clock::now();
      to.write(reach::Part::snapshot, frame);
      pack_s += std::chrono::duration<double>(Clock::now() - began).count();
      sizes.push_back(to.bytes_written() - before);
    }
    ::shutdown(ends[0], SHUT_WR);
  });
  reach::RelayReader from(ends[1]);
  bool same = true;
  for (const auto& frame : frames) {
    const auto came = from.read(Clock::now() + std::chrono::seconds(60));
    same = same && came && *came && (*came)->bytes == frame && wire::decode_snapshot((*came)->bytes);
  }
  writer.join();
  ::close(ends[0]);
  ::close(ends[1]);
  double steady = 0;
  for (std::size_t i = 1; i < sizes.size(); ++i) steady += static_cast<double>(sizes[i]);
  steady /= static_cast<double>(sizes.size() - 1);
  const double pause =
      std::max(1.0, std::chrono::duration<double>(reach::pause_after(static_cast<std::uint64_t>(steady))).count());
  std::printf(
      "%6d ranks: frame %8.1f kB, first %7.1f kB, then %7.1f kB (ratio %.2f), every %.2f s: %6.1f kB/s; %.1f ms%s\n",
      ranks, static_cast<double>(frames.front().size()) / 1e3, static_cast<double>(sizes.front()) / 1e3, steady / 1e3,
      static_cast<double>(frames.back().size()) / steady, pause, steady / 1e3 / pause,
      1e3 * pack_s / static_cast<double>(sizes.size()), same ? "" : "  NOT THE SAME");
  return same && (ranks > 1152 || steady / 1e3 / pause <= 50.5);
}

}  // namespace

int main(int argc, char** argv) {
  const int snapshots = argc > 1 && std::strcmp(argv[1], "--quick") == 0 ? 6 : 30;
  bool good = measure(64, 4, snapshots);
  good = measure(1152, 36, snapshots) && good;
  return measure(16384, 128, snapshots) && good ? 0 : 1;
}
