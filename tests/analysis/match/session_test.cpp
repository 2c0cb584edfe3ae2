// Sessions (FORMAT.md): a rank's first events are the totals of what it did before, however much that was.
#include <catch2/catch.hpp>
#include <span>
#include <vector>

#include "analysis/match/matcher.hpp"
#include "tests/analysis/match/streams.hpp"

using namespace pclscope;
using record::EventKind;
using test::Stream;
namespace flag = record::flag;

namespace {

// What a rank begins with that has sent and received `before` messages, all with rank `peer`.
Stream late(std::uint64_t before, EventKind totals, int peer) {
  Stream s;
  s.other(EventKind::lost, 0, record::unknown_rank, 0, flag::summarised);
  s.other(EventKind::lost_number).events.back().bytes = before;
  s.other(EventKind::lost_number, 0, 0, 0, flag::of_receives).events.back().bytes = before;
  record::Event& e = s.other(totals, 0, peer).events.back();
  e.begin = e.end = e.bytes = before;
  return s;
}

}  // namespace

TEST_CASE("a session that begins after millions of messages is exact, however its first events are read") {
  constexpr std::uint64_t before = 5'000'000;
  std::vector<Stream> streams = {late(before, EventKind::unrecorded_sends, 1),
                                 late(before, EventKind::unrecorded_receives, 0)};
  for (std::uint64_t k = 0; k < 3; ++k) {
    streams[0].other(EventKind::send, before + k, 1);
    streams[1].other(EventKind::recv_done, before + k, 0);
  }
  std::vector<Message> messages;
  Matcher matcher(2, [&](std::span<const Message> m) { messages.insert(messages.end(), m.begin(), m.end()); });
  const std::size_t first = GENERATE(0, 1, 2, 3, 4);  // events read when the header is seen
  const bool seen = GENERATE(false, true);
  for (const int rank : {0, 1}) {
    matcher.note_muted(rank, seen);
    matcher.add(rank, 0, std::span(streams[rank].events).first(first));
  }
  matcher.end_round();
  for (std::size_t i = first; i < 4; ++i) {
    for (const int rank : {0, 1}) matcher.add(rank, 0, std::span(streams[rank].events).subspan(i, 1));
    matcher.end_round();
  }
  for (const int rank : {0, 1}) {
    matcher.note_muted(rank, false);
    matcher.add(rank, 0, std::span(streams[rank].events).subspan(4));
  }
  matcher.end_round();
  matcher.finish();
  CHECK(matcher.counts().matched == 3);
  CHECK(matcher.counts().ambiguous == 0);
  CHECK(messages.size() == 3);
}
