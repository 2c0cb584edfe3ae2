// What happens when a window is over: its messages are judged, and folded into pairs, ranks, regions.
#include <algorithm>
#include <limits>

#include "analysis/pipeline/pipeline_state.hpp"

namespace pclscope {

namespace {

constexpr std::size_t waiting_calls = 1 << 20;  // of collectives, until their window closes
constexpr double clustering_share = 0.05;       // of wall time

using Wall = std::chrono::steady_clock;

}  // namespace

void Pipeline::State::take_calls(std::span<const CollectiveCall> completed) {
  const std::size_t first = calls.size();
  calls.insert(calls.end(), completed.begin(), completed.end());
  const std::span<CollectiveCall> added(calls.data() + first, completed.size());
  if (options.name_call_sites) options.name_call_sites(added);
  else
    for (CollectiveCall& c : added) c.site = 0;
  ++collective_totals.operations;
  if (calls.size() <= waiting_calls) return;
  close_calls(std::numeric_limits<std::int64_t>::max());
  follow_delays({}, newest_ns);
}

// Hands on the calls that returned before `end_ns`.
void Pipeline::State::close_calls(std::int64_t end_ns) {
  const auto open =
      std::partition(calls.begin(), calls.end(), [&](const CollectiveCall& c) { return c.end >= end_ns; });
  closing_calls.assign(open, calls.end());
  calls.erase(open, calls.end());
  std::sort(closing_calls.begin(), closing_calls.end(), [](const CollectiveCall& a, const CollectiveCall& b) {
    return a.end != b.end ? a.end < b.end : a.rank < b.rank;
  });
  for (const CollectiveCall& c : closing_calls) {
    ++collective_totals.calls;
    collective_totals.wait_s += static_cast<double>(c.wait()) * 1e-9;
    ranks[c.rank].collective_wait_ns += c.wait();
  }
  if (options.on_calls && !closing_calls.empty()) options.on_calls(closing_calls);
}

void Pipeline::State::close_windows(std::int64_t now_ns) {
  OpenWindows::Closed closed;
  while (windows.close(now_ns, closed)) close_window(closed);
}

void Pipeline::State::close_window(OpenWindows::Closed& closed) {
  criteria.refresh();
  for (Message& m : closed.messages) {
    const double ratio = judge(m);
    if (ratio > 0) worst.add(m, ratio);
  }
  if (options.role == PipelineRole::node) {
    hand_on(closed);
  } else {
    worst.close_window(closed.begin_ns + windows.length_ns());
    fold_pairs();
    ClosedWindow window{closed.begin_ns, closed.skipped, {}, {}, closed.messages, true};
    const std::vector<RegionSums> sums = pairs.region_sums(regions.id_of_rank(), window.all);
    window.sums = sums;
    pairs.clear_window();
    finish_window(window);
  }
  windows.recycle(std::move(closed.messages));
}

void Pipeline::State::fold_pairs() {
  node_links.advance(newest_ns);
  pairs.fold_window();
  fold_ranks();
  recluster(live_margin, false);
  if (!regions_changed) regions.fold(pairs);
}

void Pipeline::State::finish_window(const ClosedWindow& closed) {
  const std::int64_t end_ns = closed.begin_ns + windows.length_ns();
  Window window;
  window.begin_s = static_cast<double>(closed.begin_ns) * 1e-9;
  window.length_s = static_cast<double>(windows.length_ns()) * 1e-9;
  const std::uint64_t number = regions.close_window(closed.all, closed.sums, closed.skipped, window);
  close_calls(end_ns);
  attribute(closed.begin_ns, end_ns, closed.messages);
  order(closed.messages, end_ns, closed.all_there);
  follow_delays(closed.messages, end_ns);
  attributor.refresh(regions.tracker().regions().size());
  keep(closed, window, number);
  if (options.on_window) options.on_window(window);
}

void Pipeline::State::follow_delays(std::span<const Message> messages, std::int64_t until_ns) {
  if (options.delay_share <= 0 || (messages.empty() && closing_calls.empty())) return;
  const Wall::time_point start = Wall::now();
  if (delay_time.allows(start)) delays.add(messages, closing_calls, until_ns);
  else delays.leave_out(messages.size());
  delay_time.used(Wall::now() - start);
}

void Pipeline::State::order(std::span<const Message> messages, std::int64_t until_ns, bool all_there) {
  if (options.order_share <= 0 || recent.budget() == 0) return;
  const Wall::time_point start = Wall::now();
  const bool in_time = order_time.allows(start);
  const auto in_memory = [&](const JobClocks::Visit& visit) {
    recent.between(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), visit);
  };
  if (regions_changed) {
    clocks.set_regions(regions.tracker().regions(),
                       in_time ? std::function<void(const JobClocks::Visit&)>(in_memory) : nullptr);
    if (!in_time) clocks.leave_out(until_ns);
  }
  if (in_time) clocks.add(messages, regions.id_of_rank());
  if (!all_there || (!in_time && !messages.empty())) clocks.leave_out(until_ns);
  if (recent.complete_from_ns() != std::numeric_limits<std::int64_t>::min())
    clocks.forget_before(recent.complete_from_ns());
  order_time.used(Wall::now() - start);
}

