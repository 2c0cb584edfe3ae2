// 1. Vector clocks (RegionClocks, as the analysis has them) against tree clocks, both keeping every event: time and
// memory
//    per message, and time per question, on four patterns and 16 to 1,024 ranks. Both must give the same answers.
//    Trees need the events in logical order first; how much of their time that takes is told.
// 2. How long a dependency graph takes: 10,000 and 100,000 events.
// Processor time, medians of three. Exit status 1 when a result is wrong.
//
//   order_benchmark [--quick]
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>

#include "analysis/order/clocks.hpp"
#include "analysis/order/dag_builder.hpp"
#include "analysis/order/dag_links.hpp"
#include "benchmarks/order/traces.hpp"
#include "benchmarks/order/tree_clocks.hpp"

using namespace pclscope;
using namespace pclscope::benchmark;

namespace {

constexpr int questions = 100'000;

// Processor time: everything here computes in one thread, and the machine may be busy.
template <class Work>
double seconds(Work work) {
  const auto now = [] {
    timespec time;
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  const double begin = now();
  work();
  return now() - begin;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<std::int32_t> ranks_of(const MessageTrace& trace) {
  std::vector<std::int32_t> ranks(trace.ranks);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// One behind the other: the same messages in, the same questions asked.
class Contestant {
 public:
  struct Question {
    std::uint32_t a, b;
    Side a_side, b_side;
  };
  virtual ~Contestant() = default;
  virtual void add(const std::vector<Message>& messages) = 0;
  virtual bool answer(const Question& question) const = 0;
  virtual std::size_t bytes() const = 0;
};

class Vectors final : public Contestant {
 public:
  Vectors(const MessageTrace& trace, std::size_t windows)
      : messages_(trace.messages), clocks_(ranks_of(trace), {std::size_t{8} << 30}), windows_(windows) {}
  void add(const std::vector<Message>& messages) override {
    const std::size_t length = messages.size() / windows_ + 1;
    for (std::size_t i = 0; i < messages.size(); i += length)
      clocks_.add(std::span(messages).subspan(i, std::min(length, messages.size() - i)));
  }
  bool answer(const Question& q) const override {
    return clocks_.happened_before(*clocks_.event(messages_[q.a], q.a_side), *clocks_.event(messages_[q.b], q.b_side));
  }
  std::size_t bytes() const override { return clocks_.bytes(); }

 private:
  const std::vector<Message>& messages_;
  RegionClocks clocks_;
  std::size_t windows_;
};

class Trees final : public Contestant {
 public:
  explicit Trees(const MessageTrace& trace) : clocks_(trace.ranks) {}
  void add(const std::vector<Message>& messages) override { clocks_.add(messages); }
  bool answer(const Question& q) const override { return clocks_.happened_before(q.a, q.a_side, q.b, q.b_side); }
  std::size_t bytes() const override { return clocks_.bytes(); }

 private:
  TreeClocks clocks_;
};

struct Figures {
  double add_ns = 0, ask_ns = 0, bytes = 0;  // per message, question, message
  std::vector<char> answers;
};

template <class Make>
Figures measure(const MessageTrace& trace, const std::vector<Contestant::Question>& asked, int rounds, Make make) {
  Figures figures;
  std::vector<double> add, ask;
  for (int i = 0; i < rounds; ++i) {
    const std::unique_ptr<Contestant> contestant = make();
    add.push_back(seconds([&] { contestant->add(trace.messages); }));
    figures.answers.clear();
    ask.push_back(seconds([&] {
      for (const auto& q : asked) figures.answers.push_back(contestant->answer(q));
    }));
    figures.bytes = static_cast<double>(contestant->bytes()) / static_cast<double>(trace.messages.size());
  }
  figures.add_ns = median(add) * 1e9 / static_cast<double>(trace.messages.size());
  figures.ask_ns = median(ask) * 1e9 / static_cast<double>(asked.size());
  return figures;
}

bool compare(const MessageTrace& trace, int rounds) {
  std::mt19937_64 random(1);
  std::vector<Contestant::Question> asked;
  const auto count = static_cast<std::uint32_t>(trace.messages.size());
  for (int i = 0; i < questions; ++i) {
    const auto a = static_cast<std::uint32_t>(random() % count);  // half of them close together
    const auto b = i % 2 ? static_cast<std::uint32_t>(random() % count)
                         : std::min(count - 1, a + static_cast<std::uint32_t>(random() % (8 * trace.ranks)));
    asked.push_back({a, b, random() % 2 ? Side::send : Side::receive, random() % 2 ? Side::send : Side::receive});
  }
  const Figures vectors = measure(trace, asked, rounds, [&] { return std::make_unique<Vectors>(trace, 50); });
  const Figures trees = measure(trace, asked, rounds, [&] { return std::make_unique<Trees>(trace); });
  const double order_ns = seconds([&] { logical_order(trace.messages); }) * 1e9 / count;
  const bool same = vectors.answers == trees.answers;
  const auto yes = std::count(vectors.answers.begin(), vectors.answers.end(), 1);
  std::printf("%-14s %5d  %8u  %6.0f %6.0f %6.0f  %7.0f %7.0f  %6.0f %6.0f  %4.1f%%  %s\n", trace.name.c_str(),
              trace.ranks, count, vectors.add_ns, trees.add_ns, order_ns, vectors.bytes, trees.bytes, vectors.ask_ns,
              trees.ask_ns, 100.0 * static_cast<double>(yes) / questions, same ? "" : "WRONG: answers differ");
  return same && yes > 0 && yes < questions;
}

bool graph(const MessageTrace& trace, int rounds) {
  std::vector<std::int32_t> nodes(trace.ranks);
  for (int i = 0; i < trace.ranks; ++i) nodes[i] = i / 16;
  Dag dag;
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i)
    times.push_back(seconds([&] {
      dag = build_dag(
          {}, {trace.messages, nodes, [](const Message& m) { return static_cast<double>(m.time()) / 1500; }, 0});
    }));
  std::uint64_t in_edges = messages_inside(dag);
  bool forward = true;
  for (const DagEdge& e : dag.edges) {
    in_edges += e.messages;
    forward = forward && e.from < e.to;
  }
  const bool right = forward && in_edges == trace.messages.size() && !dag.partial;
  std::printf("%-14s %5d  %8zu events  %8.1f ms  %7zu nodes %8zu edges  %s\n", trace.name.c_str(), trace.ranks,
              2 * trace.messages.size(), median(times) * 1e3, dag.nodes.size(), dag.edges.size(), right ? "" : "WRONG");
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const int rounds = quick ? 1 : 3;
  bool right = true;
  std::printf("clocks         ranks  messages  ns/message (V, T, its order)  bytes/message  ns/question  before\n");
  for (const int ranks : quick ? std::vector<int>{16, 64} : std::vector<int>{16, 64, 256, 1024}) {
    const std::size_t messages = quick ? 5'000 : ranks == 1024 ? 20'000 : 40'000;
    for (const auto make : {halo_trace, cg_trace, irregular_trace, master_worker_trace})
      right = compare(make(ranks, messages), rounds) && right;
  }
  std::printf("\ngraphs\n");
  for (const std::size_t messages : quick ? std::vector<std::size_t>{5'000} : std::vector<std::size_t>{5'000, 50'000})
    for (const auto make : {halo_trace, cg_trace, irregular_trace, master_worker_trace})
      right = graph(make(64, messages), rounds) && right;
  return right ? 0 : 1;
}
