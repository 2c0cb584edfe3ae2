#include "analysis/nodes/merge.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "analysis/density/coarser.hpp"

namespace pclscope::nodes {

namespace {

constexpr std::size_t most_worst = 20;

// Ascending by key, each key once: `take(into, more)` makes one of two with the same key, the earlier one first.
template <class T, class Key, class Take>
void sort_by_key(std::vector<T>& list, const Key& key, const Take& take) {
  const auto not_ascending = [&](const T& a, const T& b) { return !(key(a) < key(b)); };
  if (std::adjacent_find(list.begin(), list.end(), not_ascending) == list.end()) return;
  std::stable_sort(list.begin(), list.end(), [&](const T& a, const T& b) { return key(a) < key(b); });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < list.size(); ++i) {
    if (key(list[kept]) == key(list[i])) {
      take(list[kept], std::move(list[i]));
    } else if (++kept != i) {
      list[kept] = std::move(list[i]);
    }
  }
  list.resize(kept + 1);
}

template <class T, class Key, class Take>
void merge_by_key(std::vector<T>& list, std::vector<T>&& more, const Key& key, const Take& take) {
  sort_by_key(list, key, take);
  sort_by_key(more, key, take);
  if (more.empty()) return;
  if (list.empty() || key(list.back()) < key(more.front())) {  // the usual thing for windows
    list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    return;
  }
  std::vector<T> both;
  both.reserve(list.size() + more.size());
  auto a = list.begin();
  auto b = more.begin();
  while (a != list.end() && b != more.end()) {
    if (key(*b) < key(*a)) {
      both.push_back(std::move(*b++));
      continue;
    }
    const bool same = key(*a) == key(*b);
    both.push_back(std::move(*a++));
    if (same) take(both.back(), std::move(*b++));
  }
  std::move(a, list.end(), std::back_inserter(both));
  std::move(b, more.end(), std::back_inserter(both));
  list = std::move(both);
}

constexpr auto newer = [](auto& old, auto&& more) { old = std::forward<decltype(more)>(more); };
constexpr auto add_sums = [](auto& into, auto&& more) { into.sums += more.sums; };

template <class T>
void append(std::vector<T>& list, std::vector<T>&& more) {
  if (list.empty()) {
    list = std::move(more);
  } else {
    list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
}

constexpr auto region_of = [](const RegionSums& r) { return r.region; };

void add_window(WindowPart& into, WindowPart&& more) {
  into.all += more.all;
  into.messages_left_out += more.messages_left_out;
  merge_by_key(into.regions, std::move(more.regions), region_of, add_sums);
}

void add_site_pair(SitePairSums& into, const SitePairSums& more) {
  into.messages += more.messages;
  into.bytes += more.bytes;
  into.delayed += more.delayed;
  into.late_sender_ns += more.late_sender_ns;
  into.late_receiver_ns += more.late_receiver_ns;
  into.transfer_ns += more.transfer_ns;
}

// The same 20 whatever the order in which reports came.
bool worse(const RatedMessage& a, const RatedMessage& b) {
  if (a.ratio != b.ratio) return a.ratio > b.ratio;
  const auto rest = [](const Message& m) {
    return std::tie(m.send_begin, m.recv_end, m.source, m.destination, m.tag, m.comm, m.bytes, m.recv_post, m.recv_wait,
                    m.send_end, m.flags, m.send_site, m.recv_site, m.clock_error_ns);
  };
  return rest(a.message) < rest(b.message);
}

void keep_worst(std::vector<RatedMessage>& list, std::vector<RatedMessage>&& more) {
  append(list, std::move(more));
  std::erase_if(list, [](const RatedMessage& m) { return m.ratio != m.ratio; });
  const std::size_t keep = std::min(most_worst, list.size());
  std::partial_sort(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(keep), list.end(), worse);
  list.resize(keep);
}

void merge_sums(Report& report, Report& more) {
  for (WindowPart& w : more.windows) sort_by_key(w.regions, region_of, add_sums);
  merge_by_key(
      report.windows, std::move(more.windows), [](const WindowPart& w) { return w.begin_ns; }, add_window);
  report.totals += more.totals;
  report.collectives_left_out += more.collectives_left_out;
  report.traffic_bytes += more.traffic_bytes;
  merge_by_key(
      report.pairs, std::move(more.pairs), [](const PairSums& p) { return std::pair(p.source, p.destination); },
      add_sums);
  merge_by_key(
      report.pair_times, std::move(more.pair_times),
      [](const PairTimes& p) { return std::tuple(p.source, p.destination, p.inter_node, p.bin); },
      [](PairTimes& into, const PairTimes& from) {
        into.timed += from.timed;
        into.time_ns += from.time_ns;
        into.transfer_ns += from.transfer_ns;
        into.log += from.log;
      });
  merge_by_key(
      report.times, std::move(more.times),
      [](const TimeCount& t) { return std::tuple(t.inter_node, t.transfer, t.bin, t.bucket); },
      [](TimeCount& into, const TimeCount& from) { into.count += from.count; });
  merge_by_key(
      report.sites, std::move(more.sites), [](const SitePairSums& s) { return std::pair(s.send_site, s.recv_site); },
      add_site_pair);
  density::add(report.density, std::move(more.density));
  keep_worst(report.worst, std::move(more.worst));
  report.newest_ns = std::max(report.newest_ns, more.newest_ns);
}

void merge_statuses(Report& report, Report& more) {
  const auto node = [](const auto& s) { return s.node; };
  merge_by_key(
      report.ranks, std::move(more.ranks), [](const RankStatus& s) { return s.rank; }, newer);
  merge_by_key(
      report.functions, std::move(more.functions),
      [](const FunctionStatus& s) { return std::pair(s.node, s.function); }, newer);
  merge_by_key(
      report.site_times, std::move(more.site_times), [](const SiteStatus& s) { return s.site; }, newer);
  merge_by_key(report.deadlocks, std::move(more.deadlocks), node, newer);
  merge_by_key(report.conditions, std::move(more.conditions), node, newer);
  merge_by_key(report.machines, std::move(more.machines), node, newer);
  merge_by_key(
      report.bindings, std::move(more.bindings), [](const RankBinding& b) { return b.rank; }, newer);
  merge_by_key(report.markers, std::move(more.markers), node, newer);
  merge_by_key(report.clocks, std::move(more.clocks), node, newer);
}

}  // namespace

void merge(Report& report, Report&& more) {
  merge_sums(report, more);
  append(report.places, std::move(more.places));
  append(report.names, std::move(more.names));
  append(report.new_sites, std::move(more.new_sites));
  append(report.corrections, std::move(more.corrections));
  merge_statuses(report, more);
  merge_by_key(
      report.dead_nodes, std::move(more.dead_nodes), [](std::int32_t n) { return n; }, newer);
}

void merge(Report& report, std::vector<Report>& more) {
  for (std::size_t stride = 1; stride < more.size(); stride *= 2) {
    for (std::size_t i = 0; i + stride < more.size(); i += 2 * stride) merge(more[i], std::move(more[i + stride]));
  }
  if (!more.empty()) merge(report, std::move(more.front()));
  more.clear();
}

}  // namespace pclscope::nodes
