#include "analysis/wire/subscriber.hpp"

#include <algorithm>
#include <random>
#include <thread>

#include "analysis/wire/decode.hpp"
#include "analysis/wire/encode.hpp"
#include "analysis/wire/frame.hpp"
#include "analysis/wire/socket_link.hpp"

namespace pclscope::wire {
namespace {

using Clock = std::chrono::steady_clock;

Error too_long() {
  return {ErrorCode::bad_argument, "the list of ranks is too long for a question: ask for a region or fewer ranks"};
}

}  // namespace

struct Subscriber::State {
  std::unique_ptr<FrameLink> link;
  Encoder encoder;
  std::uint64_t next_id = 0;
  Frame newest;  // of the snapshot that next() returned last

  // The answer to question `id`, whose frame is `question`, and what comes with it in `body`.
  Result<Answer> exchange(std::span<const std::uint8_t> question, std::uint64_t id, Frame& body,
                          std::chrono::milliseconds timeout, Clock::time_point deadline);
  // The same of an answer with content.
  Result<Frame> ask_at_length(std::span<const std::uint8_t> question, std::uint64_t id,
                              std::chrono::milliseconds timeout);
};

Subscriber::Subscriber(std::unique_ptr<FrameLink> link) : state_(std::make_unique<State>()) {
  state_->link = std::move(link);
  state_->next_id = std::random_device()();
}
Subscriber::~Subscriber() = default;

Result<std::unique_ptr<Subscriber>> Subscriber::connect(const std::string& endpoint) {
  auto link = open_sockets(endpoint);
  if (!link) return link.error();
  return std::make_unique<Subscriber>(std::move(*link));
}

std::unique_ptr<FrameLink> Subscriber::take_link() { return std::move(state_->link); }
bool Subscriber::open() const { return state_->link->open(); }
bool Subscriber::paced() const { return state_->link->paced(); }

Result<Answer> Subscriber::State::exchange(std::span<const std::uint8_t> question, std::uint64_t id, Frame& body,
                                           std::chrono::milliseconds timeout, Clock::time_point deadline) {
  if (const Status asked = link->ask(question, deadline); !asked)
    return asked.error().code == ErrorCode::unreachable ? link->nobody(timeout) : asked.error();
  for (;;) {
    auto came = link->answer(deadline);
    if (!came) return came.error();
    if (!*came) return link->nobody(timeout);
    auto answer = decode_answer((*came)->head.bytes);
    if (!answer) return answer.error();
    if (answer->id != id) continue;  // late answer to an earlier question
    body = std::move((*came)->body);
    if (answer->status == AnswerStatus::unknown_question) {
      return Error{ErrorCode::wrong_version, "the job does not know this question: update pclscope"};
    }
    if (answer->status == AnswerStatus::cannot) return Error{ErrorCode::not_found, answer->text};
    if (answer->status == AnswerStatus::here && !body) {
      return Error{ErrorCode::damaged, "an answer of the job has no content; ask again"};
    }
    return answer;
  }
}

Result<Frame> Subscriber::State::ask_at_length(std::span<const std::uint8_t> question, std::uint64_t id,
                                               std::chrono::milliseconds timeout) {
  Frame body;
  const auto answer = exchange(question, id, body, timeout, Clock::now() + timeout);
  if (!answer) return answer.error();
  if (answer->status != AnswerStatus::here)
    return Error{ErrorCode::unreachable, "the job has nothing to tell yet: ask again"};
  return body;
}

Result<std::optional<Snapshot>> Subscriber::reach(std::chrono::milliseconds timeout) {
  const std::uint64_t id = state_->next_id++;
  Frame body;
  const auto answer = state_->exchange(state_->encoder.question_newest(id), id, body, timeout, Clock::now() + timeout);
  if (!answer) return answer.error();
  if (answer->status != AnswerStatus::here) return std::optional<Snapshot>();
  auto snapshot = decode_snapshot(body.bytes);
  if (!snapshot) return snapshot.error();
  return std::optional(std::move(*snapshot));
}

Result<Snapshot> Subscriber::ask(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  const std::uint64_t id = state_->next_id++;
  for (;;) {  // asks again while the job is there and has not published yet
    Frame body;
    const auto answer = state_->exchange(state_->encoder.question_newest(id), id, body, timeout, deadline);
    if (!answer) return answer.error();
    if (answer->status == AnswerStatus::here) return decode_snapshot(body.bytes);
    if (Clock::now() + std::chrono::milliseconds(20) >= deadline) return state_->link->nobody(timeout);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Result<Dag> Subscriber::ask_dag(const DagQuestion& question, std::chrono::milliseconds timeout) {
  const std::uint64_t id = state_->next_id++;
  const auto frame = state_->encoder.question_dag(id, question);
  if (frame.size() > limit::question_bytes) return too_long();
  const auto got = state_->ask_at_length(frame, id, timeout);
  return got ? decode_dag(got->bytes) : got.error();
}

Result<std::vector<PairTraffic>> Subscriber::ask_traffic(std::chrono::milliseconds timeout) {
  const std::uint64_t id = state_->next_id++;
  const auto got = state_->ask_at_length(state_->encoder.question_traffic(id), id, timeout);
  return got ? decode_traffic(got->bytes) : got.error();
}

Result<DensityPart> Subscriber::ask_density(const DensityQuestion& question, std::chrono::milliseconds timeout) {
  const std::uint64_t id = state_->next_id++;
  const auto got = state_->ask_at_length(state_->encoder.question_density(id, question), id, timeout);
  return got ? decode_density(got->bytes) : got.error();
}

Result<CallsPart> Subscriber::ask_calls(const CallsQuestion& question, std::chrono::milliseconds timeout) {
  const std::uint64_t id = state_->next_id++;
  const auto frame = state_->encoder.question_calls(id, question);
  if (frame.size() > limit::question_bytes) return too_long();
  const auto got = state_->ask_at_length(frame, id, timeout);
  return got ? decode_calls(got->bytes) : got.error();
}

Result<std::optional<Snapshot>> Subscriber::next(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  for (;;) {
    auto frame = state_->link->snapshot(deadline);
    if (!frame) return frame.error();
    if (!*frame) return std::optional<Snapshot>();
    // Sent again because somebody else has joined.
    if (std::ranges::equal((*frame)->bytes, state_->newest.bytes)) continue;
    auto snapshot = decode_snapshot((*frame)->bytes);
    if (!snapshot) return snapshot.error();
    state_->newest = std::move(**frame);
    return std::optional<Snapshot>(std::move(*snapshot));
  }
}

}  // namespace pclscope::wire
