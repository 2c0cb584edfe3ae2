// Messages say whether another one would have ended their receive's call as well.
#include <catch2/catch.hpp>
#include <vector>

#include "analysis/match/matcher.hpp"
#include "interpose/record/functions.hpp"
#include "tests/analysis/match/streams.hpp"

using namespace pclscope;
using namespace pclscope::test;
using record::any_source;
using record::any_tag;
using record::Function;
namespace flag = record::flag;

namespace {

std::vector<Message> messages_of(Stream& sender, Stream& receiver) {
  std::vector<Message> messages;
  Matcher matcher(2,
                  [&](std::span<const Message> batch) { messages.insert(messages.end(), batch.begin(), batch.end()); });
  matcher.add(0, 0, sender.events);
  matcher.add(1, 0, receiver.events);
  matcher.finish();
  CHECK(matcher.counts().matched == messages.size());
  return messages;
}

}  // namespace

TEST_CASE("first_come: any source by itself, Waitany and Waitsome; not Waitall, not any tag") {
  struct {
    int source, tag;
    Function by;
    bool expected;
  } const receives[] = {
      {any_source, 1, Function::Wait, true},     {any_source, any_tag, Function::Test, true},
      {any_source, 1, Function::Waitall, false}, {0, 1, Function::Wait, false},
      {0, any_tag, Function::Wait, false},       {0, 1, Function::Waitall, false},
      {0, 1, Function::Waitany, true},           {0, any_tag, Function::Waitsome, true},
      {any_source, 1, Function::Waitany, true},
  };
  Stream sender, receiver;
  for (const auto& r : receives) {
    sender.send(1, 1);
    receiver.post(r.source, r.tag).done(receiver.last, 0, 1);
    receiver.events.back().function = static_cast<std::uint16_t>(r.by);
  }
  // Blocking ones are resolved: the recorder says it.
  sender.send(1, 1).send(1, 1).send(1, 1);
  receiver.receive(0, 1, flag::first_come)
      .receive(0, 1)
      .receive(0, 1, flag::first_come | flag::truncated | flag::failed);
  const std::vector<Message> messages = messages_of(sender, receiver);
  REQUIRE(messages.size() == std::size(receives) + 3);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    CAPTURE(i);
    const std::size_t blocking = i < std::size(receives) ? 0 : i - std::size(receives);
    const bool expected = i < std::size(receives) ? receives[i].expected : blocking != 1;
    CHECK(((messages[i].flags & flag::first_come) != 0) == expected);
    CHECK(((messages[i].flags & flag::truncated) != 0) == (blocking == 2));
  }
}
