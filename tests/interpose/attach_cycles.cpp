// An aggregator that does nothing but attach to a job that was only preloaded, match, and detach, again and again; and
// checks every pair: programs whose messages' sizes tell their place in the channel (accounts.c) make a wrong pair
// differ in bytes. Prints a line per session and one for all:
//   attach_cycles JOB CYCLES ON_MS OFF_MS [die|blind|ahead]
// JOB: beginning of a name. die: leaves without a word every other time. blind: every time it does so first in a
// session of its own, in which it looks for no rings. ahead: the sender may be so far ahead that a session ends without
// a pair. Status 0: all sessions were entered by all ranks, something was matched, nothing wrongly.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <tuple>

#include "analysis/collect/collector.hpp"
#include "analysis/collect/dormant.hpp"
#include "analysis/match/collectives.hpp"
#include "analysis/match/matcher.hpp"

namespace {

using namespace pclscope;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Totals {
  std::uint64_t events = 0, sends = 0, matched = 0, wrong = 0, ambiguous = 0, half = 0, unrecorded = 0, lost = 0,
                dropped = 0;
  std::uint64_t collectives = 0, incomplete = 0, abandoned = 0;
  std::uint32_t recording = 0;
  void add(const Totals& t) {
    events += t.events, sends += t.sends, matched += t.matched, wrong += t.wrong, ambiguous += t.ambiguous;
    half += t.half, unrecorded += t.unrecorded, lost += t.lost, dropped += t.dropped;
    collectives += t.collectives, incomplete += t.incomplete, abandoned += t.abandoned;
  }
  void print(const char* what) const {
    std::printf(
        "%s recording %u events %llu sends %llu matched %llu wrong %llu ambiguous %llu half %llu unrecorded %llu "
        "lost %llu dropped %llu collectives %llu incomplete %llu abandoned %llu\n",
        what, recording, static_cast<unsigned long long>(events), static_cast<unsigned long long>(sends),
        static_cast<unsigned long long>(matched), static_cast<unsigned long long>(wrong),
        static_cast<unsigned long long>(ambiguous), static_cast<unsigned long long>(half),
        static_cast<unsigned long long>(unrecorded), static_cast<unsigned long long>(lost),
        static_cast<unsigned long long>(dropped), static_cast<unsigned long long>(collectives),
        static_cast<unsigned long long>(incomplete), static_cast<unsigned long long>(abandoned));
    std::fflush(stdout);
  }
};

class Session {
 public:
  Session(const std::string& token, std::int32_t ranks)
      : collector_(token),
        matcher_(ranks, [this](std::span<const Message> messages) { check(messages); }),
        collectives_(ranks),
        ranks_(ranks) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) matcher_.set_node(rank, 0);
  }

  void round() {
    collector_.discover([this](collect::SegmentFile& segment) {
      if (segment.header().threads == record::Threads::many) matcher_.set_threads(segment.rank(), true);
    });
    totals.events += collector_.drain(~0ull, [this](std::int32_t rank, std::uint32_t thread, auto events) {
      for (const record::Event& e : events) note(rank, e);
      matcher_.add(rank, thread, events);
    });
    std::map<std::int32_t, std::pair<std::uint64_t, bool>> state;
    for (const auto& segment : collector_.segments()) {
      auto& [dropped, muted] = state[segment->rank()];
      dropped += segment->header().dropped.load(std::memory_order_acquire);
      muted |= segment->header().muted.load(std::memory_order_acquire) != 0;
    }
    totals.dropped = 0;
    for (const auto& [rank, told] : state) {
      totals.dropped += told.first;
      matcher_.note_drop(rank, told.first);
      matcher_.note_muted(rank, told.second);
    }
    matcher_.end_round(true);
  }
  void of(std::uint32_t number) { collector_.set_session(number); }
  bool empty() const { return collector_.empty(); }
  bool has_matched() const { return matcher_.counts().matched > 0; }
  bool has_ambiguous() const { return matcher_.counts().ambiguous > 0; }
  void finish() {
    matcher_.finish();
    const MatchCounts counts = matcher_.counts();
    totals.matched = counts.matched;
    totals.ambiguous = counts.ambiguous;
    totals.half = counts.half_recorded;
    totals.unrecorded = counts.unrecorded;
    totals.collectives = collectives_.completed();
    totals.incomplete = collectives_.incomplete();
    totals.abandoned = collectives_.abandoned();
  }

  Totals totals;

 private:
  using Place = std::tuple<std::uint64_t, std::int32_t, std::int32_t, std::int64_t>;  // comm, source, tag, begin

  void note(std::int32_t rank, const record::Event& e) {
    collectives_.add(rank, e);
    totals.lost += e.kind == record::EventKind::lost && (e.flags & record::flag::summarised) == 0;
    if (e.kind != record::EventKind::send) return;
    ++totals.sends;
    sent_[{e.comm, rank, e.tag, static_cast<std::int64_t>(e.begin)}].insert(e.bytes);
  }
  void check(std::span<const Message> messages) {
    for (const Message& m : messages) {
      const auto found = sent_.find({m.comm, m.source, m.tag, m.send_begin});
      const bool right = found != sent_.end() && found->second.contains(m.bytes);
      if (!right && totals.wrong++ < 5)
        std::printf("wrong: comm %llx %d -> %d tag %d: %llu bytes received, %llu sent\n",
                    static_cast<unsigned long long>(m.comm), m.source, m.destination, m.tag,
                    static_cast<unsigned long long>(m.bytes),
                    static_cast<unsigned long long>(found != sent_.end() ? *found->second.begin() : 0));
      if (right) found->second.erase(found->second.find(m.bytes));
      if (right && found->second.empty()) sent_.erase(found);
    }
  }

  collect::Collector collector_;
  Matcher matcher_;
  Collectives collectives_;
  std::int32_t ranks_;
  std::map<Place, std::multiset<std::uint64_t>> sent_;
};

