// How old is a message when it can first be seen? From the end of a receive to the arrival, at a viewer, of the first
// snapshot that includes it in its region. The same of the call: in the density of calls that the snapshot has, and in
// the one with all slices, for which the viewer asks when a snapshot came, as the window does.
//
// Two stand-in recorders write real rings (sends of rank 0, receives of rank 1, a message about every millisecond); the
// worker as `pclscope run` starts it drains them and publishes; a subscriber notes when each snapshot came. Checks
// that every message arrived, in order. Usage: freshness_benchmark [seconds] [window_ms]
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "analysis/aggregator/frame_socket.hpp"
#include "analysis/aggregator/worker.hpp"
#include "analysis/collect/board_file.hpp"
#include "analysis/density/packing.hpp"
#include "analysis/wire/subscriber.hpp"
#include "interpose/record/functions.hpp"
#include "interpose/record/ring.hpp"
#include "viewer/session/live_density.hpp"

using namespace pclscope;

namespace {

std::uint64_t monotonic_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "freshness_benchmark: %s\n", why.c_str());
  std::exit(1);
}

record::RingWriter open_ring(const std::string& token, int rank) {
  constexpr std::uint64_t capacity = 65536;
  const std::string path = "/dev/shm/" + collect::shm_names(token) + std::to_string(rank) + "-0";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  const auto bytes = static_cast<off_t>(record::segment_bytes(capacity));
  if (file < 0 || ::posix_fallocate(file, 0, bytes) != 0) give_up("cannot make " + path);
  void* memory = ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) give_up("cannot map " + path);
  auto* header = static_cast<record::SegmentHeader*>(memory);
  std::memcpy(header->magic, record::segment_magic, sizeof header->magic);
  header->version = record::segment_version;
  header->header_bytes = record::segment_header_bytes;
  header->capacity = capacity;
  header->world_rank = rank;
  header->world_size = 2;
  header->clock = record::ClockSource::monotonic;
  std::strcpy(header->node, "here");
  header->thread_count = 1;
  header->state.store(record::ProcessState::running, std::memory_order_release);
  return record::RingWriter(header);
}

void write(record::RingWriter& ring, record::EventKind kind, record::Function function, std::uint64_t begin,
           std::uint64_t end, std::uint64_t ordinal, int peer) {
  record::Event* event = ring.claim();
  if (event == nullptr) give_up("the worker does not drain");
  *event = {};
  event->begin = begin;
  event->end = end;
  event->comm = record::world_comm_id;
  event->bytes = 64;
  event->ordinal = ordinal;
  event->peer = peer;
  event->kind = kind;
  event->function = static_cast<std::uint16_t>(function);
  ring.publish();
}

struct Arrival {
  std::uint64_t at_ns;
  std::uint64_t count;  // of messages in regions, or of receives in the density
};
struct Arrivals {
  std::vector<Arrival> messages, calls, asked;
};

std::uint64_t receives(const CallDensity& density) {
  std::uint64_t sum = 0;
  for (const CallDensity::Calls& c : density.calls)
    if (c.function == static_cast<std::uint16_t>(record::Function::Recv)) sum += c.ends;
  return sum;
}

Arrivals listen(wire::Subscriber& subscriber, std::uint64_t until_ns) {
  Arrivals arrivals;
  session::LiveDensity live;
  std::uint64_t next_question_ns = 0;
  while (monotonic_ns() < until_ns) {
    auto snapshot = subscriber.next(std::chrono::milliseconds(20));
    if (!snapshot) give_up(snapshot.error().message);
    if (!*snapshot) continue;
    Arrival arrival{monotonic_ns(), 0};
    for (const Region& region : (*snapshot)->regions) arrival.count += region.messages;
    arrivals.messages.push_back(arrival);
    const auto density = density::unpack((*snapshot)->call_density);
    if (!density) give_up("a density that cannot be read");
    arrivals.calls.push_back({arrival.at_ns, receives(*density)});
    if (monotonic_ns() < next_question_ns) continue;
    next_question_ns = monotonic_ns() + 200'000'000;
    const Status asked = live.refresh(
        [&](const DensityQuestion& question) { return subscriber.ask_density(question, std::chrono::seconds(10)); },
        static_cast<std::int64_t>((*snapshot)->duration_s * 1e9), [] { return false; });
    if (!asked) give_up(asked.error().message);
    arrivals.asked.push_back({monotonic_ns(), receives(live.density())});
  }
  return arrivals;
}

