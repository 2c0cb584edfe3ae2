#include "analysis/conditions/sampler.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace pclscope::conditions {
namespace {

constexpr std::int64_t most_often_ns = 10'000'000;
constexpr double looks_share = 0.4;  // of what samples may take
constexpr std::int64_t tell_every_ns = 50'000'000;
constexpr std::int64_t where_every_ns = 2'000'000'000;
constexpr std::int64_t look_every_ns = 1'000'000'000, first_look_ns = 250'000'000;
constexpr std::int64_t least_slice_ns = 100'000'000;
constexpr double high = 0.05;  // off the core: then others are looked for
constexpr std::size_t most_processes_kept = 64;

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

// Processor time that this thread has used since it was made.
class Cost {
 public:
  std::chrono::nanoseconds so_far() const { return now() - start_; }
  // A pause after it so long that it takes `share` of the time.
  std::int64_t pause_ns(double share) const {
    return static_cast<std::int64_t>(static_cast<double>(so_far().count()) / share);
  }

 private:
  static std::chrono::nanoseconds now() {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
  }
  std::chrono::nanoseconds start_ = now();
};

}  // namespace

Sampler::Sampler(const std::string& root, double ticks_per_s, double share)
    : tree_(root),
      ticks_per_s_(ticks_per_s > 0 ? ticks_per_s : static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)))),
      share_(share),
      busy_file_(tree_.busy()) {}

bool Sampler::add(std::int32_t rank, const record::SegmentHeader& header, const std::string& executable) {
  if (by_rank_.count(rank) != 0 || header.thread != 0) return false;
  const std::uint32_t pid = header.pid;
  if (!executable.empty() && !tree_.is_process(pid, executable)) return false;
  auto one = std::make_unique<Rank>();
  one->rank = rank;
  one->pid = pid;
  one->header = &header;
  one->schedstat = tree_.schedstat(pid, pid);
  one->stat = tree_.stat(pid);
  if (!one->schedstat.open()) return false;
  one->binding = tree_.allowed(pid);  // looked at again now and then; the job may be over before
  by_rank_[rank] = one.get();
  ranks_.push_back(std::move(one));
  next_sample_ns_ = next_where_ns_ = INT64_MIN;
  return true;
}

CoreTimes Sampler::times(std::int32_t rank) const {
  const auto found = by_rank_.find(rank);
  return found == by_rank_.end() ? CoreTimes() : found->second->times();
}

std::int64_t Sampler::alive_until_ns(std::int32_t rank) const {
  const auto found = by_rank_.find(rank);
  return found != by_rank_.end() && found->second->died ? found->second->last_ns : INT64_MAX;
}

std::optional<RankBinding> Sampler::binding_news(std::int32_t rank) {
  const auto found = by_rank_.find(rank);
  if (found == by_rank_.end() || found->second->binding.empty()) return std::nullopt;
  if (std::exchange(found->second->binding_told, true)) return std::nullopt;
  return RankBinding{rank, ranges_of(found->second->binding), found->second->binding_changes};
}

std::vector<RankBinding> Sampler::bindings() const {
  std::vector<RankBinding> list;
  for (const auto& one : ranks_)
    if (!one->binding.empty()) list.push_back({one->rank, ranges_of(one->binding), one->binding_changes});
  std::sort(list.begin(), list.end(), [](const RankBinding& a, const RankBinding& b) { return a.rank < b.rank; });
  return list;
}

// The kernel brings the two up to date now and then, one not when the other: together they are not more than was
// observed.
CoreTimes Sampler::Rank::times() const {
  CoreTimes t;
  if (!begun) return t;
  t.observed_ns = last_ns - first_ns;
  t.running_ns = std::clamp<std::int64_t>(last.ran_ns - first.ran_ns, 0, t.observed_ns);
  t.off_core_ns = std::clamp<std::int64_t>(last.waited_ns - first.waited_ns, 0, t.observed_ns - t.running_ns);
  t.off_computing_ns = std::min(static_cast<std::int64_t>(off_computing_ns), t.off_core_ns);
  t.off_computing_least_ns = std::min(static_cast<std::int64_t>(off_least_ns), t.off_computing_ns);
  t.off_computing_most_ns = std::clamp(static_cast<std::int64_t>(off_most_ns), t.off_computing_ns, t.off_core_ns);
  t.other_load = other_of_s > 0 ? other_s / other_of_s : 0;
  return t;
}

