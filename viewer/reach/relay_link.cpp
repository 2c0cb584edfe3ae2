#include "viewer/reach/relay_link.hpp"

#include <algorithm>
#include <deque>

#include "viewer/reach/far_program.hpp"
#include "viewer/reach/relay_stream.hpp"
#include "viewer/text/printable.hpp"

namespace pclscope::reach {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds look{100};  // at `stop`

class RelayLink final : public wire::FrameLink {
 public:
  RelayLink(RelayCommand command, milliseconds interval) : command_(std::move(command)), interval_(interval) {}

  Status start() {
    if (const Status started = program_.start(command_.arguments); !started) return started;
    reader_ = std::make_unique<RelayReader>(program_.channel());
    writer_ = std::make_unique<RelayWriter>(program_.channel());
    return {};
  }
  Status await_job(Clock::time_point deadline, const std::atomic<bool>& stop, RelayedJob& job);

  Status ask(std::span<const std::uint8_t> question, Deadline) override {
    if (open_ && writer_->write(Part::question, question)) return {};
    open_ = false;
    return gone();
  }
  Result<std::optional<wire::AnswerFrames>> answer(Deadline deadline) override {
    const Status status = pump(deadline, [this] { return !answers_.empty(); });
    if (!answers_.empty()) {
      wire::AnswerFrames first = std::move(answers_.front());
      answers_.pop_front();
      return std::optional(std::move(first));
    }
    if (!status) return status.error();
    return std::optional<wire::AnswerFrames>();
  }
  Result<std::optional<wire::Frame>> snapshot(Deadline deadline) override {
    const Status status = pump(deadline, [this] { return newest_.has_value(); });
    if (newest_) return std::exchange(newest_, std::nullopt);
    if (!status) return status.error();
    return std::optional<wire::Frame>();
  }
  bool open() const override { return open_; }
  bool paced() const override { return true; }
  Error nobody(milliseconds waited) const override {
    return {ErrorCode::unreachable, command_.where + ": no answer within " + std::to_string(waited.count()) + " ms"};
  }

 private:
  template <class Enough>
  Status pump(Deadline deadline, Enough enough);
  void take(RelayMessage message);
  void take_answer(const std::vector<std::uint8_t>& bytes);
  Error gone() const {
    return {ErrorCode::unreachable,
            command_.where + ": " + (complaint_.empty() ? "the connection is lost" : complaint_)};
  }
  Error failed(const Error& error);

  RelayCommand command_;
  milliseconds interval_;
  FarProgram program_;
  std::unique_ptr<RelayReader> reader_;
  std::unique_ptr<RelayWriter> writer_;
  std::deque<wire::AnswerFrames> answers_;
  std::optional<wire::Frame> newest_;
  std::string complaint_, job_, node_;
  Clock::time_point next_sign_{};
  bool open_ = true;
};

wire::Frame frame_of(std::vector<std::uint8_t> bytes) {
  const auto owner = std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes));
  return {owner, *owner};
}

void RelayLink::take_answer(const std::vector<std::uint8_t>& bytes) {
  if (bytes.size() < count_bytes) return;
  const std::size_t size = get_number(bytes.data());
  if (size > bytes.size() - count_bytes) return;
  const auto head = bytes.begin() + count_bytes, body = head + static_cast<std::ptrdiff_t>(size);
  wire::AnswerFrames answer{frame_of({head, body}), {}};
  if (body != bytes.end()) answer.body = frame_of({body, bytes.end()});
  answers_.push_back(std::move(answer));
}

void RelayLink::take(RelayMessage message) {
  const std::string_view said(reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size());
  switch (message.part) {
    case Part::snapshot: newest_ = frame_of(std::move(message.bytes)); break;
    case Part::answer: take_answer(message.bytes); break;
    case Part::job:
      job_ = text::printable(said.substr(0, said.find('\n')));
      node_ = said.find('\n') == said.npos ? "" : text::printable(said.substr(said.find('\n') + 1));
      break;
    case Part::complaint: complaint_ = text::printable(said); break;
    default: break;  // a sign of life, or something newer than we are
  }
}

template <class Enough>
Status RelayLink::pump(Deadline deadline, Enough enough) {
  while (open_) {
    const auto now = Clock::now();
    if (now >= next_sign_) {
      next_sign_ = now + sign_every;
      if (!writer_->write(Part::sign, {})) open_ = false;
    }
    // What is there already, then as long as we may.
    auto message = reader_->read(enough() ? now : std::min(deadline, next_sign_));
    if (!message) {
      open_ = false;
      if (message.error().code != ErrorCode::unreachable) complaint_ = message.error().message;
      break;
    }
    if (*message) {
      take(std::move(**message));
      continue;
    }
    if (!job_.empty() && Clock::now() - reader_->heard() > longest_silence) open_ = false;
    if (enough() || Clock::now() >= deadline) return {};
  }
  return gone();
}

Error RelayLink::failed(const Error& error) {
  if (error.code == ErrorCode::wrong_version) return {error.code, command_.where + ": " + error.message};
  const std::string said = complaint_.empty() ? advice(last_line(program_.last_words()), command_.host) : complaint_;
  return {complaint_.empty() ? error.code : ErrorCode::not_found,
          command_.where + ": " + (said.empty() ? error.message : said)};
}

Status RelayLink::await_job(Clock::time_point deadline, const std::atomic<bool>& stop, RelayedJob& job) {
  Status greeted;
  do {
    greeted = reader_->greet(std::min(deadline, Clock::now() + look));
  } while (!greeted && greeted.error().message == "no answer in time" && Clock::now() < deadline && !stop);
  if (!greeted) return failed(greeted.error());
  std::uint8_t bytes[count_bytes];
  put_number(bytes, static_cast<std::size_t>(interval_.count()));
  writer_->write(Part::interval, bytes);
  while (open_ && job_.empty() && complaint_.empty() && Clock::now() < deadline && !stop)
    (void)pump(std::min(deadline, Clock::now() + look), [this] { return !job_.empty() || !complaint_.empty(); });
  if (job_.empty()) return failed({ErrorCode::unreachable, open_ ? "no answer in time" : "the relay has ended"});
  job.job = job_;
  job.node = node_;
  return {};
}

}  // namespace

Result<RelayedJob> open_relay(const RelayCommand& command, milliseconds patience, milliseconds interval,
                              const std::atomic<bool>& stop) {
  auto link = std::make_unique<RelayLink>(command, interval);
  if (const Status started = link->start(); !started) return started.error();
  RelayedJob job;
  if (const Status there = link->await_job(Clock::now() + patience, stop, job); !there) return there.error();
  job.link = std::move(link);
  return job;
}

}  // namespace pclscope::reach
