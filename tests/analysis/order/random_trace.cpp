#include "random_trace.hpp"

#include <algorithm>

namespace pclscope::order_test {

namespace {

class Program {
 public:
  Program(const TraceShape& shape, std::mt19937_64& random) : shape_(shape), random_(random) {
    trace_.ranks = shape.ranks;
    last_.assign(shape.ranks, -1);
    in_flight_.resize(shape.ranks);
    for (int i = 0; i < shape.ranks; ++i) {
      skew_.push_back(shape.skew_ns == 0 ? 0 : below(2 * shape.skew_ns + 1) - shape.skew_ns);
      drift_.push_back(shape.skew_ns == 0 ? 0 : below(4));
    }
  }

  Trace run() {
    for (int i = 0; i < shape_.steps; ++i) step();
    for (int p = 0; p < shape_.ranks; ++p)
      while (!in_flight_[p].empty()) receive(p);
    finish();
    return std::move(trace_);
  }

 private:
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  std::int64_t local(int p) const { return now_ * 1000 + now_ * drift_[p] + skew_[p]; }
  int several() { return shape_.several && below(4) == 0 ? 1 + static_cast<int>(below(4)) : 1; }

  void step() {
    now_ += 1 + below(10);
    const int p = static_cast<int>(below(shape_.ranks));
    if (!in_flight_[p].empty() && below(2) == 0) {
      receive(p);
      if (shape_.several && below(8) == 0) send(p);  // in the clock's tick in which the receive returned
      return;
    }
    send(p);
    if (shape_.several && !in_flight_[p].empty() && below(8) == 0) receive(p, 0);  // a call within the send's tick
  }

  int call(int p) {
    trace_.calls.push_back({p, last_[p], {}, {}});
    return last_[p] = static_cast<int>(trace_.calls.size()) - 1;
  }

  void send(int p) {
    const int made = call(p);
    for (int i = several(); i > 0; --i) {
      Message m;
      m.source = p;
      m.destination = static_cast<int>(below(shape_.ranks));
      if (m.destination == p && (!shape_.several || below(4) != 0)) m.destination = (p + 1) % shape_.ranks;
      m.tag = static_cast<int>(below(1000));
      m.bytes = static_cast<std::uint64_t>(below(5000));
      m.comm = sent_.size();  // tells messages apart
      m.send_begin = local(p);
      m.send_end = m.send_begin + below(100);
      in_flight_[m.destination].push_back(static_cast<int>(sent_.size()));
      sent_.push_back(m);
      sent_by_.push_back(made);
    }
  }

  void receive(int p, int wait = 1) {
    now_ += wait;
    const int made = call(p);
    for (int i = several(); i > 0 && !in_flight_[p].empty(); --i) {
      auto& waiting = in_flight_[p];
      const auto which = waiting.begin() + below(static_cast<std::int64_t>(waiting.size()));
      Message m = sent_[*which];
      m.recv_end = local(p);
      m.recv_wait = m.recv_end - (wait > 0 ? 1 + below(500) : 0);
      m.recv_post = m.recv_wait - below(500);
      trace_.calls[sent_by_[*which]].sent.push_back(static_cast<int>(trace_.messages.size()));
      trace_.calls[made].received.push_back(static_cast<int>(trace_.messages.size()));
      trace_.sent_by.push_back(sent_by_[*which]);
      trace_.received_by.push_back(made);
      trace_.messages.push_back(m);
      waiting.erase(which);
    }
  }

  void finish() {
    ++now_;
    for (int p = 0; p < shape_.ranks; ++p) trace_.end_ns = std::max(trace_.end_ns, local(p));
  }

  TraceShape shape_;
  std::mt19937_64& random_;
  Trace trace_;
  std::int64_t now_ = 0;
  std::vector<std::int64_t> skew_, drift_;
  std::vector<int> last_, sent_by_;
  std::vector<Message> sent_;
  std::vector<std::vector<int>> in_flight_;  // to each rank
};

}  // namespace

Trace random_trace(const TraceShape& shape, std::mt19937_64& random) { return Program(shape, random).run(); }

Closure::Closure(const Trace& trace, const std::vector<char>& known) {
  const std::size_t words = trace.calls.size() / 64 + 1;
  const auto add = [&](std::vector<std::uint64_t>& to, int call) {
    for (std::size_t w = 0; w < words; ++w) to[w] |= reach_[call][w];
    to[call / 64] |= std::uint64_t{1} << (call % 64);
  };
  for (const Trace::Call& call : trace.calls) {
    std::vector<std::uint64_t> reach(words);
    if (call.previous >= 0) add(reach, call.previous);
    for (const int m : call.received)
      if (known[m]) add(reach, trace.sent_by[m]);
    reach_.push_back(std::move(reach));
  }
}

std::vector<Message> garbage(std::size_t count, int ranks, std::mt19937_64& random) {
  const auto time = [&]() -> std::int64_t {
    switch (random() % 8) {
      case 0: return static_cast<std::int64_t>(random());
      case 1: return INT64_MIN;
      case 2: return INT64_MAX;
      case 3: return 1'000'000'000'000'000'000;
      case 4: return 0;
      default: return static_cast<std::int64_t>(random() % 200) - 50;
    }
  };
  const auto rank = [&]() -> std::int32_t {
    return random() % 20 == 0 ? static_cast<std::int32_t>(random()) : static_cast<std::int32_t>(random() % ranks);
  };
  std::vector<Message> messages(count);
  for (Message& m : messages) {
    m.source = rank();
    m.destination = rank();
    m.tag = static_cast<std::int32_t>(random());
    m.bytes = random() % 2 ? random() : 0;
    m.flags = random() % 10 == 0 ? static_cast<std::uint32_t>(random()) : 0;
    m.send_begin = time();
    m.send_end = time();
    m.recv_post = time();
    m.recv_wait = time();
    m.recv_end = time();
  }
  return messages;
}

}  // namespace pclscope::order_test