// Of a wait on the run queue that was told now, how much was outside MPI. Exact when the thread was all the time in
// the same call, or in none; or off its core already when it was read before: it could not leave. Else the mean of
// before and now.
double Sampler::share_outside(const Rank& rank, bool inside, std::uint64_t since, std::int64_t waited,
                              std::int64_t dt) const {
  if (waited > dt) return rank.was_inside ? 0 : 1;
  if (since == rank.was_since && inside == rank.was_inside) return inside ? 0 : 1;
  return 0.5 * ((inside ? 0 : 1) + (rank.was_inside ? 0 : 1));
}

void Sampler::read(Rank& rank, std::int64_t now_ns) {
  if (rank.over) return;
  const bool known = rank.header != nullptr;  // else nothing of what it loses is counted here
  const record::ProcessState state =
      known ? rank.header->state.load(std::memory_order_acquire) : record::ProcessState::running;
  const bool inside = known && rank.header->call_function.load(std::memory_order_relaxed) != 0;
  const std::uint64_t since = known ? rank.header->call_since.load(std::memory_order_relaxed) : 0;
  const Idle idle = known ? idle_of(*rank.header) : Idle();
  std::array<char, 128> buffer;
  const auto times = parse_schedstat(rank.schedstat.read(buffer.data(), buffer.size()));
  // In MPI_Finalize it waits for us.
  rank.over = !times || state == record::ProcessState::finalizing || state == record::ProcessState::left;
  if (!times) {
    rank.died = rank.begun;
    return;
  }
  if (!rank.begun) {
    rank.begun = true;
    rank.first = rank.last = *times;
    rank.first_ns = rank.last_ns = rank.told_ns = now_ns;
    rank.idle = idle;
    if (inside_ && known) rank.inside_first_ns = inside_(rank.rank, inside ? since : 0, now_ns);
  } else if (now_ns > rank.last_ns) {
    const std::int64_t waited = times->waited_ns - rank.last.waited_ns, dt = now_ns - rank.last_ns;
    if (waited > 0)
      rank.off_computing_ns += static_cast<double>(waited) * share_outside(rank, inside, since, waited, dt);
    bound_off_computing(rank, {known, inside, state == record::ProcessState::finalizing, since, idle, *times, now_ns});
    rank.last = *times;
    rank.last_ns = now_ns;
  }
  rank.was_inside = inside;
  rank.was_since = since;
}

void Sampler::tell_of(Rank& rank, const Tell& tell) {
  if (rank.last_ns <= rank.told_ns) return;
  const double off = rank.off_computing_ns - rank.told_off_ns;
  const auto ns = std::clamp<std::int64_t>(static_cast<std::int64_t>(off), 0, rank.last_ns - rank.told_ns);
  if (tell) tell({rank.rank, rank.told_ns, rank.last_ns, ns});
  rank.told_off_ns = std::max(rank.told_off_ns, rank.off_computing_ns);
  rank.told_ns = rank.last_ns;
}

void Sampler::read_all(std::int64_t now_ns, const Tell& tell) {
  for (const auto& rank : ranks_) {
    read(*rank, now_ns);
    if (rank->last_ns - rank->told_ns >= tell_every_ns || rank->over) tell_of(*rank, tell);
  }
  until_ns_ = now_ns;
  ++samples_;
}

void Sampler::sample(std::int64_t now_ns, const Tell& tell) {
  if (over_ || ranks_.empty() || now_ns < next_sample_ns_) return;
  const Cost cost;
  read_all(now_ns, tell);
  next_sample_ns_ = now_ns + std::max(most_often_ns, cost.pause_ns(share_));
  if (!sliced_) begin_slice(now_ns);
  else if (now_ns - slice_begin_ns_ >= slice_ns) close_slice(now_ns);
  spent_ += cost.so_far();
}

void Sampler::finish(std::int64_t now_ns, const Tell& tell) {
  if (over_) return;
  over_ = true;
  read_all(now_ns, nullptr);
  for (const auto& rank : ranks_) tell_of(*rank, tell);
  if (sliced_ && now_ns - slice_begin_ns_ >= least_slice_ns) close_slice(now_ns);
  else conditions_ = list_.list();
}

