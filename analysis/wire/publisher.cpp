#include "analysis/wire/publisher.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>

#include "analysis/wire/decode.hpp"
#include "analysis/wire/encode.hpp"
#include "analysis/wire/frame.hpp"
#include "analysis/wire/outlet.hpp"
#include "analysis/wire/zmq_handle.hpp"

namespace pclscope::wire {
namespace {

constexpr int questions_per_call = 64;    // so that serve() ends, whatever viewers do
constexpr std::size_t most_waiting = 16;  // questions for graphs and traffic
constexpr int rest_per_graph = 4;         // times what the last one took: then the next one
constexpr int rest_per_density = 19;      // the same, of density and single calls: they are asked for all the time

using Clock = std::chrono::steady_clock;

struct WaitingQuestion {
  Outlet* outlet = nullptr;  // where it came from
  ZmqMessage identity;
  std::uint64_t id = 0;
  QuestionKind kind = QuestionKind::dag;
  DagQuestion dag;
  DensityQuestion density;
  CallsQuestion calls;
};

// What answers at length; each may be none.
struct Handlers {
  const Publisher::DagHandler& dag;
  const Publisher::TrafficHandler& traffic;
  const Publisher::DensityHandler& density;
  const Publisher::CallsHandler& calls;
};

}  // namespace

struct Publisher::State {
  std::vector<std::unique_ptr<Outlet>> outlets;
  Encoder encoder;
  ZmqMessage last;  // the newest snapshot's frame; empty before the first
  bool has_last = false;
  std::uint64_t malformed = 0;

  bool serve_question(Outlet& outlet, const Refresh& refresh);
  void answer(Outlet& outlet, ZmqMessage& identity, std::uint64_t id, AnswerStatus status,
              const std::string& text = {});
  void enqueue(Outlet& outlet, ZmqMessage& identity, const Question& question);
  void serve_waiting(const Handlers& handlers);
  void answer_waiting(WaitingQuestion& asked, const Handlers& handlers);
  void answer_at_length(WaitingQuestion& asked, std::span<const std::uint8_t> frame, const char* too_large);

