#include "viewer/reach/relay_server.hpp"

#include <algorithm>
#include <vector>

#include "viewer/reach/relay_stream.hpp"

namespace pclscope::reach {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds turn{20};
constexpr milliseconds shortest_interval{50}, longest_interval{60'000};
constexpr milliseconds between_looks{200};          // whether the job has gone
constexpr milliseconds patience_with_job{2000};     // to take a question
constexpr std::chrono::seconds last_news{2};        // a job that has gone may have said something before
constexpr std::chrono::seconds longest_quiet{120};  // of the viewer, who gives signs of life: it sleeps, or is gone

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

class Relay {
 public:
  Relay(int input, int output, RelayedRun run) : run_(std::move(run)), reader_(input), writer_(output) {}

  int serve() {
    if (!writer_.write(Part::job, bytes_of(run_.job + "\n" + run_.node))) return 0;
    while (!over_) {
      listen();
      if (!over_) pass_answers();
      if (!over_) pass_snapshot();
      if (!over_) look_after();
    }
    return lost_ ? 1 : 0;
  }

 private:
  void listen() {
    auto message = reader_.read(Clock::now() + turn);
    if (!message) return end();  // the viewer has gone
    if (Clock::now() - reader_.heard() > longest_quiet) return end();
    if (!*message) return;
    const std::vector<std::uint8_t>& bytes = (*message)->bytes;
    if ((*message)->part == Part::question) (void)run_.link->ask(bytes, Clock::now() + patience_with_job);
    if ((*message)->part == Part::interval && bytes.size() == count_bytes)
      interval_ = std::clamp(milliseconds(get_number(bytes.data())), shortest_interval, longest_interval);
  }

  void pass_answers() {
    for (;;) {
      auto answer = run_.link->answer(Clock::now());
      if (!answer) return fail(answer.error().message);
      if (!*answer) return;
      const auto head = (*answer)->head.bytes;
      std::vector<std::uint8_t> all(count_bytes);
      put_number(all.data(), head.size());
      all.insert(all.end(), head.begin(), head.end());
      const auto body = (*answer)->body.bytes;
      all.insert(all.end(), body.begin(), body.end());
      if (!writer_.write(Part::answer, all)) return end();
    }
  }

  // Only the newest is kept; a line that is slow gets fewer of them.
  void pass_snapshot() {
    const auto now = Clock::now();
    auto frame = run_.link->snapshot(now);
    if (!frame) return fail(frame.error().message);
    if (*frame) held_ = std::move(**frame);
    if (held_ && now >= next_snapshot_) send_held();
  }

  void send_held() {
    const std::uint64_t before = writer_.bytes_written();
    const bool sent = writer_.write(Part::snapshot, held_.bytes);
    held_ = {};
    if (!sent) return end();
    next_snapshot_ = Clock::now() + std::max(interval_, pause_after(writer_.bytes_written() - before));
  }

  void look_after() {
    const auto now = Clock::now();
    if (now < next_look_) return;
    next_look_ = now + between_looks;
    if (now >= next_sign_) {
      next_sign_ = now + sign_every;
      if (!writer_.write(Part::sign, {})) return end();
    }
    const std::string why = run_.why_over ? run_.why_over() : "";
    if (why.empty()) {
      gone_since_ = {};
    } else if (gone_since_ == Clock::time_point{}) {
      gone_since_ = now;
      next_snapshot_ = now;
    } else if (now - gone_since_ > last_news) {
      fail(why);
    }
  }

  // The last news go first: they may say that the job has finished.
  void fail(const std::string& why) {
    if (auto frame = run_.link->snapshot(Clock::now()); frame && *frame) held_ = std::move(**frame);
    if (held_) send_held();
    if (over_) return;
    writer_.write(Part::complaint, bytes_of(why));
    lost_ = true;
    end();
  }
  void end() { over_ = true; }

  RelayedRun run_;
  wire::Frame held_;  // not sent yet
  RelayReader reader_;
  RelayWriter writer_;
  milliseconds interval_{1000};
  Clock::time_point next_snapshot_{}, next_look_{}, next_sign_{}, gone_since_{};
  bool over_ = false, lost_ = false;
};

}  // namespace

int serve_relay(int input, int output, RelayedRun run) { return Relay(input, output, std::move(run)).serve(); }

}  // namespace pclscope::reach