bool Sampler::is_of_job(std::uint32_t pid) const {
  const auto has = [pid](const auto& rank) { return rank->pid == pid; };
  return std::any_of(ranks_.begin(), ranks_.end(), has) || std::any_of(elsewhere_.begin(), elsewhere_.end(), has);
}

bool Sampler::find_others(std::int64_t now_ns) {
  if (!others_of_job_) return false;
  const std::size_t before = elsewhere_.size();
  for (const std::uint32_t pid : others_of_job_()) {
    if (is_of_job(pid)) continue;
    auto one = std::make_unique<Rank>();
    one->rank = -1;
    one->pid = pid;
    one->schedstat = tree_.schedstat(pid, pid);
    one->stat = tree_.stat(pid);
    if (!one->schedstat.open()) continue;
    read(*one, now_ns);
    read_use(*one);
    next_where_ns_ = INT64_MIN;
    elsewhere_.push_back(std::move(one));
  }
  return elsewhere_.size() > before;
}

// Where ranks may run, and under what quota; both may be changed from outside.
void Sampler::look_where() {
  sets_.clear();
  quotas_.clear();
  for (const auto* list : {&ranks_, &elsewhere_})
    for (const auto& rank : *list) {
      // One that has ended stays where it was: the slice has it still.
      std::vector<std::int32_t> allowed = rank->over ? std::vector<std::int32_t>() : tree_.allowed(rank->pid);
      if (!allowed.empty() && allowed != rank->binding) {
        rank->binding_changes += rank->binding.empty() ? 0 : 1;
        rank->binding_told = false;
        rank->binding = allowed;
      }
      if (!allowed.empty()) rank->allowed = std::move(allowed);
      const auto set = std::find(sets_.begin(), sets_.end(), rank->allowed);
      rank->cores = static_cast<std::size_t>(set - sets_.begin());
      if (set == sets_.end()) sets_.push_back(rank->allowed);
      rank->quota = -1;
      if (rank->over) continue;
      const auto quota = tree_.quota(rank->pid);
      if (!quota) continue;
      const auto known =
          std::find_if(quotas_.begin(), quotas_.end(), [&](const Quota& q) { return q.directory == quota->directory; });
      rank->quota = static_cast<std::int32_t>(known - quotas_.begin());
      if (known == quotas_.end()) quotas_.push_back(*quota);
    }
}

double Sampler::read_use(Rank& rank) {
  std::array<char, 2048> buffer;
  const auto stat = parse_stat(rank.stat.read(buffer.data(), buffer.size()));
  if (!stat) return 0;
  rank.threads = stat->threads;
  const std::uint64_t before = std::exchange(rank.used_ticks, stat->used_ticks);
  return static_cast<double>(stat->used_ticks - std::min(before, stat->used_ticks)) / ticks_per_s_;
}

std::vector<double> Sampler::read_busy() {
  std::vector<char> buffer(std::size_t{1} << 16);
  const std::vector<std::uint64_t> before =
      std::exchange(busy_, parse_busy(busy_file_.read(buffer.data(), buffer.size())));
  std::vector<double> used;
  if (before.size() == busy_.size())
    for (std::size_t core = 0; core < busy_.size(); ++core)
      used.push_back(static_cast<double>(busy_[core] - std::min(before[core], busy_[core])) / ticks_per_s_);
  return used;
}

void Sampler::begin_slice(std::int64_t now_ns) {
  slice_begin_ns_ = now_ns;
  find_others(now_ns);
  for (const auto* list : {&ranks_, &elsewhere_}) {
    for (const auto& rank : *list) {
      rank->at_slice = rank->times();
      if (!sliced_) read_use(*rank);
    }
  }
  if (!sliced_) read_busy();
  sliced_ = true;
  if (now_ns < next_where_ns_) return;
  const Cost cost;
  look_where();
  next_where_ns_ = now_ns + std::max(where_every_ns, cost.pause_ns(looks_share * share_));
}