  std::deque<WaitingQuestion> waiting;
  Clock::time_point next_graph{};
};

// False when no question waits.
bool Publisher::State::serve_question(Outlet& outlet, const Refresh& refresh) {
  ZmqSocket& ask = outlet.ask;
  ZmqMessage identity, question;
  if (!ask.receive(identity)) return false;
  if (!identity.more() || !ask.receive(question)) return malformed++, true;
  const auto decoded = decode_question(question.bytes());
  if (!decoded || question.more()) {
    ask.skip_rest(question);
    return malformed++, true;
  }
  if (decoded->kind == QuestionKind::dag || decoded->kind == QuestionKind::traffic ||
      decoded->kind == QuestionKind::density || decoded->kind == QuestionKind::calls)
    return enqueue(outlet, identity, *decoded), true;
  if (refresh && decoded->kind != QuestionKind::unknown) refresh();
  AnswerStatus status = has_last ? AnswerStatus::here : AnswerStatus::nothing_yet;
  if (decoded->kind == QuestionKind::unknown) status = AnswerStatus::unknown_question;
  answer(outlet, identity, decoded->id, status);
  return true;
}

// With status here, the newest snapshot. ROUTER drops what a viewer does not fetch; the parts of a dropped message are
// dropped together.
void Publisher::State::answer(Outlet& outlet, ZmqMessage& identity, std::uint64_t id, AnswerStatus status,
                              const std::string& text) {
  ZmqSocket& ask = outlet.ask;
  ask.take_note();
  if (!ask.send_shared(identity, ZMQ_SNDMORE)) return;
  const bool more = status == AnswerStatus::here;
  if (ask.send(encoder.answer(id, status, text), more ? ZMQ_SNDMORE : 0) && more) ask.send_shared(last);
}

void Publisher::State::enqueue(Outlet& outlet, ZmqMessage& identity, const Question& question) {
  if (waiting.size() >= most_waiting) {
    return answer(outlet, identity, question.id, AnswerStatus::cannot, "too many ask at once: ask again later");
  }
  WaitingQuestion& place = waiting.emplace_back();
  place.outlet = &outlet;
  zmq_msg_move(place.identity.get(), identity.get());
  place.id = question.id;
  place.kind = question.kind;
  place.dag = question.dag;
  place.density = question.density;
  place.calls = question.calls;
}

void Publisher::State::answer_at_length(WaitingQuestion& asked, std::span<const std::uint8_t> frame,
                                        const char* too_large) {
  if (frame.size() > limit::frame_bytes)
    return answer(*asked.outlet, asked.identity, asked.id, AnswerStatus::cannot, too_large);
  ZmqSocket& ask = asked.outlet->ask;
  ask.take_note();
  if (ask.send_shared(asked.identity, ZMQ_SNDMORE) &&
      ask.send(encoder.answer(asked.id, AnswerStatus::here), ZMQ_SNDMORE))
    ask.send(frame);
}

void Publisher::State::answer_waiting(WaitingQuestion& asked, const Handlers& handlers) {
  Encoder large;  // its memory goes with it: such answers are large and rare
  const auto cannot = [&](const std::string& why) {
    answer(*asked.outlet, asked.identity, asked.id, AnswerStatus::cannot, why);
  };
  if (asked.kind == QuestionKind::traffic) {
    if (!handlers.traffic) return cannot("this job does not tell its traffic");
    answer_at_length(asked, large.traffic(handlers.traffic()), "there are too many pairs of ranks: use the dump");
  } else if (asked.kind == QuestionKind::density) {
    if (!handlers.density) return cannot("this job does not tell its calls");
    answer_at_length(asked, large.density(handlers.density(asked.density)), "there are too many calls: use the dump");
  } else if (asked.kind == QuestionKind::calls) {
    if (!handlers.calls) return cannot("this job does not tell its single calls");
    answer_at_length(asked, large.calls(handlers.calls(asked.calls)), "there are too many calls: use the dump");
  } else {
    const Result<Dag> dag =
        handlers.dag ? handlers.dag(asked.dag)
                     : Result<Dag>(Error{ErrorCode::bad_argument, "this job keeps no messages for such questions"});
    if (!dag) return cannot(dag.error().message);
    answer_at_length(asked, large.dag(*dag), "the graph is too large: ask for a shorter period");
  }
}

void Publisher::State::serve_waiting(const Handlers& handlers) {
  const Clock::time_point began = Clock::now();
  if (waiting.empty() || began < next_graph) return;
  const QuestionKind kind = waiting.front().kind;
  answer_waiting(waiting.front(), handlers);
  waiting.pop_front();
  const bool often = kind == QuestionKind::density || kind == QuestionKind::calls;
  const Clock::time_point end = Clock::now();
  next_graph = end + (often ? rest_per_density : rest_per_graph) * (end - began);
}

Publisher::Publisher(std::unique_ptr<State> state) : state_(std::move(state)) {}
Publisher::~Publisher() = default;

Result<std::unique_ptr<Publisher>> Publisher::bind(const std::string& endpoint) {
  std::unique_ptr<Publisher> publisher(new Publisher(std::make_unique<State>()));
  const auto opened = publisher->also_bind(endpoint);
  if (!opened) return opened.error();
  return publisher;
}

Result<std::string> Publisher::also_bind(const std::string& endpoint, const CurveKeys* keys) {
  const auto parsed = parse_endpoint(endpoint);
  if (!parsed) return parsed.error();
  auto outlet = std::make_unique<Outlet>();
  if (const Status opened = outlet->open(*parsed, keys); !opened) return opened.error();
  return state_->outlets.emplace_back(std::move(outlet))->endpoint();
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
  for (const auto& outlet : state_->outlets) {
    outlet->take_subscriptions();
    outlet->publish.send_shared(state_->last);
  }
}

void Publisher::serve(const DagHandler& handler, const TrafficHandler& traffic, const Refresh& refresh,
                      const DensityHandler& density, const CallsHandler& calls) {
  // All get it again; viewers pass over what they have. (ZeroMQ's welcome message would go to the new viewer alone, but
  // who connects before publish() and subscribes after it would miss that snapshot.)
  for (const auto& outlet : state_->outlets) {
    if (outlet->take_subscriptions()) {
      if (refresh) refresh();
      if (state_->has_last) outlet->publish.send_shared(state_->last);
    }
    for (int served = 0; served < questions_per_call && state_->serve_question(*outlet, refresh); served++) {}
  }
  state_->serve_waiting({handler, traffic, density, calls});
}

bool Publisher::watched() const {
  return std::any_of(state_->outlets.begin(), state_->outlets.end(), [](const auto& o) { return o->watched(); });
}

const std::string& Publisher::endpoint() const { return state_->outlets.front()->endpoint(); }
std::uint64_t Publisher::malformed() const { return state_->malformed; }

}  // namespace pclscope::wire
