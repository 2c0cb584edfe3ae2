#include "analysis/wire/publisher.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>

#include "analysis/wire/acceptor.hpp"
#include "analysis/wire/curve_keys.hpp"
#include "analysis/wire/decode.hpp"
#include "analysis/wire/encode.hpp"
#include "analysis/wire/endpoint.hpp"
#include "analysis/wire/frame.hpp"
#include "analysis/wire/zmq_handle.hpp"

namespace pclscope::wire {
namespace {

constexpr int queued_per_viewer = 2;      // snapshots; a viewer that is slower loses the rest
constexpr int handshake_ms = 10'000;      // for a TCP peer to say who it is
constexpr int backlog = 1024;             // TCP connections that the system keeps until they are accepted
constexpr int linger_ms = 200;            // the last snapshot's chance to leave
constexpr int questions_per_call = 64;    // so that serve() ends, whatever viewers do
constexpr std::size_t most_waiting = 16;  // questions for graphs and traffic
constexpr int rest_per_graph = 4;         // times what the last one took: then the next one

using Clock = std::chrono::steady_clock;

struct WaitingQuestion {
  ZmqMessage identity;
  std::uint64_t id = 0;
  QuestionKind kind = QuestionKind::dag;
  DagQuestion dag;
};

// The socket files that this process has made. Removed at the end, unless another process has replaced them.
class SocketFile {
 public:
  ~SocketFile() {
    struct stat found {};
    if (!path_.empty() && ::lstat(path_.c_str(), &found) == 0 && found.st_ino == inode_) ::unlink(path_.c_str());
  }
  void own(const std::string& path) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0) return;
    path_ = path;
    inode_ = found.st_ino;
  }

 private:
  std::string path_;
  ino_t inode_ = 0;
};

Error not_bound(const std::string& address, int error) {
  if (error == EADDRINUSE) {
    return {ErrorCode::in_use, "endpoint in use: " + address + " is taken; choose another port with --publish"};
  }
  if (error == EACCES || error == EPERM) {
    return {ErrorCode::not_permitted, "cannot publish at " + address + ": " + zmq_strerror(error)};
  }
  if (error == ENODEV || error == EINVAL || error == EADDRNOTAVAIL) {
    return {ErrorCode::bad_argument,
            "cannot publish at " + address + ": not an address of this machine; use 127.0.0.1, * or one of its own"};
  }
  return {ErrorCode::io, "cannot publish at " + address + ": " + zmq_strerror(error)};
}

}  // namespace

struct Publisher::State {
  // Order matters: files go first, then the acceptor, then sockets, the context last (members are destroyed bottom up).
  ZmqContext context;
  ZmqSocket publish;
  ZmqSocket ask;
  Acceptor acceptor;  // tcp only
  SocketFile publish_file;
  SocketFile ask_file;
  Encoder encoder;
  ZmqMessage last;  // the newest snapshot's frame; empty before the first
  bool has_last = false;
  std::uint64_t malformed = 0;

  Status open(const Endpoint& endpoint);
  Status guard(ZmqSocket& socket, const CurveKeys& keys);
  Status open_ipc(ZmqSocket& socket, const std::string& address, const std::string& path, SocketFile& file);
  Status open_tcp(const Endpoint& endpoint);
  bool take_subscriptions();
  bool serve_question();
  void answer(ZmqMessage& identity, std::uint64_t id, AnswerStatus status, const std::string& text = {});
  void enqueue(ZmqMessage& identity, const Question& question);
  void serve_waiting(const DagHandler& dag, const TrafficHandler& traffic);
  void answer_at_length(WaitingQuestion& asked, std::span<const std::uint8_t> frame, const char* too_large);

  std::deque<WaitingQuestion> waiting;
  Clock::time_point next_graph{};
};

