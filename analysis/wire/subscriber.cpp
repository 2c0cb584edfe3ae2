#include "analysis/wire/subscriber.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "analysis/wire/curve_keys.hpp"
#include "analysis/wire/decode.hpp"
#include "analysis/wire/encode.hpp"
#include "analysis/wire/endpoint.hpp"
#include "analysis/wire/frame.hpp"
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
  Encoder encoder;
  std::uint64_t next_id = 0;
  ZmqMessage newest;  // frame of the snapshot that next() returned last

  Status open();
  Status use_keys();
  Error nobody(std::chrono::milliseconds timeout) const;
};

Status Subscriber::State::open() {
  snapshots = ZmqSocket(context, ZMQ_SUB);
  questions = ZmqSocket(context, ZMQ_DEALER);
  if (!snapshots || !questions) {
    return Error{ErrorCode::io, std::string("cannot open a socket: ") + zmq_strerror(errno)};
  }
  if (endpoint.kind == Endpoint::Kind::tcp) {
    if (const Status keyed = use_keys(); !keyed) return keyed;
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
    const bool keyed =
        socket->set(ZMQ_CURVE_SERVERKEY, keys->server_public.c_str(), keys->server_public.size() + 1) &&
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

Result<Snapshot> Subscriber::ask(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  ZmqSocket& socket = state_->questions;
  const std::uint64_t id = state_->next_id++;
  for (;;) {  // asks again while the job is there and has not published yet
    if (!wait_for(socket, ZMQ_POLLOUT, deadline) || !socket.send(state_->encoder.question_newest(id))) break;
    bool nothing_yet = false;
    while (!nothing_yet && wait_for(socket, ZMQ_POLLIN, deadline)) {
      ZmqMessage head, body;
      if (!socket.receive(head)) continue;
      const bool has_body = head.more() && socket.receive(body);
      const auto answer = decode_answer(head.bytes());
      if (has_body) socket.skip_rest(body);
      if (!answer) return answer.error();
      if (answer->id != id) continue;  // late answer to an earlier question
      if (answer->status == AnswerStatus::here && has_body) return decode_snapshot(body.bytes());
      nothing_yet = answer->status == AnswerStatus::nothing_yet;
      if (!nothing_yet)
        return Error{ErrorCode::wrong_version, "the job does not know this question: update pclscope"};
    }
    if (!nothing_yet || Clock::now() + std::chrono::milliseconds(20) >= deadline) break;
    ::usleep(20'000);
  }
  return state_->nobody(timeout);
}

Result<std::optional<Snapshot>> Subscriber::next(std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (wait_for(state_->snapshots, ZMQ_POLLIN, deadline)) {
    ZmqMessage frame;
    if (!state_->snapshots.receive(frame)) continue;
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
