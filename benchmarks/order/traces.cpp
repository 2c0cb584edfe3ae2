#include "benchmarks/order/traces.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace pclscope::benchmark {

namespace {

// Each rank's clock goes on by a little chance with every call.
class Writer {
 public:
  Writer(std::string name, int ranks) : trace_{std::move(name), ranks, {}}, now_(ranks) {}

  std::size_t count() const { return trace_.messages.size(); }
  std::int64_t now(int rank) const { return now_[rank]; }
  std::int64_t pass(int rank, std::int64_t most) { return now_[rank] += 100 + below(most); }
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }

  std::int64_t send(int rank) { return pass(rank, 200); }
  // Completed by one call of the receiver: (source, begin of the send) each.
  void receive(int rank, const std::vector<std::pair<int, std::int64_t>>& from) {
    const std::int64_t posted = now_[rank];
    for (const auto& [source, begin] : from) now_[rank] = std::max(now_[rank], begin + 1000);
    pass(rank, 500);
    for (const auto& [source, begin] : from) {
      Message m;
      m.source = source;
      m.destination = rank;
      m.bytes = 1024;
      m.send_begin = begin;
      m.send_end = begin + 50;
      m.recv_post = m.recv_wait = posted;
      m.recv_end = now_[rank];
      trace_.messages.push_back(m);
    }
  }
  MessageTrace take() {
    std::sort(trace_.messages.begin(), trace_.messages.end(),
              [](const Message& a, const Message& b) { return a.recv_end < b.recv_end; });
    return std::move(trace_);
  }

 private:
  MessageTrace trace_;
  std::vector<std::int64_t> now_;
  std::mt19937_64 random_{1};
};

}  // namespace

MessageTrace halo_trace(int ranks, std::size_t messages) {
  Writer writer("halo", ranks);
  const int side = static_cast<int>(std::lround(std::sqrt(ranks)));
  std::vector<std::vector<std::pair<int, std::int64_t>>> incoming(ranks);
  while (writer.count() < messages) {
    for (int r = 0; r < ranks; ++r) {
      writer.pass(r, 20'000);
      const int x = r % side, y = r / side;
      for (const int to : {y * side + (x + 1) % side, y * side + (x + side - 1) % side, (y + 1) % side * side + x,
                           (y + side - 1) % side * side + x})
        incoming[to].push_back({r, writer.send(r)});
    }
    for (int r = 0; r < ranks; ++r) {
      writer.receive(r, incoming[r]);
      incoming[r].clear();
    }
  }
  return writer.take();
}

MessageTrace cg_trace(int ranks, std::size_t messages) {
  Writer writer("CG", ranks);
  const int side = static_cast<int>(std::lround(std::sqrt(ranks)));
  std::vector<std::int64_t> begin(ranks);
  const auto exchange = [&](auto partner) {
    for (int r = 0; r < ranks; ++r) begin[r] = writer.send(r);
    for (int r = 0; r < ranks; ++r) writer.receive(r, {{partner(r), begin[partner(r)]}});
  };
  while (writer.count() < messages) {
    for (int r = 0; r < ranks; ++r) writer.pass(r, 20'000);
    for (int round = 0; round < 3; ++round)
      for (int d = side; d >= 2; d /= 2)
        exchange([&](int r) {
          const int row = r / side, column = r % side;
          return row * side + (column + d / 2) % d + column / d * d;
        });
    exchange([&](int r) { return r % side * side + r / side; });
  }
  return writer.take();
}

MessageTrace irregular_trace(int ranks, std::size_t messages) {
  Writer writer("irregular", ranks);
  std::vector<std::vector<std::pair<int, std::int64_t>>> incoming(ranks);
  while (writer.count() < messages) {
    const int r = static_cast<int>(writer.below(ranks));
    writer.pass(r, 3000);
    if (writer.below(2) == 0 || incoming[r].empty()) {
      const int to = static_cast<int>(writer.below(ranks));
      if (to != r) incoming[to].push_back({r, writer.send(r)});
      continue;
    }
    const auto taken = incoming[r].begin() + writer.below(static_cast<std::int64_t>(incoming[r].size()));
    writer.receive(r, {*taken});
    incoming[r].erase(taken);
  }
  return writer.take();
}

MessageTrace master_worker_trace(int ranks, std::size_t messages) {
  Writer writer("master-worker", ranks);
  std::vector<std::int64_t> result(ranks);
  for (int r = 1; r < ranks; ++r) {
    writer.pass(r, 1'000'000);
    result[r] = writer.send(r);
  }
  while (writer.count() < messages) {
    const int worker = static_cast<int>(std::min_element(result.begin() + 1, result.end()) - result.begin());
    writer.receive(0, {{worker, result[worker]}});
    writer.receive(worker, {{0, writer.send(0)}});
    writer.pass(worker, 1'000'000);
    result[worker] = writer.send(worker);
  }
  return writer.take();
}

}  // namespace pclscope::benchmark
