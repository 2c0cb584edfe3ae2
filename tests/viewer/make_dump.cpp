// make_dump FILE [cut|dropped|large]: writes a small dump whose contents the tests know; "cut" leaves it unfinished,
// "dropped" says that events were lost. "large" is another one: of 16,384 ranks, whose names mean harm to a page.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "analysis/store/writer.hpp"
#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/hand_made.hpp"

namespace {

// Two places of one line (an unrolled loop), one without debug information, one whose names mean harm.
std::vector<pclscope::CallSite> call_sites() {
  std::vector<pclscope::CallSite> sites(4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    sites[i].id = i + 1;
    sites[i].module = "/opt/app";
    sites[i].offset = 0x1000 + i;
  }
  for (const int i : {0, 2}) {
    sites[i].function = "Grid::exchange(int)";
    sites[i].file = "/src/halo.cpp";
    sites[i].line = 42;
    sites[i].mpi_function = 328;
  }
  sites[1].module = "/opt/libhalo.so";
  sites[1].mpi_function = 300;
  sites[3].function = sites[3].file = "\033[2Jharm,\n";
  sites[3].line = 7;
  return sites;
}

// Ranks 0-2 and 3-5 are near each other; the two groups are far apart.
pclscope::Dendrogram tree() {
  return {"free-energy", {0, 1, 2, 3, 4, 5}, {{0, 1, 0.25}, {3, 4, 0.5}, {2, 6, 0.75}, {5, 7, 1.0}, {8, 9, 3.0}}, 0.4};
}

// Three barriers at 10, 20 and 30 ms; rank 5 comes 1 ms after the others.
std::vector<pclscope::CollectiveCall> barriers() {
  std::vector<pclscope::CollectiveCall> calls;
  for (std::uint64_t operation = 0; operation < 3; ++operation) {
    for (int rank = 0; rank < 6; ++rank) {
      pclscope::CollectiveCall c;
      c.comm = 1;
      c.ordinal = operation;
      c.rank = rank;
      c.function = 26;
      c.shape = pclscope::CollectiveShape::all_to_all;
      c.begin = 10'000'000 * static_cast<std::int64_t>(operation + 1) + (rank == 5 ? 1'000'000 : 0);
      c.end = 10'000'000 * static_cast<std::int64_t>(operation + 1) + 1'001'000;
      c.awaited = rank == 5 ? -1 : 5;
      c.awaited_begin = 10'000'000 * static_cast<std::int64_t>(operation + 1) + 1'000'000;
      c.site = 3;
      calls.push_back(c);
    }
  }
  return calls;
}

// Ten windows of 10 ms with the messages inside the two regions.
std::vector<pclscope::Window> windows() {
  std::vector<pclscope::Window> windows(10);
  for (int i = 0; i < 10; ++i) {
    windows[i].begin_s = i * 0.01;
    windows[i].length_s = 0.01;
    windows[i].all = {-1, 10, 80, 1, 1, 0, 0, 2e-5, 1};
    windows[i].regions = {{1, 4, 32, 0, 1, 0, 0, 8e-6, 1}, {7, 4, 32, 1, 1.0 + i, 0, 0, 8e-6, 1}};
  }
  return windows;
}

void add_calls(pclscope::Snapshot& summary) {
  summary.site_activity = {{3, 50, 0, 400, 1, 1.5, 0, 0, 0.25},
                           {1, 50, 0, 400, 0, 0.5, 0, 0, 0},
                           {2, 0, 100, 800, 1, 0, 2.0, 0.125, 0.25},
                           {4, 1, 0, 8, 0, 0, 0, 0, 0},
                           {0, 1, 1, 8, 0, 0, 0, 0, 0}};
  summary.functions = {{300, 100, 30, 0, {0.1f, 0.9f}}, {328, 100, 7.5, 0, {0, 0.1f}}};
  summary.deadlocks.resize(1);
  summary.deadlocks[0].since_s = 2.5;
  summary.deadlocks[0].members = {{3, 300, 1, 1, 9, {4}, false, 1}, {4, 300, 2, 1, 9, {3}, false, 2.5}};
}

// 16,384 ranks in 128 regions, every rank with times of its own.
pclscope::Snapshot large() {
  pclscope::Snapshot s = pclscope::test::fake_snapshot({.ranks = 16384, .regions = 128, .slow = 2, .windows = 60});
  s.finished = true;
  s.application.command = "./app --title='</style><script>alert(1)</script>' &amp; \"x\"";
  for (pclscope::RankSummary& r : s.ranks) {
    r.threads = 1;
    r.begin_s = 0;
    r.end_s = s.duration_s;
    r.late_sender_s = s.duration_s * (r.rank % 7) / 20;
    r.transfer_s = s.duration_s / 50;
    r.mpi_s = r.late_sender_s + r.transfer_s;
    r.delay_caused_s = r.rank == 257 ? 50 * s.duration_s : 0.001 * (r.rank % 13);
  }
  s.delay_totals.waited_s = s.delay_totals.attributed_s = 60 * s.duration_s;
  s.sites[0].function = "bool Grid<double, 3>::operator< <int>(std::vector<int>&)";
  s.sites[0].line = 0;
  s.attribution.findings[0].evidence.push_back("std::map<int, Halo<double>>::at() & \"others\" wait");
  s.attribution.findings[0].gain_s = 1.5;
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  auto writer = pclscope::store::Writer::create(argv[1], {});
  if (!writer) return std::fprintf(stderr, "%s\n", writer.error().message.c_str()), 1;
  if (argc > 2 && std::strcmp(argv[2], "large") == 0) {
    const pclscope::Snapshot summary = large();
    const bool good = (*writer)->append(summary.sites) && (*writer)->summarize(summary) && (*writer)->flush();
    return good && (*writer)->close() ? 0 : 1;
  }
  std::vector<pclscope::Message> messages;
  for (int i = 0; i < 100; ++i) {
    pclscope::Message m;
    m.comm = 1;
    m.source = i % 6;
    m.destination = (i + 1) % 6;
    m.tag = i;
    m.bytes = 8;
    m.send_begin = m.send_end = 1'000'000LL * i;
    m.recv_post = m.recv_wait = m.send_begin;
    m.recv_end = m.send_begin + 2000 + (i == 50 ? 100'000 : 0);  // one of them is late: ratio 51
    m.send_site = i % 2 == 0 ? 1 : 3;
    m.recv_site = 2;
    messages.push_back(m);
  }
  pclscope::Snapshot summary = pclscope::test::eventful_snapshot();
  summary.dendrogram = tree();
  add_calls(summary);
  const bool cut = argc > 2 && std::strcmp(argv[2], "cut") == 0;
  summary.messages.dropped_events = argc > 2 && std::strcmp(argv[2], "dropped") == 0 ? 1234 : 0;
  summary.finished = !cut;
  for (const pclscope::Window& window : windows()) {
    if (!(*writer)->append(window)) return 1;
  }
  if (!(*writer)->append(barriers())) return 1;
  if (!(*writer)->append(call_sites()) || !(*writer)->append(messages) || !(*writer)->summarize(summary) ||
      !(*writer)->flush())
    return 1;
  if (cut) std::_Exit(0);
  return (*writer)->close() ? 0 : 1;
}
