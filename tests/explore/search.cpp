#include "tests/explore/search.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <sstream>

#include "tests/explore/simulated_mpi.hpp"

namespace explore {
namespace {

constexpr double chances[] = {0.01, 0.03, 0.1, 0.3};  // that a fiber is held up, at random
constexpr std::uint32_t first_pid = 1;  // of a process that is there: the first aggregator's, until it is killed

std::vector<int> ranks_with_threads(const Scenario& scenario) {
  std::vector<int> ranks;
  for (const RankKind& kind : scenario.ranks)
    if (kind.threads) ranks.push_back(kind.rank);
  return ranks;
}

}  // namespace

std::string Schedule::text() const {
  std::ostringstream out;
  out << (reader_first ? "aggregator first" : "ranks first");
  if (killed_at != 0) out << ", killed at its step " << killed_at;
  if (seed != 0) out << ", seed " << seed;
  for (const Deviation& d : deviations) out << ", at " << d.step << " fiber " << d.fiber;
  return out.str();
}

Search::Search(const std::string& library, const Scenario& scenario)
    : scenario_(scenario),
      world_(library, scenario.ranks, scenario.attachable, scenario.ring_events, scenario.ring_limit) {}

// The fibers of the ranks, of the aggregator, and of the one that comes after it.
void Search::start_fibers(const Schedule& schedule, Readers& readers) {
  Scheduler& s = Scheduler::the();
  s.clear();
  rank_fibers_.clear();
  std::vector<int> rank_of_fiber;
  const auto ranks_over = [this, &s] {
    const bool over = std::all_of(rank_fibers_.begin(), rank_fibers_.end(), [&](int f) { return s.ended(f); });
    s.saw(over);
    return over;
  };
  const auto threads = ranks_with_threads(scenario_);
  const auto add_reader = [&] {
    const ReaderKind kind{scenario_.attachable, scenario_.killed ? first_pid : world_.own_pid(), threads};
    // Attached, it leaves when a rank has ended: in the middle of the others' messages.
    const auto leave = [this, &s] {
      const bool one = scenario_.attachable &&
                       std::any_of(rank_fibers_.begin(), rank_fibers_.end(), [&](int f) { return s.ended(f); });
      s.saw(one);
      return one;
    };
    rank_of_fiber.push_back(-1);
    first_reader_ =
        s.add(nullptr, {}, [=, this, &readers] { run_reader(world_, kind, ranks_over, leave, readers.first); });
  };
  const auto add_ranks = [&] {
    std::map<int, int> first_of;
    for (const Program& program : scenario_.programs) {
      const bool first = first_of.emplace(program.rank, 0).second;
      const ExploredRank& rank = world_.rank(program.rank);
      rank_of_fiber.push_back(program.rank);
      rank_fibers_.push_back(
          s.add(&rank, first ? world_.first_thread(program.rank) : ThreadState{}, [this, &s, &rank, &program, first] {
            program.run(world_.calls(program.rank));
            if (!first) return;
            const auto others_run = [&] {  // of this rank
              for (std::size_t i = 0; i < rank_fibers_.size(); ++i)
                if (&scenario_.programs[i] != &program && scenario_.programs[i].rank == program.rank &&
                    !s.ended(rank_fibers_[i]))
                  return true;
              return false;
            };
            while (others_run()) s.blocked(false);
            rank.end();
          }));
    }
  };
  if (schedule.reader_first) add_reader();
  add_ranks();
  if (!schedule.reader_first) add_reader();
  second_reader_ = -1;
  if (schedule.killed_at != 0) {
    s.kill_at(first_reader_, schedule.killed_at, [this] { world_.set_dead(first_pid); });
    rank_of_fiber.push_back(-1);
    second_reader_ = s.add(nullptr, {}, [=, this, &s, &readers] {
      while (!s.ended(first_reader_)) s.blocked(false);
      if (ranks_over()) return;
      run_reader(world_, {true, world_.own_pid(), threads}, ranks_over, ranks_over, readers.second);
    });
  }
  SimulatedMpi::the().set_caller([&s, rank_of_fiber] { return rank_of_fiber[static_cast<std::size_t>(s.current())]; });
}

std::optional<std::string> Search::run(const Schedule& schedule) {
  Scheduler& s = Scheduler::the();
  Readers readers;
  readers.first.show = readers.second.show = show_;
  world_.renew();
  start_fibers(schedule, readers);
  const End end =
      schedule.seed != 0 ? s.run_at_random(schedule.seed, chances[schedule.seed % 4]) : s.run(schedule.deviations);
  ++sums_.schedules;
  sums_.steps += s.trace().size();
  for (const Step& step : s.trace()) states_.insert(step.state);
  sums_.states = states_.size();
  std::string wrong;
  if (end == End::stuck) wrong = "nobody can go on";
  if (end == End::too_long) wrong = "no end after 50,000 steps";
  if (wrong.empty() && world_.complained()) wrong = "a rank could not record";
  const bool killed = schedule.killed_at != 0;
  if (wrong.empty()) wrong = judge(readers.first, !killed && !scenario_.attachable);
  if (wrong.empty() && killed) wrong = judge(readers.second, false);
  sums_.matched += readers.first.messages.size() + readers.second.messages.size();
  sums_.ambiguous += readers.first.counts.ambiguous + readers.second.counts.ambiguous;
  if (wrong.empty()) return std::nullopt;
  if (!show_) {  // once more, to see it
    show_ = true;
    run(schedule);
  }
  return scenario_.name + " (" + schedule.text() + "): " + wrong;
}

// `whole`: every message was sent and received within the record.
std::string Search::judge(const Read& read, bool whole) const {
  std::set<std::uint64_t> paired;
  for (const pclscope::Message& m : read.messages) {
    const auto send = read.sends.find({m.source, m.send_begin});
    if (send == read.sends.end()) return "a pair without a send";
    if (send->second != m.bytes)
      return "message " + std::to_string(send->second) + " was paired with the receive of " + std::to_string(m.bytes);
    if (!paired.insert(m.bytes).second) return "message " + std::to_string(m.bytes) + " was paired twice";
  }
  if (read.counts.contradictions != 0) return "the record contradicts itself";
  if (!read.finished || !scenario_.exact) return "";
  // One that was attached may have left before the other rank told its totals.
  if (whole && read.counts.ambiguous != 0) return std::to_string(read.counts.ambiguous) + " messages are ambiguous";
  for (const std::uint64_t serial : read.sent)
    if (read.received.contains(serial) && !paired.contains(serial))
      return "message " + std::to_string(serial) + " has both its events and was not paired";
  const auto& c = read.counts;
  if (whole && c.matched + c.half_recorded + c.unrecorded != SimulatedMpi::the().sent())
    return "the counts add up to " + std::to_string(c.matched + c.half_recorded + c.unrecorded) + " of " +
           std::to_string(SimulatedMpi::the().sent());
  return "";
}

// One more deviation, wherever it may matter: at accesses to what several fibers use and one of them writes, and where
// a fiber had to wait. Not where the same state was left in the same direction before.
void Search::add_children(const Schedule& schedule, std::vector<Schedule>& next) {
  struct Users {
    std::uint32_t all = 0, writers = 0;
  };
  const auto& trace = Scheduler::the().trace();
  std::map<const volatile void*, Users> users;
  for (const Step& step : trace) {
    if (step.forced) continue;
    Users& u = users[step.address];
    u.all |= 1u << step.fiber;
    if (step.writes) u.writers |= 1u << step.fiber;
  }
  const std::size_t from = schedule.deviations.empty() ? 0 : schedule.deviations.back().step + 1;
  for (std::size_t i = from; i < trace.size(); ++i) {
    const Step& step = trace[i];
    if (!step.forced && step.address != nullptr) {
      const Users& u = users[step.address];
      if (u.writers == 0 || std::popcount(u.all) < 2) continue;
    }
    for (int f = 0; f < 32; ++f) {
      if ((step.able >> f & 1) == 0 || f == step.next) continue;
      if (!tried_.insert(step.state * 31 + static_cast<std::uint64_t>(f))) continue;
      Schedule child = schedule;
      child.deviations.push_back({static_cast<std::uint32_t>(i), f});
      next.push_back(std::move(child));
    }
  }
}

// Without deviations: both orders of precedence, and where an aggregator is killed, each of its steps.
std::vector<Schedule> Search::beginnings() {
  std::vector<Schedule> all(2);
  all[1].reader_first = true;
  if (!scenario_.killed) return all;
  std::vector<Schedule> killed;
  for (const Schedule& plain : all) {
    run(plain);
    for (std::uint32_t step = 1; step <= Scheduler::the().own_steps(first_reader_); ++step) {
      killed.push_back(plain);
      killed.back().killed_at = step;
    }
  }
  return killed;
}

std::optional<std::string> Search::exhaust(int deviations, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::vector<Schedule> level = beginnings();
  for (int depth = 0; depth <= deviations && !level.empty(); ++depth) {
    std::vector<Schedule> next;
    for (const Schedule& schedule : level) {
      if (auto wrong = run(schedule)) return wrong;
      if (depth < deviations) add_children(schedule, next);
      if (std::chrono::steady_clock::now() < end) continue;
      sums_.cut_off = true;
      return std::nullopt;
    }
    level = std::move(next);
  }
  return std::nullopt;
}

std::optional<std::string> Search::at_random(std::uint64_t seed, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::vector<Schedule> some = beginnings();
  for (std::uint64_t i = 1; std::chrono::steady_clock::now() < end; ++i) {
    Schedule schedule = some[i % some.size()];
    schedule.seed = seed + i;
    if (auto wrong = run(schedule)) return wrong;
  }
  return std::nullopt;
}

}  // namespace explore