// In memory for questions, and in the file as far as the policy goes.
void Pipeline::State::keep(const ClosedWindow& closed, const Window& window, std::uint64_t number) {
  std::shared_ptr<const KeptWindow> packed;
  const std::int64_t end_ns = closed.begin_ns + windows.length_ns();
  if (recent.budget() > 0 && !closed.all_there) recent.add(end_ns, nullptr);
  if (recent.budget() > 0 && !closed.messages.empty()) {
    packed = keep_window(closed.begin_ns, end_ns, closed.messages, recent.largest_window());
    recent.add(end_ns, packed);
  }
  retention.add(window, number, closed.messages, regions.id_of_rank(), regions.evolutions(), std::move(packed));
}

double Pipeline::State::ratio_of(const Message& m) const {
  if (m.flags & message_flag::no_latency) return 0;
  return static_cast<double>(m.time()) * criteria.inverse_ns(m.flags & message_flag::inter_node, m.bytes).time;
}

// Adds the message to its pair. Returns its ratio, 0 when it has no latency.
double Pipeline::State::judge(Message& m) {
  LatencySums& sums = pairs.window_sums(m.source, m.destination);
  ++sums.messages;
  sums.bytes += m.bytes;
  if (m.flags & message_flag::no_latency) {
    sites.add(m, {}, 0);
    return 0;
  }
  const double ratio = ratio_of(m);
  if (from_file == 0 && ratio > 1) m.flags |= message_flag::delayed;
  const WaitSplit split = wait_split(m);
  sums.delayed += (m.flags & message_flag::delayed) != 0;
  ++sums.timed;
  sums.ratio += ratio;
  sums.transfer_ratio +=
      static_cast<double>(split.transfer) * criteria.inverse_ns(m.flags & message_flag::inter_node, m.bytes).transfer;
  sums.late_sender_ns += split.late_sender;
  sums.late_receiver_ns += split.late_receiver;
  sums.transfer_ns += split.transfer;
  sites.add(m, split, ratio);
  return ratio;
}

void Pipeline::State::fold_ranks() {
  for (const std::uint32_t i : pairs.touched()) {
    const LatencySums& sums = pairs.window(i);
    ranks[pairs.pair(i).source].sent += sums;
    ranks[pairs.pair(i).destination].received += sums;
    totals.delayed += sums.delayed;
    ratio_sum += sums.ratio;
    timed += sums.timed;
    const PairTable::Pair& pair = pairs.pair(i);
    node_links.add(application.node_of_rank[pair.source], application.node_of_rank[pair.destination], sums);
    attributor.count(pair.source, pair.destination, application.node_of_rank[pair.source],
                     application.node_of_rank[pair.destination], sums.messages, sums.bytes);
    if (pair.source == pair.destination) continue;
    change.add(i, sums.messages);
    if (regions.tracker().region_of(pair.source) < 0 || regions.tracker().region_of(pair.destination) < 0)
      change.require();
  }
}

// When the communication graph has changed; never for more than a small share of the time.
void Pipeline::State::recluster(double margin, bool whatever_it_costs) {
  regions_changed = false;
  if (pairs.size() == 0) return;
  if (!whatever_it_costs && !change.changed()) return;
  const Wall::time_point start = Wall::now();
  if (!whatever_it_costs && start < next_clustering) return;
  regions_changed = regions.recluster(application.ranks, pairs, options.regions, margin);
  regions_version += regions_changed;
  change.clustered();
  const Wall::time_point end = Wall::now();
  next_clustering = end + std::chrono::duration_cast<Wall::duration>((end - start) * (1 / clustering_share - 1));
}

}  // namespace pclscope
