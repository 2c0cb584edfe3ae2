#include "analysis/conditions/condition_list.hpp"

#include <algorithm>

namespace pclscope::conditions {
namespace {

constexpr double least_cores = 0.1;       // lost at a time: less is no condition
constexpr double least_share = 0.02;      // of the ranks' time: the same
constexpr double least_throttled = 0.05;  // of a quota's periods
constexpr double of_a_rank = 0.02;        // of its time, to be named among those that it hits
constexpr double busy_threads = 0.2;      // cores used by other threads of a rank's process
constexpr double least_active_s = 1;      // or half of what was observed
constexpr std::size_t most_entries = 256, most_ranks = 64, most_names = 256;

bool holds(const std::vector<std::int32_t>& set, const std::vector<std::int32_t>& part) {
  return std::includes(set.begin(), set.end(), part.begin(), part.end());
}

std::size_t common(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  std::size_t count = 0;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (*x == *y) ++count, ++x, ++y;
    else if (*x < *y) ++x;
    else ++y;
  }
  return count;
}

std::vector<std::size_t> smallest_first(const NodeSlice& slice) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < slice.sets.size(); ++i)
    if (!slice.sets[i].empty()) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return slice.sets[a].size() < slice.sets[b].size(); });
  return order;
}

// FNV-1a, never 0. Aggregators of a node that see the same cores and cgroup have the same.
std::uint64_t key_of(const std::vector<std::int32_t>& cores, const std::string& name) {
  std::uint64_t key = 14695981039346656037ull;
  const auto add = [&key](std::uint32_t value) { key = (key ^ value) * 1099511628211ull; };
  for (const std::int32_t core : cores) add(static_cast<std::uint32_t>(core));
  for (const char c : name) add(static_cast<unsigned char>(c) + 0x10000u);
  return key == 0 ? 1 : key;
}

}  // namespace

double other_cores(const NodeSlice& slice, std::size_t set) {
  const std::vector<std::int32_t>& cores = slice.sets[set];
  const double length = slice.length_s();
  if (slice.busy_s.empty() || cores.empty() || length <= 0) return 0;
  double used = 0;
  for (const std::int32_t core : cores)
    if (static_cast<std::size_t>(core) < slice.busy_s.size()) used += slice.busy_s[static_cast<std::size_t>(core)];
  for (const RankSlice& r : slice.ranks) {
    const std::vector<std::int32_t>& own = slice.sets[r.cores];
    if (!own.empty()) used -= r.process_s * static_cast<double>(common(cores, own)) / static_cast<double>(own.size());
  }
  return std::clamp(used / length, 0.0, static_cast<double>(cores.size()));
}

// Hall's condition for the sets that occur: the ranks whose cores all lie in one of them are not more than it has. What
// a crowd found before holds, ranks and cores, does not count again.
std::vector<Crowd> crowds(const NodeSlice& slice) {
  std::vector<Crowd> found;
  std::vector<char> in_crowd(slice.ranks.size(), false);
  for (const std::size_t set : smallest_first(slice)) {
    const std::vector<std::int32_t>& cores = slice.sets[set];
    std::vector<std::int32_t> free = cores;
    for (const Crowd& crowd : found)
      std::erase_if(
          free, [&](std::int32_t core) { return std::binary_search(crowd.cores.begin(), crowd.cores.end(), core); });
    Crowd crowd;
    for (std::size_t i = 0; i < slice.ranks.size(); ++i)
      if (!in_crowd[i] && holds(cores, slice.sets[slice.ranks[i].cores]) && !slice.sets[slice.ranks[i].cores].empty())
        crowd.ranks.push_back(i);
    if (crowd.ranks.size() <= free.size() || crowd.ranks.size() < 1) continue;
    crowd.cores = cores;
    for (const std::size_t i : crowd.ranks) in_crowd[i] = true;
    found.push_back(std::move(crowd));
  }
  return found;
}

// By rank of the slice. What is taken is taken from all of the ranks in proportion to what they have left.
struct ConditionList::Left {
  std::vector<double> computing, in_mpi;
  std::vector<char> here;

