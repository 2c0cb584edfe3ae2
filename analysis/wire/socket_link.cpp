#include "analysis/wire/socket_link.hpp"

#include <cerrno>

#include "analysis/wire/curve_keys.hpp"
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

Frame frame_of(const std::shared_ptr<ZmqMessage>& message) { return {message, message->bytes()}; }

class SocketLink final : public FrameLink {
 public:
  explicit SocketLink(Endpoint endpoint) : endpoint_(std::move(endpoint)) {}
  Status open_all();

  Status ask(std::span<const std::uint8_t> question, Deadline deadline) override;
  Result<std::optional<AnswerFrames>> answer(Deadline deadline) override;
  Result<std::optional<Frame>> snapshot(Deadline deadline) override;
  Error nobody(std::chrono::milliseconds waited) const override;

 private:
  Status use_keys();
  Error somebody_else() const;

  Endpoint endpoint_;
  std::string key_file_;  // tcp only
  ZmqContext context_;
  ZmqSocket snapshots_;
  ZmqSocket questions_;
  PeerCheck publisher_check_, answerer_check_;  // ipc only
};

Status SocketLink::open_all() {
  snapshots_ = ZmqSocket(context_, ZMQ_SUB);
  questions_ = ZmqSocket(context_, ZMQ_DEALER);
  if (!snapshots_ || !questions_) {
    return Error{ErrorCode::io, std::string("cannot open a socket: ") + zmq_strerror(errno)};
  }
  if (endpoint_.kind == Endpoint::Kind::tcp) {
    if (const Status keyed = use_keys(); !keyed) return keyed;
  } else if (!publisher_check_.open(context_, snapshots_, "snapshots") ||
             !answerer_check_.open(context_, questions_, "questions")) {
    return Error{ErrorCode::io, std::string("cannot open a socket: ") + zmq_strerror(errno)};
  }
  for (ZmqSocket* socket : {&snapshots_, &questions_}) {
    socket->set(ZMQ_LINGER, 0);
    socket->set(ZMQ_MAXMSGSIZE, static_cast<std::int64_t>(limit::frame_bytes + header_bytes));
    socket->set(ZMQ_RECONNECT_IVL, 20);
    socket->set(ZMQ_RECONNECT_IVL_MAX, 500);
    socket->set(ZMQ_RCVHWM, 4);
    if (endpoint_.ipv6) socket->set(ZMQ_IPV6, 1);
  }
  snapshots_.set(ZMQ_CONFLATE, 1);  // only the newest snapshot waits for us
  snapshots_.set(ZMQ_SUBSCRIBE, "", 0);
  questions_.set(ZMQ_IMMEDIATE, 1);  // a question goes to somebody who is there, or not at all
  const bool connected = zmq_connect(snapshots_.get(), endpoint_.publish.c_str()) == 0 &&
                         zmq_connect(questions_.get(), endpoint_.ask.c_str()) == 0;
  if (connected) return {};
  return Error{ErrorCode::bad_argument, "endpoint " + endpoint_.text + ": " + zmq_strerror(errno)};
}

Status SocketLink::use_keys() {
  const auto path = key_file_path();
  if (!path) return path.error();
  key_file_ = *path;
  const auto keys = load_keys(key_file_);
  if (!keys) return keys.error();
  for (ZmqSocket* socket : {&snapshots_, &questions_}) {
    const bool keyed = socket->set(ZMQ_CURVE_SERVERKEY, keys->server_public.c_str(), keys->server_public.size() + 1) &&
                       socket->set(ZMQ_CURVE_PUBLICKEY, keys->client_public.c_str(), keys->client_public.size() + 1) &&
                       socket->set(ZMQ_CURVE_SECRETKEY, keys->client_secret.c_str(), keys->client_secret.size() + 1);
    if (!keyed) return Error{ErrorCode::not_permitted, "this libzmq has no CURVE encryption: use ipc:// endpoints"};
  }
  return {};
}

Error SocketLink::nobody(std::chrono::milliseconds waited) const {
  std::string text = "nobody answers at " + endpoint_.text + " within " + std::to_string(waited.count()) +
                     " ms: is the job still running?";
  if (!key_file_.empty()) text += " and is " + key_file_ + " the same file as there?";
  return {ErrorCode::unreachable, text};
}

Error SocketLink::somebody_else() const {
  return {ErrorCode::not_permitted, "at " + endpoint_.text +
                                        " another user answers, or somebody who left at once: nothing of it is " +
                                        "believed; publish in a directory where only you can make files"};
}

Status SocketLink::ask(std::span<const std::uint8_t> question, Deadline deadline) {
  const bool there = wait_for(questions_, ZMQ_POLLOUT, deadline);
  if (there && !answerer_check_.only_ourselves()) return somebody_else();
  if (there && questions_.send(question)) return {};
  return Error{ErrorCode::unreachable, "nobody is there"};
}

Result<std::optional<AnswerFrames>> SocketLink::answer(Deadline deadline) {
  while (wait_for(questions_, ZMQ_POLLIN, deadline)) {
    const auto head = std::make_shared<ZmqMessage>(), body = std::make_shared<ZmqMessage>();
    if (!questions_.receive(*head)) continue;
    if (!answerer_check_.only_ourselves()) return somebody_else();
    AnswerFrames answer{frame_of(head), {}};
    if (head->more() && questions_.receive(*body)) {
      answer.body = frame_of(body);
      questions_.skip_rest(*body);
    }
    return std::optional(std::move(answer));
  }
  return std::optional<AnswerFrames>();
}

Result<std::optional<Frame>> SocketLink::snapshot(Deadline deadline) {
  while (wait_for(snapshots_, ZMQ_POLLIN, deadline)) {
    const auto frame = std::make_shared<ZmqMessage>();
    if (!snapshots_.receive(*frame)) continue;
    if (!publisher_check_.only_ourselves()) return somebody_else();
    return std::optional(frame_of(frame));
  }
  return std::optional<Frame>();
}

}  // namespace

Result<std::unique_ptr<FrameLink>> open_sockets(const std::string& endpoint) {
  auto parsed = parse_endpoint(endpoint);
  if (!parsed) return parsed.error();
  if (parsed->kind == Endpoint::Kind::tcp && parsed->port == 0)
    return Error{ErrorCode::bad_argument, "endpoint " + endpoint + ": port 0 is for jobs; name the one that it got"};
  auto link = std::make_unique<SocketLink>(std::move(*parsed));
  if (const Status opened = link->open_all(); !opened) return opened.error();
  return std::unique_ptr<FrameLink>(std::move(link));
}

}  // namespace pclscope::wire