Status Publisher::State::open(const Endpoint& endpoint) {
  publish = ZmqSocket(context, ZMQ_XPUB);
  ask = ZmqSocket(context, ZMQ_ROUTER);
  if (!publish || !ask) return Error{ErrorCode::io, std::string("cannot open a socket: ") + zmq_strerror(errno)};
  for (ZmqSocket* socket : {&publish, &ask}) {
    socket->set(ZMQ_SNDHWM, queued_per_viewer);
    socket->set(ZMQ_RCVHWM, 64);
    socket->set(ZMQ_LINGER, linger_ms);
    socket->set(ZMQ_MAXMSGSIZE, static_cast<std::int64_t>(limit::question_bytes));
  }
  publish.set(ZMQ_XPUB_VERBOSE, 1);  // tell of every viewer, not only of the first
  if (endpoint.kind == Endpoint::Kind::tcp) return open_tcp(endpoint);
  const Status first = open_ipc(publish, endpoint.publish, endpoint.publish_path, publish_file);
  return first ? open_ipc(ask, endpoint.ask, endpoint.ask_path, ask_file) : first;
}

Status Publisher::State::open_ipc(ZmqSocket& socket, const std::string& address, const std::string& path,
                                  SocketFile& file) {
  const auto listening = listen_private(path);
  if (!listening) return listening.error();
  file.own(path);
  if (!socket.set(ZMQ_USE_FD, *listening) || zmq_bind(socket.get(), address.c_str()) != 0) {
    const int error = errno;
    ::close(*listening);
    return not_bound(address, error);
  }
  return {};
}

Status Publisher::State::guard(ZmqSocket& socket, const CurveKeys& keys) {
  const bool guarded = socket.set(ZMQ_CURVE_SERVER, 1) &&
                       socket.set(ZMQ_CURVE_SECRETKEY, keys.server_secret.c_str(), keys.server_secret.size() + 1) &&
                       socket.set(ZMQ_ZAP_DOMAIN, "pclscope", 8);
  if (!guarded) return Error{ErrorCode::io, "cannot encrypt the endpoint: publish over ipc:// only"};
  return {};
}

Status Publisher::State::open_tcp(const Endpoint& endpoint) {
  if (!zmq_has("curve")) {
    return Error{ErrorCode::not_permitted,
                 "endpoint " + endpoint.text + ": this libzmq has no CURVE encryption, publish over ipc:// only"};
  }
  const auto path = key_file_path();
  if (!path) return path.error();
  const auto keys = load_or_create_keys(*path);
  if (!keys) return keys.error();
  if (!acceptor.open(context, keys->client_public, publish, ask)) {
    return Error{ErrorCode::io, std::string("cannot guard the endpoint: ") + zmq_strerror(errno)};
  }
  for (ZmqSocket* socket : {&publish, &ask}) {
    if (const Status guarded = guard(*socket, *keys); !guarded) return guarded;
    socket->set(ZMQ_TCP_KEEPALIVE, 1);
    socket->set(ZMQ_HANDSHAKE_IVL, handshake_ms);
    socket->set(ZMQ_BACKLOG, backlog);
    if (endpoint.ipv6) socket->set(ZMQ_IPV6, 1);
  }
  if (zmq_bind(publish.get(), endpoint.publish.c_str()) != 0) return not_bound(endpoint.publish, errno);
  if (zmq_bind(ask.get(), endpoint.ask.c_str()) != 0) return not_bound(endpoint.ask, errno);
  return {};
}

// XPUB hands every subscription to us. True when there is a new viewer.
bool Publisher::State::take_subscriptions() {
  bool joined = false;
  ZmqMessage message;
  while (publish.receive(message)) {
    const auto bytes = message.bytes();
    joined = joined || (!bytes.empty() && bytes[0] == 1);
  }
  return joined;
}

// False when no question waits.
bool Publisher::State::serve_question() {
  ZmqMessage identity, question;
  if (!ask.receive(identity)) return false;
  if (!identity.more() || !ask.receive(question)) return malformed++, true;
  const auto decoded = decode_question(question.bytes());
  if (!decoded || question.more()) {
    ask.skip_rest(question);
    return malformed++, true;
  }
  if (decoded->kind == QuestionKind::dag || decoded->kind == QuestionKind::traffic)
    return enqueue(identity, *decoded), true;
  AnswerStatus status = has_last ? AnswerStatus::here : AnswerStatus::nothing_yet;
  if (decoded->kind == QuestionKind::unknown) status = AnswerStatus::unknown_question;
  answer(identity, decoded->id, status);
  return true;
}