bool find(const char* name, collect::DormantJob& found) {
  for (int i = 0; i < 30'000; ++i) {
    for (const collect::DormantJob& job : collect::dormant_jobs()) {
      if (job.name.starts_with(name) && job.living == static_cast<std::uint32_t>(job.node_ranks)) {
        found = job;
        return true;
      }
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

// As one that is killed when it has just begun.
void blind_session(collect::BoardFile& board, milliseconds on) {
  if (!collect::begin_session(board, static_cast<std::uint32_t>(::getpid()))) std::exit(1);
  std::this_thread::sleep_for(on);
}

Totals one_session(const collect::DormantJob& job, collect::BoardFile& board, milliseconds on, bool orderly,
                   bool far_ahead) {
  Session session(job.token, job.ranks);
  const auto number = collect::begin_session(board, static_cast<std::uint32_t>(::getpid()));
  if (!number) {
    std::printf("%s\n", number.error().message.c_str());
    std::exit(1);
  }
  session.of(*number);
  // On a busy machine a rank may not come to its next MPI call in that time; and where the sender may be far ahead,
  // what is sent in the session is not received in it.
  const auto end = Clock::now() + on, patience = end + std::chrono::seconds(120);
  const auto some_time = end + std::chrono::seconds(2), match = far_ahead ? some_time : patience;
  const auto wanted = [&](Clock::time_point now) {
    if (now < end) return true;
    if (session.totals.recording < static_cast<std::uint32_t>(job.node_ranks)) return now < patience;
    if (now > some_time && session.has_ambiguous()) return false;  // threads that were late may make it all ambiguous
    return now < match && !session.has_matched();
  };
  while (wanted(Clock::now())) {
    session.round();
    session.totals.recording = std::max(session.totals.recording, collect::progress(board).recording);
    std::this_thread::sleep_for(milliseconds(1));
  }
  if (orderly) {
    collect::end_session(board, *number);
    const auto limit = Clock::now() + std::chrono::seconds(120);
    while ((collect::progress(board).recording != 0 || !session.empty()) && Clock::now() < limit) {
      session.round();
      std::this_thread::sleep_for(milliseconds(1));
    }
  }
  session.round();
  session.round();
  session.finish();
  return session.totals;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const int cycles = std::atoi(argv[2]);
  const milliseconds on(std::atoi(argv[3])), off(std::atoi(argv[4]));
  const bool die = argc > 5 && std::strcmp(argv[5], "die") == 0;
  const bool blind = argc > 5 && std::strcmp(argv[5], "blind") == 0;
  const bool far_ahead = argc > 5 && std::strcmp(argv[5], "ahead") == 0;
  collect::DormantJob job;
  if (!find(argv[1], job)) {
    std::printf("no job %s with all its ranks appeared in five minutes\n", argv[1]);
    return 1;
  }
  auto board = collect::BoardFile::open_existing(job.token);
  if (!board) return 1;
  Totals all;
  all.recording = ~0u;
  for (int i = 0; i < cycles; ++i) {
    std::this_thread::sleep_for(off);
    collect::describe(**board, job);
    if (job.living < static_cast<std::uint32_t>(job.node_ranks)) {
      std::printf("the job ended after %d sessions\n", i);
      return 1;
    }
    if (blind) blind_session(**board, on);
    const Totals totals = one_session(job, **board, on, !die || i % 2 == 1, far_ahead);
    totals.print("session");
    all.add(totals);
    all.recording = std::min(all.recording, totals.recording);
  }
  if (blind) blind_session(**board, on);
  all.print("all");
  return all.wrong == 0 && all.matched > 0 && all.recording == static_cast<std::uint32_t>(job.node_ranks) ? 0 : 1;
}
