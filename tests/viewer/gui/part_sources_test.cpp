// Of a dump that does not fit into memory the part that is looked at is read, and another one when that is looked at.
#include <catch2/catch.hpp>

#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/gui/null_frame.hpp"
#include "tests/viewer/memory_session.hpp"
#include "viewer/gui/base/logical_source.hpp"
#include "viewer/gui/base/timeline_source.hpp"

using namespace pclscope;
using session::TimeSpan;

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr int seconds = 40;

// A message and two calls each second, of which it says that they are a million messages and calls.
struct LongRun final : test::MemorySession {
  std::vector<Message> messages_made;
  int reads = 0;
  LongRun() : MemorySession({}) {
    for (int i = 0; i < seconds; ++i) {
      Message& m = messages_made.emplace_back();
      m.destination = 1;
      m.send_begin = i * second + second / 2;
      m.send_end = m.send_begin + 1000;
      m.recv_post = m.recv_wait = m.send_begin;
      m.recv_end = m.send_begin + 2000;
    }
  }
  Status messages(const TimeSpan& span, const std::function<bool(std::span<const Message>)>& visit) override {
    for (const Message& m : messages_made)
      if (span.has(m.send_begin)) visit(std::span(&m, 1));
    return {};
  }
  std::uint64_t message_count() const override { return seconds * 1'000'000ull; }
  Result<std::vector<Window>> windows() override {
    ++reads;
    std::vector<Window> list;
    for (int i = 0; i < seconds; ++i) {
      Window& w = list.emplace_back();
      w.begin_s = i;
      w.length_s = 1;
      w.all.messages = 1'000'000;
    }
    return list;
  }
  session::CallCount mpi_call_count() const override { return {true, 2 * seconds * 1'000'000ull, 0, 0}; }
  Status mpi_calls(const TimeSpan& span, const std::function<bool(std::span<const MpiCall>)>& visit) override {
    for (const Message& m : messages_made)
      for (const bool receive : {false, true}) {
        MpiCall call;
        call.rank = receive;
        call.function = 1;
        call.begin = m.send_begin;
        call.end = receive ? m.recv_end : m.send_end;
        if (call.end >= span.begin_ns && call.begin < span.end_ns) visit(std::span(&call, 1));
      }
    return {};
  }
};

struct Looking {
  LongRun run;
  gui::Scene scene = test::scene_of(test::fake_snapshot({.ranks = 2, .regions = 1, .slow = 0, .windows = 20}));
  Looking() {
    auto snapshot = std::make_shared<Snapshot>(*scene.snapshot);
    snapshot->duration_s = seconds;
    scene.snapshot = snapshot;
    scene.connection.phase = session::Phase::stored;
    scene.ask = [this](session::Feed::Work work) { work(&run, [] { return false; }); };
  }
};

TimeSpan period(int from, int to) { return {from * second, to * second}; }

template <class Source>
void check_parts(Looking& looking, Source& source) {
  source.look_at(period(30, 32));
  auto made = source.run(looking.scene);
  REQUIRE(made);
  CHECK(made->part.has(period(30, 32)));
  CHECK_FALSE(made->part.has(period(3, 5)));
  CHECK(source.words(looking.scene).find("; where another period is selected, that is read") != std::string::npos);
  const int reads = looking.run.reads;
  source.look_at(period(31, 32));  // in that part
  CHECK(source.run(looking.scene) == made);
  CHECK(looking.run.reads == reads);
  source.look_at(period(3, 5));
  made = source.run(looking.scene);
  CHECK(looking.run.reads > reads);
  CHECK(made->part.has(period(3, 5)));
  source.look_at(period(0, 39));  // more than fits: read once, from its begin on
  made = source.run(looking.scene);
  CHECK(made->part.has(period(0, 1)));
  CHECK(source.run(looking.scene) == made);
}

}  // namespace

TEST_CASE("logical time of a long dump is of the part that is looked at") {
  Looking looking;
  gui::LogicalSource source;
  check_parts(looking, source);
  CHECK(source.run(looking.scene)->events == 2 * 16);  // 16 million messages fit
}

TEST_CASE("single calls of a long dump are those of the part that is looked at, after a first piece") {
  Looking looking;
  gui::TimelineSource source;
  check_parts(looking, source);
  const auto made = source.run(looking.scene);
  CHECK_FALSE(made->more_to_come);
  CHECK(made->calls.size() == 2 * 6);  // 12 million calls are those of six million messages
  CHECK(looking.run.reads == 2 * 3);   // three parts, each after a first piece
}
