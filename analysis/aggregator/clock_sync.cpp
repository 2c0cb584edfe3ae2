#include "analysis/aggregator/clock_sync.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <vector>

#include "analysis/collect/tick_clock.hpp"

namespace pclscope::aggregator {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t spin_ns = 4 * ms, nap_burst_ns = 8 * ms;  // at most this long per burst
constexpr std::int64_t awake_ns = 3 * ms;  // a parent's after an answer, when more pings will come
constexpr std::int64_t farewell_ns = 20 * ms;
constexpr std::int64_t nap_ns = 10'000;                                   // between polls of a burst that does not spin
constexpr int first_burst = 24, spinning_burst = 14, napping_burst = 20;  // pings, the waking one not counted

// Often at first, so that drift is soon known; later once a second.
std::int64_t pause_after(std::uint64_t bursts, int rank) {
  const std::int64_t pause = bursts < 4 ? 100 * ms : bursts < 40 ? 250 * ms : bursts < 80 ? 500 * ms : 1'000 * ms;
  return pause + pause / 64 * (rank % 16);  // children of one parent should not always come together
}

// Wake-ups within microseconds, also where all cores are busy: Linux since 6.12 prefers who asks for short time slices
// (older ones ignore it), and timers may be late by 1 us instead of 50.
void wake_up_fast() {
  struct {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
    std::uint32_t least, most;
  } attributes{};
  constexpr std::uint64_t reset_on_fork = 1;
  constexpr int keep = 0;
  if (::syscall(SYS_sched_getattr, keep, &attributes, sizeof attributes, 0) == 0 && attributes.policy == 0) {
    attributes.size = sizeof attributes;
    attributes.flags = reset_on_fork;
    attributes.runtime = 100'000;
    [[maybe_unused]] const long refused = ::syscall(SYS_sched_setattr, keep, &attributes, 0);
  }
  ::prctl(PR_SET_TIMERSLACK, 1'000UL, 0UL, 0UL, 0UL);
}

std::int64_t now_ns() { return static_cast<std::int64_t>(collect::read_ticks(record::ClockSource::monotonic)); }

struct Ping {
  std::uint64_t number = 0;
  std::int64_t t1 = 0;
  std::uint32_t left = 0;  // pings that follow at once
  std::uint32_t naps = 0;  // 1: in this burst both sides sleep shortly between polls
};

struct Pong {
  std::uint64_t number = 0;
  std::int64_t t1 = 0, t2 = 0, t3 = 0;
  std::uint64_t generation = 0;  // 0: the parent has no clock yet; t2 and t3 mean nothing
  std::uint64_t has_model = 0;
  nodes::ClockUpdate model;
};

std::vector<int> children_of(int rank, int nodes) {
  std::vector<int> children;
  for (int bit = 1; rank + bit < nodes && (rank & bit) == 0; bit *= 2) children.push_back(rank + bit);
  return children;
}

}  // namespace

struct ClockSync::Requests {
  struct Child {
    int rank = 0;
    Ping ping;
    std::int64_t t2 = 0;
    bool owed = false;  // its ping waits for an answer
    std::int64_t awake_until_ns = 0;
    Pong pong;
    MPI_Request sending = MPI_REQUEST_NULL;
  };
  explicit Requests(MPI_Comm communicator) : comm(communicator) {}

  void expect_ping() {
    if (!children.empty()) receive(&ping_in, sizeof ping_in, MPI_ANY_SOURCE, clock_ping_tag, asked);
  }
  void receive(void* bytes, int size, int from, int tag, MPI_Request& request) {
    check(MPI_Irecv(bytes, size, MPI_BYTE, from, tag, comm, &request), request);
  }
  void send(const void* bytes, int size, int to, int tag, MPI_Request& request) {
    check(MPI_Isend(bytes, size, MPI_BYTE, to, tag, comm, &request), request);
  }
  bool done(MPI_Request& request, MPI_Status* status = MPI_STATUS_IGNORE) {
    int flag = 0;
    return check(MPI_Test(&request, &flag, status), request) && flag != 0;
  }
  bool check(int code, MPI_Request& request) {
    if (code == MPI_SUCCESS) return true;
    request = MPI_REQUEST_NULL;
    broken = true;
    return false;
  }