void tell(const char* what, const std::vector<Arrival>& arrivals, const std::vector<std::uint64_t>& ends,
          std::int64_t window_ms) {
  std::vector<double> ages_ms;
  std::size_t next = 0;
  for (const Arrival& arrival : arrivals)
    for (; next < std::min<std::size_t>(arrival.count, ends.size()); ++next)
      ages_ms.push_back(static_cast<double>(arrival.at_ns - ends[next]) / 1e6);
  if (next != ends.size())
    give_up("only " + std::to_string(next) + " of " + std::to_string(ends.size()) + " " + what + " seen");
  std::sort(ages_ms.begin(), ages_ms.end());
  const auto at = [&](double q) {
    return ages_ms[static_cast<std::size_t>(q * static_cast<double>(ages_ms.size() - 1))];
  };
  std::printf("window %ld ms, %zu %s, %zu times told: age when first seen p50 %.0f ms, p99 %.0f ms, max %.0f ms\n",
              static_cast<long>(window_ms), ages_ms.size(), what, arrivals.size(), at(0.5), at(0.99), ages_ms.back());
}

int start_worker(aggregator::Options& options, pid_t& pid) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) give_up("no socket pair");
  pid = ::fork();
  if (pid == 0) {
    ::close(pair[0]);
    options.control = pair[1];
    std::_Exit(aggregator::run_worker(options));
  }
  ::close(pair[1]);
  return pair[0];
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  aggregator::Options options;
  options.window_ms = argc > 2 ? std::atol(argv[2]) : 100;
  char directory[] = "/tmp/pclscope-freshness-XXXXXX";
  if (::mkdtemp(directory) == nullptr) give_up("no temporary directory");
  ::setenv("XDG_RUNTIME_DIR", directory, 1);
  options.token = "0000000000000000000000000000" + std::to_string(1000 + ::getpid() % 9000);
  options.job = "freshness";
  options.endpoint = std::string("ipc://") + directory + "/freshness";
  options.ranks = 2;
  pid_t worker = 0;
  const int control = start_worker(options, worker);
  auto subscriber = wire::Subscriber::connect(options.endpoint);
  if (!subscriber) give_up(subscriber.error().message);

  auto sender = open_ring(options.token, 0), receiver = open_ring(options.token, 1);
  std::vector<std::uint64_t> ends;
  const std::uint64_t stop_ns = monotonic_ns() + static_cast<std::uint64_t>(seconds * 1e9);
  std::thread ranks([&] {
    std::mt19937_64 random(1);
    std::exponential_distribution<double> pause(1.0 / 1000.0);  // microseconds
    for (std::uint64_t i = 0; monotonic_ns() < stop_ns; ++i) {
      const std::uint64_t begin = monotonic_ns();
      write(sender, record::EventKind::send, record::Function::Send, begin, begin + 500, i, 1);
      ends.push_back(monotonic_ns());
      write(receiver, record::EventKind::recv_done, record::Function::Recv, begin, ends.back(), i, 0);
      std::this_thread::sleep_for(std::chrono::microseconds(static_cast<long>(pause(random)) + 1));
    }
  });
  const Arrivals arrivals = listen(**subscriber, stop_ns + 1'000'000'000);
  ranks.join();
  sender.segment()->state = receiver.segment()->state = record::ProcessState::finalizing;
  aggregator::FrameSocket anchor(control);
  anchor.queue(aggregator::FrameKind::finished);
  anchor.flush();
  ::waitpid(worker, nullptr, 0);
  const std::string clean = std::string("rm -rf ") + directory;
  [[maybe_unused]] const int removed = std::system(clean.c_str());
  ::unlink(("/dev/shm/" + collect::shm_names(options.token) + "board").c_str());

  tell("messages", arrivals.messages, ends, options.window_ms);
  tell("calls in snapshots", arrivals.calls, ends, options.window_ms);
  tell("calls that were asked for", arrivals.asked, ends, options.window_ms);
  return 0;
}