// What others of the job did before they were found is not known: such a slice does not count.
void Sampler::close_slice(std::int64_t now_ns) {
  if (find_others(now_ns)) {
    sliced_ = false;
    return begin_slice(now_ns);
  }
  // A rank that came after the slice had begun.
  if (std::any_of(ranks_.begin(), ranks_.end(), [](const auto& rank) { return rank->allowed.empty(); })) look_where();
  NodeSlice slice;
  slice.begin_s = seconds(slice_begin_ns_);
  slice.end_s = seconds(now_ns);
  slice.sets = sets_;
  for (const auto& rank : elsewhere_) read(*rank, now_ns);
  for (const auto* list : {&ranks_, &elsewhere_})
    for (const auto& rank : *list) {
      const CoreTimes now = rank->times(), &then = rank->at_slice;
      const double used_s = read_use(*rank);
      RankSlice r;
      r.rank = rank->rank;
      r.cores = rank->cores;
      r.observed_s = seconds(now.observed_ns - then.observed_ns);
      if (r.observed_s <= 0 || rank->cores >= sets_.size() || rank->allowed.empty()) continue;
      r.running_s = std::max(0.0, seconds(now.running_ns - then.running_ns));
      r.off_core_s = std::clamp(seconds(now.off_core_ns - then.off_core_ns), 0.0, r.observed_s);
      r.off_computing_s = std::clamp(seconds(now.off_computing_ns - then.off_computing_ns), 0.0, r.off_core_s);
      r.process_s = std::max(r.running_s, used_s);
      r.threads = rank->threads;
      r.quota = rank->quota;
      slice.ranks.push_back(r);
    }
  slice.busy_s = read_busy();
  for (Quota& quota : quotas_) {
    const Quota then = quota;
    if (const auto now = tree_.quota_of(then.directory)) quota = *now;
    Quota& change = slice.quotas.emplace_back(quota);
    change.periods -= std::min(then.periods, quota.periods);
    change.throttled -= std::min(then.throttled, quota.throttled);
  }
  look_for_others(slice);
  for (const RankSlice& r : slice.ranks) {
    if (r.rank < 0 || sets_[r.cores].empty()) continue;
    Rank& rank = *by_rank_[r.rank];
    rank.other_s += other_cores(slice, r.cores) / static_cast<double>(sets_[r.cores].size()) * slice.length_s();
    rank.other_of_s += slice.length_s();
  }
  list_.add(slice);
  conditions_ = list_.list(over_);
  begin_slice(now_ns);
}

// Who else runs where ranks wait: only when they do, and seldom, as each process is a file to be opened.
void Sampler::look_for_others(NodeSlice& slice) {
  const bool needed = std::any_of(slice.ranks.begin(), slice.ranks.end(),
                                  [](const RankSlice& r) { return r.off_core_s > high * r.observed_s; });
  if (!needed) {
    others_.clear();
    return;
  }
  const auto now_ns = static_cast<std::int64_t>(slice.end_s * 1e9);
  if (now_ns < next_look_ns_) {
    slice.processes = others_;
    return;
  }
  const Cost cost;
  std::unordered_map<std::uint32_t, std::uint64_t> used;
  std::vector<ProcessLoad> found;
  const bool first = used_.empty();
  const double since_s = seconds(now_ns - used_at_ns_);
  for (const std::uint32_t pid : tree_.processes()) {
    if (is_of_job(pid)) continue;
    const auto stat = tree_.process(pid);
    if (!stat) continue;
    used[pid] = stat->used_ticks;
    const auto before = used_.find(pid);
    const std::uint64_t then = before == used_.end() ? 0 : before->second;
    if (first || since_s <= 0 || stat->used_ticks <= then) continue;
    found.push_back(
        {pid, stat->name, stat->core, static_cast<double>(stat->used_ticks - then) / ticks_per_s_ / since_s});
  }
  std::sort(found.begin(), found.end(), [](const ProcessLoad& a, const ProcessLoad& b) { return a.cores > b.cores; });
  if (found.size() > most_processes_kept) found.resize(most_processes_kept);
  used_ = std::move(used);
  used_at_ns_ = now_ns;
  others_ = found;
  slice.processes = std::move(found);
  next_look_ns_ = now_ns + std::max(first ? first_look_ns : look_every_ns, cost.pause_ns(looks_share * share_));
}

}  // namespace pclscope::conditions