  MPI_Comm comm;
  bool broken = false;  // MPI returned an error: nothing is measured any more
  std::vector<Child> children;
  Ping ping_in, ping_out;
  Pong pong_in;
  MPI_Request asked = MPI_REQUEST_NULL, asking = MPI_REQUEST_NULL, answered = MPI_REQUEST_NULL;
};

ClockSync::ClockSync(MPI_Comm comm, std::function<void(const nodes::ClockUpdate&)> news)
    : requests_(std::make_unique<Requests>(comm)), news_(std::move(news)) {
  int nodes = 1;
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &nodes);
  parent_ = rank_ == 0 ? -1 : rank_ & (rank_ - 1);
  for (const int child : children_of(rank_, nodes)) requests_->children.emplace_back().rank = child;
  requests_->expect_ping();
  if (nodes > 1) wake_up_fast();
}

ClockSync::~ClockSync() { stop(); }

std::int64_t ClockSync::stamp() const { return scale_ ? scale_->to_ns(collect::read_ticks(source_)) : 0; }

void ClockSync::set_clock(record::ClockSource source, TickScale scale) {
  source_ = source;
  scale_ = scale;
  ++generation_;
  estimator_.reset();
  first_number_ = number_ + 1;
  bursts_ = 0;
  next_burst_ns_ = 0;
  if (rank_ == 0) model_ = nodes::ClockUpdate{};
  else model_.reset();
}

bool ClockSync::poll() { return in_burst_ = look(); }

bool ClockSync::look() {
  if (stopped_ || requests_->broken) return false;
  serve();
  ask();
  if (requests_->broken) return false;
  const std::int64_t now = now_ns();
  bool busy = state_ == State::pinging && now < spin_until_ns_, naps = busy && naps_;
  for (const Requests::Child& child : requests_->children) {
    if (now >= child.awake_until_ns) continue;
    busy = true;
    naps = naps || child.ping.naps != 0;
  }
  if (naps) {
    const timespec nap{0, nap_ns};
    ::nanosleep(&nap, nullptr);
  }
  return busy;
}

void ClockSync::serve() {
  Requests& r = *requests_;
  if (r.children.empty()) return;
  MPI_Status status;
  if (r.done(r.asked, &status)) {
    const std::int64_t t2 = stamp();
    for (Requests::Child& child : r.children)
      if (child.rank == status.MPI_SOURCE) child.ping = r.ping_in, child.t2 = t2, child.owed = true;
    for (std::size_t i = 0; i < r.children.size(); ++i)
      if (r.children[i].rank == status.MPI_SOURCE) answer(static_cast<int>(i));
    r.expect_ping();
  }
  for (std::size_t i = 0; i < r.children.size(); ++i)
    if (r.children[i].owed) answer(static_cast<int>(i));
}

void ClockSync::answer(int which) {
  Requests::Child& child = requests_->children[static_cast<std::size_t>(which)];
  if (!requests_->done(child.sending)) return;  // the last answer's buffer is still MPI's: at the next poll
  child.owed = false;
  Pong& pong = child.pong;
  pong = {child.ping.number, child.ping.t1, child.t2, 0, scale_ ? generation_ : 0, model_.has_value(), {}};
  if (model_)
    pong.model = rank_ == 0 ? nodes::ClockUpdate{child.t2} : collect::moved_to(*model_, child.t2, estimator_.limits());
  child.awake_until_ns = child.ping.left > 0 ? now_ns() + awake_ns : 0;
  pong.t3 = stamp();
  requests_->send(&pong, sizeof pong, child.rank, clock_pong_tag, child.sending);
}

