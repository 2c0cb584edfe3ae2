// Anchors with workers that do nothing but talk: each MPI process is the anchor of one node, its child the worker.
//
//   relay_program [--epochs N] [--seed S] [--large BYTES] [--period-ms T] [--kill NODE:EPOCH] [--slow NODE] [--idle
//   SECONDS]
//
// Who sends how much to whom in which epoch follows from the seed, so that every receiver knows what must have come by
// the end of each epoch, to the byte. Prints one line of figures; exit status 1 when anything was wrong.
#include <mpi.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>

#include "analysis/aggregator/relay.hpp"
#include "analysis/aggregator/worker_link.hpp"

using namespace pclscope;
using namespace pclscope::aggregator;
using Clock = std::chrono::steady_clock;
using Kind = nodes::LinkEvent::Kind;

namespace {

struct Plan {
  int epochs = 2'000;
  std::uint64_t seed = 1;
  std::size_t large = 3'000'000;  // bytes
  int period_ms = 0;              // between epochs
  int killed = -1, killed_in = 0;
  int slow = -1;
  double idle_s = 0;
};

std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

struct Planned {
  int to;
  std::size_t size;
  std::uint64_t key;  // its content follows from it
};

// What `node` sends in `epoch`: often nothing, mostly small, seldom large.
std::vector<Planned> planned(const Plan& plan, int nodes, int node, int epoch) {
  std::uint64_t state =
      mixed(plan.seed ^ mixed(static_cast<std::uint64_t>(node) << 32 | static_cast<std::uint32_t>(epoch)));
  const auto next = [&] { return state = mixed(state); };
  std::vector<Planned> messages(next() % 3 == 0 ? 0 : next() % 8);
  for (Planned& message : messages) {
    const std::uint64_t kind = next() % 1'000;
    const std::size_t most = kind < 10 ? plan.large : kind < 50 ? 60'000 : 300;
    message = {static_cast<int>(next() % static_cast<std::uint64_t>(nodes)), next() % (most + 1), next()};
  }
  return messages;
}

std::vector<std::byte> content(const Planned& message) {
  std::vector<std::byte> bytes(message.size);
  std::uint64_t state = message.key;
  for (std::size_t at = 0; at < bytes.size(); at += 8, state = state * 6364136223846793005u + 1442695040888963407u)
    std::memcpy(bytes.data() + at, &state, std::min<std::size_t>(8, bytes.size() - at));
  return bytes;
}

class Talker {
 public:
  Talker(const Plan& plan, int nodes, int control) : plan_(plan), link_(control, nodes) {}

  int run() {
    if (!link_.await_hello(std::chrono::seconds(60))) return wrong("no hello");
    if (plan_.idle_s > 0) ::usleep(static_cast<useconds_t>(plan_.idle_s * 1e6));
    const auto begin = Clock::now();
    for (; epoch_ < plan_.epochs && failures_ == 0; ++epoch_) one_epoch();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (died_ != (plan_.killed >= 0 ? std::vector<int>{plan_.killed} : std::vector<int>{})) wrong("died told wrongly");
    link_.done();
    if (link_.self() == (plan_.killed == 0 ? 1 : 0) && plan_.epochs > 0) print(seconds);
    return failures_ > 0;
  }

