// make_dump FILE [cut]: writes a small dump whose contents the tests know; "cut" leaves it unfinished.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "analysis/store/writer.hpp"
#include "tests/viewer/hand_made.hpp"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  auto writer = pclscope::store::Writer::create(argv[1], {});
  if (!writer) return std::fprintf(stderr, "%s\n", writer.error().message.c_str()), 1;
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
    messages.push_back(m);
  }
  pclscope::Snapshot summary = pclscope::test::hand_made_snapshot();
  const bool cut = argc > 2 && std::strcmp(argv[2], "cut") == 0;
  summary.finished = !cut;
  if (!(*writer)->append(messages) || !(*writer)->summarize(summary) || !(*writer)->flush()) return 1;
  if (cut) std::_Exit(0);
  return (*writer)->close() ? 0 : 1;
}