// With status here, the newest snapshot. ROUTER drops what a viewer does not fetch; the parts of a dropped message are
// dropped together.
void Publisher::State::answer(ZmqMessage& identity, std::uint64_t id, AnswerStatus status, const std::string& text) {
  ask.take_note();
  if (!ask.send_shared(identity, ZMQ_SNDMORE)) return;
  const bool more = status == AnswerStatus::here;
  if (ask.send(encoder.answer(id, status, text), more ? ZMQ_SNDMORE : 0) && more) ask.send_shared(last);
}

void Publisher::State::enqueue(ZmqMessage& identity, const Question& question) {
  if (waiting.size() >= most_waiting) {
    return answer(identity, question.id, AnswerStatus::cannot, "too many ask at once: ask again later");
  }
  WaitingQuestion& place = waiting.emplace_back();
  zmq_msg_move(place.identity.get(), identity.get());
  place.id = question.id;
  place.kind = question.kind;
  place.dag = question.dag;
}

void Publisher::State::answer_at_length(WaitingQuestion& asked, std::span<const std::uint8_t> frame,
                                        const char* too_large) {
  if (frame.size() > limit::frame_bytes) return answer(asked.identity, asked.id, AnswerStatus::cannot, too_large);
  ask.take_note();
  if (ask.send_shared(asked.identity, ZMQ_SNDMORE) &&
      ask.send(encoder.answer(asked.id, AnswerStatus::here), ZMQ_SNDMORE))
    ask.send(frame);
}

void Publisher::State::serve_waiting(const DagHandler& handler, const TrafficHandler& traffic) {
  const Clock::time_point began = Clock::now();
  if (waiting.empty() || began < next_graph) return;
  WaitingQuestion& asked = waiting.front();
  Encoder large;  // its memory goes with it: such answers are large and rare
  if (asked.kind == QuestionKind::traffic) {
    if (traffic) answer_at_length(asked, large.traffic(traffic()), "there are too many pairs of ranks: use the dump");
    else answer(asked.identity, asked.id, AnswerStatus::cannot, "this job does not tell its traffic");
  } else {
    const Result<Dag> dag =
        handler ? handler(asked.dag)
                : Result<Dag>(Error{ErrorCode::bad_argument, "this job keeps no messages for such questions"});
    if (dag) answer_at_length(asked, large.dag(*dag), "the graph is too large: ask for a shorter period");
    else answer(asked.identity, asked.id, AnswerStatus::cannot, dag.error().message);
  }
  waiting.pop_front();
  next_graph = Clock::now() + rest_per_graph * (Clock::now() - began);
}

Publisher::Publisher(std::unique_ptr<State> state) : state_(std::move(state)) {}
Publisher::~Publisher() = default;

Result<std::unique_ptr<Publisher>> Publisher::bind(const std::string& endpoint) {
  const auto parsed = parse_endpoint(endpoint);
  if (!parsed) return parsed.error();
  auto state = std::make_unique<State>();
  if (const Status opened = state->open(*parsed); !opened) return opened.error();
  return std::unique_ptr<Publisher>(new Publisher(std::move(state)));
}

void Publisher::publish(const Snapshot& snapshot) {
  const auto frame = state_->encoder.snapshot(snapshot);
  if (frame.size() > limit::frame_bytes) return;  // no reader would take it
  zmq_msg_t* last = state_->last.get();
  zmq_msg_close(last);
  state_->has_last = zmq_msg_init_size(last, frame.size()) == 0;
  if (!state_->has_last) {
    zmq_msg_init(last);
    return;
  }
  std::memcpy(zmq_msg_data(last), frame.data(), frame.size());
  state_->take_subscriptions();
  state_->publish.send_shared(state_->last);
}

void Publisher::serve(const DagHandler& handler, const TrafficHandler& traffic) {
  // All get it again, who has it already ignores it. (ZeroMQ's welcome message would go to the new viewer alone, but
  // who connects before publish() and subscribes after it would miss that snapshot.)
  if (state_->take_subscriptions() && state_->has_last) state_->publish.send_shared(state_->last);
  for (int served = 0; served < questions_per_call && state_->serve_question(); served++) {}
  state_->serve_waiting(handler, traffic);
}

std::uint64_t Publisher::malformed() const { return state_->malformed; }

}  // namespace pclscope::wire
