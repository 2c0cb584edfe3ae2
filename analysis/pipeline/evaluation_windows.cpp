// What happens with a window that is over.
#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/pipeline/evaluation_state.hpp"
#include "analysis/values/wait_state.hpp"

namespace pclscope {

namespace {

constexpr std::size_t waiting_calls = 1 << 20;  // of collectives, until their window closes
constexpr double least_to_forget = 1.0 / 64;    // half-lives: weights decay by 1 % at a time

using Wall = std::chrono::steady_clock;

// Sorted by end and rank. A call that completes several nonblocking collectives waits for the last of all that they
// need: the others' waits are the same seconds.
void wait_once(std::span<CollectiveCall> calls) {
  const auto waits = [](const CollectiveCall& c) {
    return c.nonblocking && c.wait() > 0 && group_of(c) == WaitGroup::collective;
  };
  for (std::size_t i = 0; i < calls.size();) {
    std::size_t last = i, end = i + 1;
    for (; end < calls.size() && calls[end].end == calls[i].end && calls[end].rank == calls[i].rank; ++end)
      if (waits(calls[end]) && (!waits(calls[last]) || calls[end].wait() > calls[last].wait())) last = end;
    for (std::size_t other = i; end - i > 1 && other < end; ++other) {
      if (other == last || !waits(calls[other])) continue;
      calls[other].awaited_begin = calls[other].wait_begin();  // whom it needed stays: a replay asks
    }
    i = end;
  }
}

}  // namespace

void Evaluation::State::take_calls(std::span<const CollectiveCall> completed) {
  const std::size_t first = calls.size();
  calls.insert(calls.end(), completed.begin(), completed.end());
  const std::span<CollectiveCall> added(calls.data() + first, completed.size());
  if (options.name_call_sites) options.name_call_sites(added);
  else
    for (CollectiveCall& c : added) c.site = 0;
  collectives_completed += group_of(added.front()) == WaitGroup::collective;
  if (calls.size() <= waiting_calls) return;
  close_calls(std::numeric_limits<std::int64_t>::max());
  look_at_rest();
  follow_delays({}, measured.newest_ns);
}

// Hands on the calls that returned before `end_ns`.
void Evaluation::State::close_calls(std::int64_t end_ns) {
  collectives.pass(end_ns);
  const auto open =
      std::partition(calls.begin(), calls.end(), [&](const CollectiveCall& c) { return c.end >= end_ns; });
  closing_calls.assign(open, calls.end());
  calls.erase(open, calls.end());
  std::sort(closing_calls.begin(), closing_calls.end(), [](const CollectiveCall& a, const CollectiveCall& b) {
    return a.end != b.end ? a.end < b.end : a.rank < b.rank;
  });
  wait_once(closing_calls);
  remember_calls();
  if (options.on_calls && !closing_calls.empty()) options.on_calls(closing_calls);
}

void Evaluation::State::look(std::int64_t begin_ns, std::int64_t end_ns, std::span<const Message> messages) {
  const Stage::Input input{begin_ns,
                           end_ns,
                           messages,
                           closing_calls,
                           application.node_of_rank,
                           regions.id_of_rank(),
                           regions.pattern(),
                           options.at_leisure};
  for (const auto& stage : stages) stage->add(input);
}

void Evaluation::State::look_at_rest() {
  const auto [first, last] = rest();
  look(first, last + 1, {});
}

std::pair<std::int64_t, std::int64_t> Evaluation::State::rest() const {
  std::int64_t first = measured.newest_ns, last = measured.newest_ns;
  for (const CollectiveCall& c : closing_calls) {
    first = std::min(first, c.end);
    last = std::max(last, c.end);
  }
  return {first, last};
}

void Evaluation::State::take_pairs(std::int64_t begin_ns) {
  node_links.advance(measured.newest_ns);
  fold_ranks();
  regions.fold(measured.pairs);
  watch_pattern(begin_ns);
  if (recluster(false)) regions_changed = true;
}

// After fold_ranks(): has the pattern of communication changed, and what does its graph forget?
void Evaluation::State::watch_pattern(std::int64_t begin_ns) {
  begin_ns = std::max(begin_ns, watched_ns == INT64_MIN ? begin_ns : watched_ns + 1);
  if (options.half_life_s > 0 && watched_ns != INT64_MIN)
    to_forget += static_cast<double>(begin_ns - watched_ns) * 1e-9 / options.half_life_s;
  watched_ns = begin_ns;
  if (to_forget >= least_to_forget) {
    const double factor = std::max(std::exp2(-to_forget), std::numeric_limits<double>::min());
    change.forget(factor);
    watch.forget(factor);
    to_forget = 0;
  }
  const auto changed = watch.add(begin_ns, counts);
  // What explains itself needs no memory: only windows in which another pattern may have begun are kept.
  if (changed || watch.keep_from_ns() <= begin_ns) recent_pairs.add(begin_ns, measured.pairs);
  if (changed) {
    change.restart(changed->weights);
    if (!changed->at_start) regions.begin_pattern(changed->begin_ns, measured.pairs, recent_pairs);
  }
  recent_pairs.forget_before(watch.keep_from_ns());
}

void Evaluation::State::close_window(const ClosedWindow& closed) {
  const std::int64_t end_ns = closed.begin_ns + window_ns;
  closed_ns = std::max(closed_ns, closed.begin_ns);
  Window window;
  window.begin_s = static_cast<double>(closed.begin_ns) * 1e-9;
  window.length_s = static_cast<double>(window_ns) * 1e-9;
  const std::uint64_t number = regions.close_window(closed.all, closed.regions, closed.skipped, window);
  close_calls(end_ns);
  look(closed.begin_ns, end_ns, closed.messages);
  attribute(closed.begin_ns, end_ns, closed.messages);
  follow_delays(closed.messages, end_ns);
  attributor.refresh(regions.tracker().regions().size());
  keep(closed, window, number);
  regions_changed = false;  // told
  if (options.on_window) options.on_window(window);
}

void Evaluation::State::follow_delays(std::span<const Message> messages, std::int64_t until_ns) {
  if (options.delay_share <= 0 || (messages.empty() && closing_calls.empty())) return;
  const Wall::time_point start = Wall::now();
  if (delay_time.allows(start) && load == Load::ordinary) delays.add(messages, closing_calls, until_ns);
  else delays.leave_out(messages.size());
  delay_time.used(Wall::now() - start);
}

void Evaluation::State::shed_calls() {
  if (call_log) call_log->shed((load != Load::ordinary || no_time_for_calls) && options.keep != Keep::all);
}

void Evaluation::State::keep_calls(std::int64_t end_ns) {
  if (!call_log) return;
  no_time_for_calls = !calls_time.allows(Wall::now());
  shed_calls();
  const std::uint64_t returned = call_log->take(end_ns);
  retention.add_calls(returned, [this](const MessageRetention::CallSink& sink) {
    const Wall::time_point start = Wall::now();
    call_log->each_taken([&](std::span<MpiCall> calls) {
      if (options.name_mpi_calls) options.name_mpi_calls(calls);
      else
        for (MpiCall& call : calls) call.site = 0;
      sink(calls);
    });
    calls_time.used(Wall::now() - start);
  });
}

// In memory for questions, and in the file as far as the policy goes.
void Evaluation::State::keep(const ClosedWindow& closed, Window& window, std::uint64_t number) {
  std::shared_ptr<const KeptWindow> packed;
  const std::int64_t end_ns = closed.begin_ns + window_ns;
  keep_calls(end_ns);
  if (load == Load::too_high && options.keep != Keep::all && !closed.messages.empty()) {
    window.shed = closed.messages.size();
    if (recent.budget() > 0) recent.add(end_ns, nullptr);
    return retention.shed(window, window.shed, regions.evolutions());
  }
  if (recent.budget() > 0 && !closed.all_there) recent.add(end_ns, nullptr);
  if (recent.budget() > 0 && !closed.messages.empty()) {
    packed = keep_window(closed.begin_ns, end_ns, closed.messages, recent.largest_window());
    recent.add(end_ns, packed);
  }
  retention.add(window, number, closed.messages, regions.id_of_rank(), regions.evolutions(), std::move(packed));
}

void Evaluation::State::fold_ranks() {
  const PairTable& pairs = measured.pairs;
  counts.clear();
  for (const std::uint32_t i : pairs.touched()) {
    const LatencySums& sums = pairs.window(i);
    ranks[pairs.pair(i).source].sent += sums;
    ranks[pairs.pair(i).destination].received += sums;
    const PairTable::Pair& pair = pairs.pair(i);
    node_links.add(application.node_of_rank[pair.source], application.node_of_rank[pair.destination], sums);
    attributor.count(pair.source, pair.destination, application.node_of_rank[pair.source],
                     application.node_of_rank[pair.destination], sums.messages, sums.bytes);
    if (pair.source == pair.destination) continue;
    change.add(i, sums.messages);
    counts.push_back({i, pair.source, pair.destination, sums.messages});
    if (regions.tracker().region_of(pair.source) < 0 || regions.tracker().region_of(pair.destination) < 0)
      change.require();
  }
}

// When the communication graph has changed; never for more than a small share of the time.
bool Evaluation::State::recluster(bool whatever_it_costs) {
  if (measured.pairs.size() == 0) return false;
  if (!whatever_it_costs && !change.changed() && !regions.pattern_waits()) return false;
  const Wall::time_point start = Wall::now();
  if (!whatever_it_costs && start < next_clustering) return false;
  const bool changed = regions.recluster(application.ranks, measured.pairs, change, options.regions, live_margin);
  regions_version += changed;
  change.clustered();
  const Wall::time_point end = Wall::now();
  next_clustering =
      end + std::chrono::duration_cast<Wall::duration>((end - start) * (1 / options.clustering_share - 1));
  return changed;
}

}  // namespace pclscope