 private:
  void one_epoch() {
    if (link_.self() == plan_.slow && epoch_ % 50 == 7) ::usleep(20'000);
    if (plan_.period_ms > 0) ::usleep(static_cast<useconds_t>(plan_.period_ms) * 1'000);
    const auto mine = planned(plan_, link_.nodes(), link_.self(), epoch_);
    for (; sent_ < mine.size(); ++sent_) {
      if (link_.self() == plan_.killed && epoch_ == plan_.killed_in && sent_ >= mine.size() / 2) ::raise(SIGKILL);
      link_.send(mine[sent_].to, content(mine[sent_]));
    }
    if (link_.self() == plan_.killed && epoch_ == plan_.killed_in) ::raise(SIGKILL);
    const auto begin = Clock::now();
    link_.end_epoch({epoch_ * 10 + link_.self(), 1});
    sent_ = 0;
    // The first message of the next epoch goes out before this one is over.
    const auto next = planned(plan_, link_.nodes(), link_.self(), epoch_ + 1);
    if (epoch_ + 1 < plan_.epochs && !next.empty()) link_.send(next[0].to, content(next[sent_++]));
    wait_for_epoch();
    latencies_.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }

  void wait_for_epoch() {
    const auto limit = Clock::now() + std::chrono::seconds(60);
    while (failures_ == 0) {
      nodes::LinkEvent event;
      while (link_.next(event)) {
        if (event.kind == Kind::message) got_[event.node].push_back(std::move(event.bytes));
        if (event.kind == Kind::died) died_.push_back(event.node);
        if (event.kind == Kind::closed) wrong("closed");
        if (event.kind == Kind::epoch) return check(event.word);
      }
      pollfd channel{link_.descriptor(), POLLIN, 0};
      ::poll(&channel, 1, 100);
      if (Clock::now() > limit) wrong("an epoch takes 60 s");
    }
  }

  void check(const nodes::EpochWord& word) {
    const bool known = !died_.empty();
    const int living = link_.nodes() - (known ? 1 : 0);
    if (static_cast<int>(word.open) != living ||
        word.read_until_ns != epoch_ * 10 + (known && plan_.killed == 0 ? 1 : 0))
      wrong("wrong word");
    for (int node = 0; node < link_.nodes(); ++node) {
      std::vector<Planned> expected;
      for (const Planned& message : planned(plan_, link_.nodes(), node, epoch_))
        if (message.to == link_.self()) expected.push_back(message);
      const auto& got = got_[node];
      const bool may_lack =
          node == plan_.killed && epoch_ >= plan_.killed_in;  // what it sent before its death may be there
      if (got.size() > expected.size() || (got.size() < expected.size() && !may_lack))
        wrong("wrong number of messages");
      for (std::size_t i = 0; i < got.size() && i < expected.size(); ++i)
        if (got[i] != content(expected[i])) wrong("wrong content");
      messages_ += got.size();
    }
    got_.clear();
  }

  int wrong(const char* what) {
    ++failures_;
    std::printf("node %d epoch %d: %s (seed %llu)\n", link_.self(), epoch_, what,
                static_cast<unsigned long long>(plan_.seed));
    std::fflush(stdout);
    return 1;
  }

  void print(double seconds) {
    std::sort(latencies_.begin(), latencies_.end());
    const auto quantile = [&](double q) {
      return latencies_[static_cast<std::size_t>(q * static_cast<double>(latencies_.size() - 1))];
    };
    std::printf(
        "epochs %d per_s %.0f latency_us median %.0f q95 %.0f max %.0f, messages received here %zu, sent %.1f MB\n",
        epoch_, epoch_ / seconds, quantile(0.5), quantile(0.95), quantile(1), messages_,
        static_cast<double>(link_.traffic().bytes) / 1e6);
    std::fflush(stdout);
  }

  const Plan& plan_;
  WorkerLink link_;
  int epoch_ = 0;
  std::size_t sent_ = 0;  // of this epoch's
  std::map<int, std::vector<std::vector<std::byte>>> got_;
  std::vector<int> died_;
  std::vector<double> latencies_;
  std::size_t messages_ = 0;
  int failures_ = 0;
};

int nodes_from_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return 1;
}

double cpu_s() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

bool parse(int argc, char** argv, Plan& plan) {
  CLI::App app{"anchors whose workers only talk"};
  std::string kill;
  app.add_option("--epochs", plan.epochs);
  app.add_option("--seed", plan.seed);
  app.add_option("--large", plan.large);
  app.add_option("--period-ms", plan.period_ms);
  app.add_option("--kill", kill);
  app.add_option("--slow", plan.slow);
  app.add_option("--idle", plan.idle_s);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) { return app.exit(error), false; }
  return kill.empty() || std::sscanf(kill.c_str(), "%d:%d", &plan.killed, &plan.killed_in) == 2;
}

int anchor(const Plan& plan, pid_t child, int control) {
  MPI_Init(nullptr, nullptr);
  FrameSocket socket(control);
  int node = 0, status = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &node);
  {
    Relay relay(MPI_COMM_WORLD, socket, 0, 1, false);
    const double cpu = cpu_s();
    const auto begin = Clock::now();
    while (!relay.worker_done())
      if (!relay.turn()) relay.rest();
    const double share = (cpu_s() - cpu) / std::chrono::duration<double>(Clock::now() - begin).count();
    if (node == 0 && (plan.idle_s > 0 || plan.period_ms > 0))
      std::printf("anchor's share of a core: %.3f %%\n", share * 100);
    relay.finish();
    while (!relay.over() || !relay.all_finished())
      if (!relay.turn()) relay.rest();
  }
  ::waitpid(child, &status, 0);
  const bool meant = node == plan.killed && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  int wrong = !(meant || (WIFEXITED(status) && WEXITSTATUS(status) == 0)), all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (node == 0) std::printf(all == 0 ? "all right\n" : "%d nodes with mistakes\n", all);
  MPI_Finalize();
  return all > 0;
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  if (!parse(argc, argv, plan)) return 2;
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return 2;
  const pid_t child = ::fork();
  if (child < 0) return 2;
  if (child == 0) {
    ::close(pair[0]);
    return Talker(plan, nodes_from_launcher(), pair[1]).run();
  }
  ::close(pair[1]);
  return anchor(plan, child, pair[0]);
}
