#include "analysis/aggregator/relay.hpp"

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "analysis/aggregator/resting.hpp"

namespace pclscope::aggregator {
namespace {

// Nobody wakes us when a message comes by MPI: look for it, ever more seldom while nothing happens.
constexpr std::int64_t shortest_rest_ns = 50'000;
constexpr std::int64_t longest_rest_ns = 2'000'000;  // while an epoch waits for others
constexpr std::int64_t idle_rest_ns = 4'000'000;
constexpr std::size_t most_unsent =
    64 << 20;  // bytes: a worker that does not read holds up its senders, not our memory
constexpr int frames_per_turn = 256;

}  // namespace

Relay::Relay(MPI_Comm tools, FrameSocket& socket, std::uint64_t origin_ticks, int per_host, bool clocks)
    : socket_(socket),
      exchange_(
          tools,
          [this](int node, std::vector<std::byte> bytes) {
            if (worker_) socket_.queue(FrameKind::message, node, std::move(bytes));
          },
          [this](const RelayWord& reduced, const std::vector<int>& died) { told(reduced, died); }),
      delay_ns_(shortest_rest_ns) {
  MPI_Comm_dup(tools, &ends_);
  MPI_Comm_set_errhandler(ends_, MPI_ERRORS_RETURN);
  socket_.queue_value(FrameKind::hello, HelloFrame{exchange_.self(), exchange_.nodes(), origin_ticks});
  socket_.flush();
  if (!clocks || exchange_.nodes() == per_host) return;
  // Of each machine one measures: the others' clock is the same.
  MPI_Comm_split(tools, exchange_.self() % per_host == 0 ? 0 : MPI_UNDEFINED, exchange_.self(), &clocks_);
  if (clocks_ == MPI_COMM_NULL) return;
  MPI_Comm_set_errhandler(clocks_, MPI_ERRORS_RETURN);
  clock_ = std::make_unique<ClockSync>(clocks_, [this](nodes::ClockUpdate news) {
    if (on_clock) on_clock(news);
    tell_clock(news);
  });
}

void Relay::tell_clock(const nodes::ClockUpdate& news) {
  if (worker_) socket_.queue_value(FrameKind::clock_news, news);
}

Relay::~Relay() {
  end();
  clock_.reset();
  if (exchange_.failed()) return;
  for (MPI_Comm* comm : {&ends_, &clocks_})
    if (*comm != MPI_COMM_NULL) MPI_Comm_free(comm);
}

bool Relay::turn() {
  const Polling polling(clock_ && clock_->in_burst());
  test_barrier();
  bool moved = socket_.flush();
  if (over_) return moved;
  moved |= read_worker();
  if (worker_ && socket_.closed()) give_up_worker();
  if (!worker_ && !exchange_.ended()) end_neutral_epoch();
  moved |= exchange_.turn(socket_.unsent() < most_unsent);
  if (exchange_.failed()) {
    socket_.queue(FrameKind::lost);
    end();
  }
  moved |= socket_.flush();
  if (moved) delay_ns_ = shortest_rest_ns;
  return (!over_ && clock_ && clock_->poll()) || moved;
}

// Messages behind the end of an epoch belong to the next one: they stay in the socket until this one is over.
bool Relay::reading() const { return worker_ && !exchange_.ended() && exchange_.room(); }

bool Relay::read_worker() {
  Frame frame;
  int taken = 0;
  while (taken < frames_per_turn && reading() && socket_.next(frame)) {
    take(std::move(frame));
    ++taken;
  }
  return taken > 0;
}

void Relay::take(Frame frame) {
  switch (frame.kind) {
    case FrameKind::message: exchange_.send(frame.node, std::move(frame.bytes)); break;
    case FrameKind::end_epoch: {
      const auto said = frame.as<nodes::EpochWord>();
      RelayWord word;
      word.read_until_ns = said.read_until_ns;
      word.open = said.open;
      word.ask_finish = ask_;
      exchange_.end_epoch(word);
      break;
    }
    case FrameKind::clock: {
      const auto clock = frame.as<ClockFrame>();
      if (clock_)
        clock_->set_clock(record::ClockSource{clock.source}, TickScale{clock.origin_ticks, clock.ns_per_tick});
      break;
    }
    case FrameKind::ask_finish: ask_ = true; break;
    case FrameKind::done: give_up_worker(all_finished_); break;
    default: break;
  }
}

void Relay::end_neutral_epoch() {
  RelayWord word;
  word.dead = lost_worker_;
  word.leaving = 1;
  word.ask_finish = ask_;
  exchange_.end_epoch(word);
}

void Relay::told(const RelayWord& reduced, const std::vector<int>& died) {
  ++epochs_;
  asked_ = asked_ || reduced.ask_finish > 0;
  for (const int node : died) {
    if (node == 0) root_died_ = true;
    if (worker_) socket_.queue(FrameKind::died, node);
  }
  nodes::EpochWord word;
  word.read_until_ns = reduced.read_until_ns;
  word.open = static_cast<std::uint32_t>(std::max<std::int64_t>(reduced.open, 0));
  if (worker_) socket_.queue_value(FrameKind::epoch, word);
  if (reduced.leaving == exchange_.nodes()) end();
}

void Relay::end() {
  if (over_) return;
  over_ = true;
  if (clock_) clock_->stop();
}

void Relay::rest() {
  short events = reading() ? POLLIN : 0;
  if (socket_.unsent() > 0) events |= POLLOUT;
  // Without a wish we would still be woken, for ever, by a closed peer: wait on nothing then.
  pollfd worker{events != 0 ? socket_.descriptor() : -1, events, 0};
  const timespec time{0, delay_ns_};
  if (::ppoll(&worker, 1, &time, nullptr) > 0) delay_ns_ = shortest_rest_ns;
  else delay_ns_ = std::min(delay_ns_ * 2, exchange_.ended() ? longest_rest_ns : idle_rest_ns);
}

void Relay::finish() {
  if (finished_) return;
  finished_ = true;
  if (MPI_Ibarrier(ends_, &finishing_) != MPI_SUCCESS) tell_finished();
}

void Relay::test_barrier() {
  int done = 0;
  if (!finished_ || all_finished_) return;
  if (MPI_Test(&finishing_, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done) tell_finished();
}

void Relay::tell_finished() {
  all_finished_ = true;
  socket_.queue(FrameKind::finished);
}

void Relay::give_up_worker(bool left) {
  if (!worker_) return;
  worker_ = false;
  lost_worker_ = !left;
}

}  // namespace pclscope::aggregator