void ClockSync::ask() {
  if (parent_ < 0 || !scale_) return;
  if (state_ == State::idle) {
    if (now_ns() >= next_burst_ns_ && requests_->done(requests_->asking)) begin_burst();
    return;
  }
  if (requests_->done(requests_->answered)) take_pong();
}

// Spinning makes the shortest round trips where both nodes have a core to spare; on full cores, or where the two share
// one (several "nodes" on one machine), sleepers are let in at once and spinners wait for the end of others' time
// slices. So bursts of both kinds alternate. The first ping wakes the parent, whose loop may sleep; only from its
// answer on both spin.
void ClockSync::begin_burst() {
  sampled_ = false;
  naps_ = bursts_ % 2 == 1;
  left_ = bursts_ == 0 ? first_burst : naps_ ? napping_burst : spinning_burst;
  state_ = State::waking;
  send_ping();
}

void ClockSync::send_ping() {
  Requests& r = *requests_;
  r.receive(&r.pong_in, sizeof r.pong_in, parent_, clock_pong_tag, r.answered);
  r.ping_out = {++number_, 0, static_cast<std::uint32_t>(left_), naps_ ? 1u : 0u};
  r.ping_out.t1 = stamp();
  r.send(&r.ping_out, sizeof r.ping_out, parent_, clock_ping_tag, r.asking);
}

void ClockSync::take_pong() {
  const std::int64_t t4 = stamp();
  const Pong& pong = requests_->pong_in;
  if (pong.generation == 0 || pong.number < first_number_) {  // no clock there, or another one here since
    state_ = State::idle;
    next_burst_ns_ = now_ns() + 50 * ms;
    return;
  }
  if (pong.generation != parents_generation_) {  // the parent's axis, or one above, is a new one
    if (parents_generation_ != 0) ++generation_;
    parents_generation_ = pong.generation;
    estimator_.reset();
    model_.reset();
  }
  if (estimator_.add({pong.t1, pong.t2, pong.t3, t4})) {
    newest_ns_ = t4;
    sampled_ = true;
    parents_model_.reset();
    if (pong.has_model != 0) parents_model_ = pong.model;
  }
  const std::int64_t now = now_ns();
  if (state_ == State::waking) spin_until_ns_ = now + (naps_ ? nap_burst_ns : spin_ns);
  state_ = State::pinging;
  // The ping is answered, so its send is over; MPI may not have noticed yet.
  if (left_ == 0 || now >= spin_until_ns_ || !requests_->done(requests_->asking)) return end_burst();
  --left_;
  send_ping();
}

void ClockSync::end_burst() {
  state_ = State::idle;
  next_burst_ns_ = now_ns() + pause_after(bursts_++, rank_);
  if (!sampled_ || !parents_model_) return;
  const auto estimate = estimator_.estimate(newest_ns_);
  if (!estimate) return;
  model_ = collect::through_parent(*estimate, *parents_model_, estimator_.limits());
  if (collect::believable(*model_)) news_(*model_);
  else model_.reset();
}

void ClockSync::stop() {
  if (stopped_) return;
  Requests& r = *requests_;
  const std::int64_t until = now_ns() + farewell_ns;
  while (!r.broken && now_ns() < until && !(r.done(r.answered) && r.done(r.asking))) serve();
  stopped_ = true;
  for (MPI_Request* receive : {&r.asked, &r.answered}) {
    if (*receive == MPI_REQUEST_NULL) continue;
    MPI_Cancel(receive);
    MPI_Wait(receive, MPI_STATUS_IGNORE);
  }
  // Sends of a few dozen bytes to a node that answers no more: MPI keeps what it needs, the buffers are left to it.
  bool open = !r.done(r.asking) && r.asking != MPI_REQUEST_NULL;
  if (open) MPI_Request_free(&r.asking);
  for (Requests::Child& child : r.children) {
    if (r.done(child.sending) || child.sending == MPI_REQUEST_NULL) continue;
    MPI_Request_free(&child.sending);
    open = true;
  }
  if (open) [[maybe_unused]]
    Requests* left_to_mpi = requests_.release();
}

}  // namespace pclscope::aggregator