  explicit Left(const NodeSlice& slice) {
    for (const RankSlice& r : slice.ranks) {
      computing.push_back(std::max(0.0, std::min(r.off_computing_s, r.off_core_s)));
      in_mpi.push_back(std::max(0.0, r.off_core_s - computing.back()));
      here.push_back(r.rank >= 0);
    }
  }
  double of(const std::vector<std::size_t>& ranks) const {
    double sum = 0;
    for (const std::size_t i : ranks) sum += computing[i] + in_mpi[i];
    return sum;
  }
  Taken take(const std::vector<std::size_t>& ranks, double most_s) {
    const double all = of(ranks);
    Taken taken;
    if (all <= 0 || most_s <= 0) return taken;
    const double share = std::min(1.0, most_s / all);
    taken.all_s = share * all;
    for (const std::size_t i : ranks) {
      taken.cost_s += here[i] ? share * computing[i] : 0;
      taken.in_mpi_s += here[i] ? share * in_mpi[i] : 0;
      computing[i] *= 1 - share;
      in_mpi[i] *= 1 - share;
    }
    return taken;
  }
};

ConditionList::Entry* ConditionList::charge(Key key, const NodeSlice& slice, const std::vector<std::size_t>& ranks,
                                            const Taken& taken) {
  double observed = 0;
  for (const std::size_t i : ranks) observed += slice.ranks[i].observed_s;
  if (taken.all_s < std::max(least_cores * slice.length_s(), least_share * observed)) return nullptr;
  if (entries_.size() >= most_entries && entries_.find(key) == entries_.end()) return nullptr;
  Entry& e = entries_[key];
  Condition& c = e.sums;
  if (c.active_s == 0) c.begin_s = slice.begin_s;
  c.kind = std::get<ConditionKind>(key);
  c.end_s = slice.end_s;
  c.active_s += slice.length_s();
  c.cost_s += taken.cost_s;
  c.in_mpi_s += taken.in_mpi_s;
  e.all_cost_s += taken.all_s;
  e.observed_s += observed;
  const std::vector<std::int32_t>& cores = std::get<1>(key);
  c.cores = static_cast<std::uint32_t>(cores.size());
  c.core = cores.size() == 1 ? cores.front() : -1;
  for (const std::size_t i : ranks)
    if (slice.ranks[i].rank >= 0 && slice.ranks[i].off_core_s >= of_a_rank * slice.ranks[i].observed_s)
      e.ranks.insert(slice.ranks[i].rank);
  return &e;
}

// What ranks could have used of their cores, less what they were allowed to.
void ConditionList::add_quotas(const NodeSlice& slice, Left& left) {
  for (std::size_t q = 0; q < slice.quotas.size(); ++q) {
    const Quota& quota = slice.quotas[q];
    if (quota.periods == 0) continue;
    const double throttled = static_cast<double>(quota.throttled) / static_cast<double>(quota.periods);
    if (throttled < least_throttled) continue;
    std::vector<std::size_t> ranks;
    std::set<std::int32_t> cores;
    double wanted = 0;
    for (std::size_t i = 0; i < slice.ranks.size(); ++i) {
      const RankSlice& r = slice.ranks[i];
      if (r.quota != static_cast<std::int32_t>(q)) continue;
      ranks.push_back(i);
      wanted += r.off_core_s + std::max(r.running_s, r.process_s);
      cores.insert(slice.sets[r.cores].begin(), slice.sets[r.cores].end());
    }
    const double length = slice.length_s();
    const double could = std::min(wanted, static_cast<double>(cores.size()) * length);
    const Taken taken = left.take(ranks, could - quota.cores * length);
    if (Entry* e = charge({ConditionKind::quota, {cores.begin(), cores.end()}, quota.directory}, slice, ranks, taken)) {
      e->sums.quota_cores = quota.cores;
      e->periods += static_cast<double>(quota.periods);
      e->throttled += static_cast<double>(quota.throttled);
    }
  }
}

// A second of a core that others used is at most a second that a rank lost. Nested sets: each core counts once.
void ConditionList::add_loads(const NodeSlice& slice, Left& left) {
  std::vector<std::pair<std::size_t, double>> counted;  // sets, cores used
  for (const std::size_t set : smallest_first(slice)) {
    const std::vector<std::int32_t>& cores = slice.sets[set];
    double used = other_cores(slice, set);
    for (const auto& [other, its] : counted)
      used -=
          its * static_cast<double>(common(cores, slice.sets[other])) / static_cast<double>(slice.sets[other].size());
    if (used <= 0) continue;
    counted.emplace_back(set, used);
    std::vector<std::size_t> ranks;
    for (std::size_t i = 0; i < slice.ranks.size(); ++i)
      if (slice.ranks[i].cores == set) ranks.push_back(i);
    const Taken taken = left.take(ranks, used * slice.length_s());
    Entry* e = charge({ConditionKind::other_load, cores, ""}, slice, ranks, taken);
    if (e == nullptr) continue;
    e->load_s += used * slice.length_s();
    if (slice.processes.empty()) continue;
    e->processes_known_s += slice.length_s();
    for (const ProcessLoad& p : slice.processes) {
      if (!std::binary_search(cores.begin(), cores.end(), p.core)) continue;
      if (e->processes.size() >= most_names && e->processes.find(p.name) == e->processes.end()) continue;
      Process& of_name = e->processes[p.name];
      of_name.used_s += std::min(p.cores, used) * slice.length_s();
      of_name.pid = p.pid;
    }
  }
}

