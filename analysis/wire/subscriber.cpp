#include "analysis/wire/subscriber.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <span>

#include "analysis/wire/curve_keys.hpp"
#include "analysis/wire/decode.hpp"
#include "analysis/wire/encode.hpp"
#include "analysis/wire/endpoint.hpp"
#include "analysis/wire/frame.hpp"
#include "analysis/wire/peer_check.hpp"
#include "analysis/wire/zmq_handle.hpp"

namespace pclscope::wire {
namespace {

using Clock = std::chrono::steady_clock;

// Waits until the socket can do `what` or the time is over.
bool wait_for(ZmqSocket& socket, short what, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    zmq_pollitem_t item{socket.get(), 0, what, 0};
    const int ready = zmq_poll(&item, 1, left > 0 ? static_cast<long>(left) : 0);
    if (ready > 0) return true;
    if (ready == 0 && left <= 0) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

}  // namespace

struct Subscriber::State {
  Endpoint endpoint;
  std::string key_file;  // tcp only
  ZmqContext context;
  ZmqSocket snapshots;
  ZmqSocket questions;
  PeerCheck publisher_check, answerer_check;  // ipc only
  Encoder encoder;
  std::uint64_t next_id = 0;
  ZmqMessage newest;  // frame of the snapshot that next() returned last