void ConditionList::add_threads(const NodeSlice& slice, const std::vector<Crowd>& crowded, Left& left) {
  std::map<std::size_t, std::vector<std::size_t>> by_set;
  std::map<std::size_t, double> used;
  for (std::size_t i = 0; i < slice.ranks.size(); ++i) {
    const RankSlice& r = slice.ranks[i];
    const double others = r.process_s - r.running_s;
    if (r.threads < 2 || others < busy_threads * r.observed_s || r.observed_s <= 0) continue;
    if (std::any_of(crowded.begin(), crowded.end(),
                    [&](const Crowd& c) { return std::find(c.ranks.begin(), c.ranks.end(), i) != c.ranks.end(); }))
      continue;
    by_set[r.cores].push_back(i);
    used[r.cores] += others;
  }
  for (const auto& [set, ranks] : by_set) {
    const Taken taken = left.take(ranks, used[set]);
    if (Entry* e = charge({ConditionKind::own_threads, slice.sets[set], ""}, slice, ranks, taken))
      e->load_s += used[set];
  }
}

void ConditionList::add_crowds(const NodeSlice& slice, const std::vector<Crowd>& crowded, Left& left) {
  for (const Crowd& crowd : crowded) {
    const bool one = crowd.cores.size() == 1;
    Taken taken = left.take(crowd.ranks, left.of(crowd.ranks));
    charge({one ? ConditionKind::one_core : ConditionKind::more_ranks_than_cores, crowd.cores, ""}, slice, crowd.ranks,
           taken);
  }
}

// Nothing that can be seen explains it.
void ConditionList::add_rest(const NodeSlice& slice, Left& left) {
  std::map<std::size_t, std::vector<std::size_t>> by_set;
  for (std::size_t i = 0; i < slice.ranks.size(); ++i) by_set[slice.ranks[i].cores].push_back(i);
  for (const auto& [set, ranks] : by_set)
    charge({ConditionKind::other_load, slice.sets[set], "rest"}, slice, ranks, left.take(ranks, left.of(ranks)));
}

void ConditionList::add(const NodeSlice& slice) {
  if (slice.length_s() <= 0) return;
  observed_s_ += slice.length_s();
  until_s_ = slice.end_s;
  Left left(slice);
  const std::vector<Crowd> crowded = crowds(slice);
  add_quotas(slice, left);
  add_loads(slice, left);
  add_threads(slice, crowded, left);
  add_crowds(slice, crowded, left);
  add_rest(slice, left);
}

std::vector<Condition> ConditionList::list(bool over) const {
  std::vector<Condition> list;
  for (const auto& [key, e] : entries_) {
    Condition c = e.sums;
    if (c.active_s < (over ? std::min(least_active_s, observed_s_ / 2) : least_active_s)) continue;
    if (e.all_cost_s < least_share * e.observed_s || c.cost_s + c.in_mpi_s <= 0) continue;
    c.key = key_of(std::get<1>(key), std::get<2>(key));
    c.open = until_s_ - c.end_s < least_active_s;
    c.ranks_met = static_cast<std::uint32_t>(e.ranks.size());
    for (const std::int32_t rank : e.ranks)
      if (c.ranks.size() < most_ranks) c.ranks.push_back(rank);
    c.load = e.load_s / c.active_s;
    for (const auto& [name, process] : e.processes) {
      const double load = process.used_s / e.processes_known_s;
      if (load < std::max(least_cores / 2, c.process_load)) continue;
      c.process = name;
      c.pid = process.pid;
      c.process_load = load;
    }
    c.throttled_share = e.periods > 0 ? e.throttled / e.periods : 0;
    list.push_back(std::move(c));
  }
  std::stable_sort(list.begin(), list.end(), [](const Condition& a, const Condition& b) {
    return a.cost_s != b.cost_s ? a.cost_s > b.cost_s : a.in_mpi_s > b.in_mpi_s;
  });
  return list;
}

}  // namespace pclscope::conditions