  Status open();
  Status use_keys();
  // The answer to question `id`, whose frame is `question`, and what comes with it in `body`.
  Result<Answer> exchange(std::span<const std::uint8_t> question, std::uint64_t id, ZmqMessage& body, bool& has_body,
                          std::chrono::milliseconds timeout, Clock::time_point deadline);
  // The same of an answer with content.
  Status ask_at_length(std::span<const std::uint8_t> question, std::uint64_t id, ZmqMessage& body,
                       std::chrono::milliseconds timeout);
  Error nobody(std::chrono::milliseconds timeout) const;
  Error somebody_else() const;
};

Status Subscriber::State::open() {
  snapshots = ZmqSocket(context, ZMQ_SUB);
  questions = ZmqSocket(context, ZMQ_DEALER);
  if (!snapshots || !questions) {
    return Error{ErrorCode::io, std::string("cannot open a socket: ") + zmq_strerror(errno)};
  }
  if (endpoint.kind == Endpoint::Kind::tcp) {
    if (const Status keyed = use_keys(); !keyed) return keyed;
  } else if (!publisher_check.open(context, snapshots, "snapshots") ||
             !answerer_check.open(context, questions, "questions")) {
    return Error{ErrorCode::io, std::string("cannot open a socket: ") + zmq_strerror(errno)};
  }
  for (ZmqSocket* socket : {&snapshots, &questions}) {
    socket->set(ZMQ_LINGER, 0);
    socket->set(ZMQ_MAXMSGSIZE, static_cast<std::int64_t>(limit::frame_bytes + header_bytes));
    socket->set(ZMQ_RECONNECT_IVL, 20);
    socket->set(ZMQ_RECONNECT_IVL_MAX, 500);
    socket->set(ZMQ_RCVHWM, 4);
    if (endpoint.ipv6) socket->set(ZMQ_IPV6, 1);
  }
  snapshots.set(ZMQ_CONFLATE, 1);  // only the newest snapshot waits for us
  snapshots.set(ZMQ_SUBSCRIBE, "", 0);
  questions.set(ZMQ_IMMEDIATE, 1);  // a question goes to somebody who is there, or not at all
  const bool connected = zmq_connect(snapshots.get(), endpoint.publish.c_str()) == 0 &&
                         zmq_connect(questions.get(), endpoint.ask.c_str()) == 0;
  if (connected) return {};
  return Error{ErrorCode::bad_argument, "endpoint " + endpoint.text + ": " + zmq_strerror(errno)};
}

Status Subscriber::State::use_keys() {
  const auto path = key_file_path();
  if (!path) return path.error();
  key_file = *path;
  const auto keys = load_keys(key_file);
  if (!keys) return keys.error();
  for (ZmqSocket* socket : {&snapshots, &questions}) {
    const bool keyed = socket->set(ZMQ_CURVE_SERVERKEY, keys->server_public.c_str(), keys->server_public.size() + 1) &&
                       socket->set(ZMQ_CURVE_PUBLICKEY, keys->client_public.c_str(), keys->client_public.size() + 1) &&
                       socket->set(ZMQ_CURVE_SECRETKEY, keys->client_secret.c_str(), keys->client_secret.size() + 1);
    if (!keyed) return Error{ErrorCode::not_permitted, "this libzmq has no CURVE encryption: use ipc:// endpoints"};
  }
  return {};
}

Error Subscriber::State::nobody(std::chrono::milliseconds timeout) const {
  std::string text = "nobody answers at " + endpoint.text + " within " + std::to_string(timeout.count()) +
                     " ms: is the job still running?";
  if (!key_file.empty()) text += " and is " + key_file + " the same file as there?";
  return {ErrorCode::unreachable, text};
}

Error Subscriber::State::somebody_else() const {
  return {ErrorCode::not_permitted, "at " + endpoint.text +
                                        " another user answers, or somebody who left at once: nothing of it is " +
                                        "believed; publish in a directory where only you can make files"};
}

Subscriber::Subscriber(std::unique_ptr<State> state) : state_(std::move(state)) {}
Subscriber::~Subscriber() = default;

Result<std::unique_ptr<Subscriber>> Subscriber::connect(const std::string& endpoint) {
  auto parsed = parse_endpoint(endpoint);
  if (!parsed) return parsed.error();
  auto state = std::make_unique<State>();
  state->endpoint = *parsed;
  state->next_id = std::random_device()();
  if (const Status opened = state->open(); !opened) return opened.error();
  return std::unique_ptr<Subscriber>(new Subscriber(std::move(state)));
}

Result<Answer> Subscriber::State::exchange(std::span<const std::uint8_t> question, std::uint64_t id, ZmqMessage& body,
                                           bool& has_body, std::chrono::milliseconds timeout,
                                           Clock::time_point deadline) {
  if (!wait_for(questions, ZMQ_POLLOUT, deadline)) return nobody(timeout);
  if (!answerer_check.only_ourselves()) return somebody_else();
  if (!questions.send(question)) return nobody(timeout);
  while (wait_for(questions, ZMQ_POLLIN, deadline)) {
    ZmqMessage head;
    if (!questions.receive(head)) continue;
    if (!answerer_check.only_ourselves()) return somebody_else();
    has_body = head.more() && questions.receive(body);
    if (has_body) questions.skip_rest(body);
    auto answer = decode_answer(head.bytes());
    if (!answer) return answer.error();
    if (answer->id != id) continue;  // late answer to an earlier question
    if (answer->status == AnswerStatus::unknown_question) {
      return Error{ErrorCode::wrong_version, "the job does not know this question: update pclscope"};
    }
    if (answer->status == AnswerStatus::cannot) return Error{ErrorCode::not_found, answer->text};
    if (answer->status == AnswerStatus::here && !has_body) {
      return Error{ErrorCode::damaged, "an answer of the job has no content; ask again"};
    }
    return answer;
  }
  return nobody(timeout);
}

Status Subscriber::State::ask_at_length(std::span<const std::uint8_t> question, std::uint64_t id, ZmqMessage& body,
                                        std::chrono::milliseconds timeout) {
  bool has_body = false;
  const auto answer = exchange(question, id, body, has_body, timeout, Clock::now() + timeout);
  if (!answer) return answer.error();
  if (answer->status != AnswerStatus::here)
    return Error{ErrorCode::unreachable, "the job has nothing to tell yet: ask again"};
  return {};
}

Result<Snapshot> Subscriber::ask(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  const std::uint64_t id = state_->next_id++;
  for (;;) {  // asks again while the job is there and has not published yet
    ZmqMessage body;
    bool has_body = false;
    const auto answer = state_->exchange(state_->encoder.question_newest(id), id, body, has_body, timeout, deadline);
    if (!answer) return answer.error();
    if (answer->status == AnswerStatus::here) return decode_snapshot(body.bytes());
    if (Clock::now() + std::chrono::milliseconds(20) >= deadline) return state_->nobody(timeout);
    ::usleep(20'000);
  }
}

Result<Dag> Subscriber::ask_dag(const DagQuestion& question, std::chrono::milliseconds timeout) {
  const std::uint64_t id = state_->next_id++;
  const auto frame = state_->encoder.question_dag(id, question);
  if (frame.size() > limit::question_bytes) {
    return Error{ErrorCode::bad_argument,
                 "the list of ranks is too long for a question: ask for a region or fewer ranks"};
  }
  ZmqMessage body;
  const Status got = state_->ask_at_length(frame, id, body, timeout);
  return got ? decode_dag(body.bytes()) : got.error();
}

Result<std::vector<PairTraffic>> Subscriber::ask_traffic(std::chrono::milliseconds timeout) {
  const std::uint64_t id = state_->next_id++;
  ZmqMessage body;
  const Status got = state_->ask_at_length(state_->encoder.question_traffic(id), id, body, timeout);
  return got ? decode_traffic(body.bytes()) : got.error();
}

Result<std::optional<Snapshot>> Subscriber::next(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (wait_for(state_->snapshots, ZMQ_POLLIN, deadline)) {
    ZmqMessage frame;
    if (!state_->snapshots.receive(frame)) continue;
    if (!state_->publisher_check.only_ourselves()) return state_->somebody_else();
    // Sent again because somebody else has joined.
    const auto now = frame.bytes(), before = state_->newest.bytes();
    if (now.size() == before.size() && std::equal(now.begin(), now.end(), before.begin())) continue;
    auto snapshot = decode_snapshot(now);
    if (!snapshot) return snapshot.error();
    zmq_msg_move(state_->newest.get(), frame.get());
    return std::optional<Snapshot>(std::move(*snapshot));
  }
  return std::optional<Snapshot>();
}

}  // namespace pclscope::wire
