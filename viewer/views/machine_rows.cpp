#include "viewer/views/machine_rows.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/json_rows.hpp"
#include "viewer/views/node_rows.hpp"

namespace pclscope::views {
namespace {

using machine::Distance;
using machine::DistanceSums;
using machine::Place;
using session::finite;
using session::Json;
using text::Align;

constexpr const char* nothing_known =
    "what nodes are inside and where ranks are bound is not known: a dump of an older version, or hwloc "
    "(libhwloc.so.15) "
    "is not there";

struct Level {
  const char* key;
  const char* one;
  const char* many;
  std::int32_t HardwareThread::*number;
};
constexpr Level levels[] = {{"packages", "package", "packages", &HardwareThread::package},
                            {"numa_domains", "NUMA domain", "NUMA domains", &HardwareThread::numa},
                            {"l3_caches", "L3 cache", "L3 caches", &HardwareThread::l3},
                            {"l2_caches", "L2 cache", "L2 caches", &HardwareThread::l2},
                            {"cores", "core", "cores", &HardwareThread::core}};

std::size_t parts(const Machine& machine, std::int32_t HardwareThread::*number) {
  std::set<std::int32_t> numbers;
  for (const HardwareThread& thread : machine.threads)
    if (thread.*number >= 0) numbers.insert(thread.*number);
  return numbers.size();
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return text::format_count(count) + " " + (count == 1 ? one : many);
}

// The kernel's numbers of the hardware threads that a binding names.
std::string binding_text(const RankBinding& binding, std::size_t width) {
  std::string text;
  for (const ThreadRange& range : binding.ranges) {
    std::string part = (text.empty() ? "" : ",") + std::to_string(range.first);
    if (range.last > range.first) part += "-" + std::to_string(range.last);
    if (width > 0 && text.size() + part.size() > width) return text + ",...";
    text += part;
  }
  return text;
}

struct BoundRank {
  const RankBinding* binding;
  Place place;
};

std::vector<BoundRank> bound_ranks(const Snapshot& s, std::size_t most) {
  const std::vector<Place> places = machine::places_of(s.application, s.found);
  std::vector<BoundRank> list;
  for (const RankBinding& b : s.found.bindings)
    if (list.size() < most && b.rank >= 0 && static_cast<std::size_t>(b.rank) < places.size())
      list.push_back({&b, places[static_cast<std::size_t>(b.rank)]});
  return list;
}

Json number_or_null(std::int32_t number) { return number < 0 ? Json(nullptr) : Json(number); }

Json rank_json(const BoundRank& r, const Snapshot& s) {
  const Place& p = r.place;
  return {{"rank", r.binding->rank},
          {"node", p.node < 0 ? Json(nullptr) : Json(node_name(s, p.node))},
          {"hardware_threads", binding_text(*r.binding, 0)},
          {"bound", p.known ? Json(p.bound) : Json(nullptr)},
          {"package", number_or_null(p.package)},
          {"numa", number_or_null(p.numa)},
          {"l3", number_or_null(p.l3)},
          {"l2", number_or_null(p.l2)},
          {"core", number_or_null(p.core)},
          {"changes", r.binding->changes}};
}

std::vector<std::string> nodes_with(const Snapshot& s, std::size_t machine) {
  std::vector<std::string> names;
  for (std::size_t node = 0; node < s.found.of_node.size(); ++node)
    if (s.found.of_node[node] == static_cast<std::int32_t>(machine))
      names.push_back(node_name(s, static_cast<std::int32_t>(node)));
  return names;
}

Json one_machine_json(const Machine& machine, const std::vector<std::string>& nodes) {
  Json json = {{"nodes", nodes}, {"hardware_threads", machine.threads.size()}};
  for (const Level& level : levels) json[level.key] = parts(machine, level.number);
  Json threads = Json::array();
  for (const HardwareThread& t : machine.threads)
    threads.push_back({{"os", t.os},
                       {"package", t.package},
                       {"numa", number_or_null(t.numa)},
                       {"l3", number_or_null(t.l3)},
                       {"l2", number_or_null(t.l2)},
                       {"core", t.core}});
  json["threads"] = std::move(threads);
  return json;
}

double mean(double sum, std::uint64_t count) { return count == 0 ? 0 : sum / static_cast<double>(count); }

Json distance_json(Distance distance, const DistanceSums& d) {
  return {{"distance", machine::name_of(distance)},
          {"pairs", d.pairs},
          {"messages", d.messages},
          {"bytes", d.bytes},
          {"timed", d.timed},
          {"time_s", finite(d.time_s)},
          {"transfer_s", finite(d.transfer_s)},
          {"mean_s", d.timed == 0 ? Json(nullptr) : finite(mean(d.time_s, d.timed))},
          {"mean_transfer_s", d.timed == 0 ? Json(nullptr) : finite(mean(d.transfer_s, d.timed))}};
}

void add_ranks(std::vector<std::string>& lines, const Snapshot& s, std::size_t most, std::size_t width) {
  text::Table table;
  table.column("rank", Align::right);
  table.column("node", Align::left);
  table.column("may run on", Align::left);
  for (const char* title : {"package", "NUMA", "L3", "core", "changes"}) table.column(title, Align::right);
  const auto in = [](std::int32_t number) { return number < 0 ? std::string("-") : std::to_string(number); };
  for (const BoundRank& r : bound_ranks(s, most))
    table.row({std::to_string(r.binding->rank), node_name(s, r.place.node), binding_text(*r.binding, 30),
               in(r.place.package), in(r.place.numa), in(r.place.l3), in(r.place.core),
               std::to_string(r.binding->changes)});
  for (std::string& line : table.lines(width)) lines.push_back(std::move(line));
  if (s.found.bindings.size() > most)
    lines.push_back("... and " + counted(s.found.bindings.size() - most, "rank", "ranks") + " more (--limit)");
}

void add_notes(std::vector<std::string>& lines, const Snapshot& s) {
  const std::vector<Place> places = machine::places_of(s.application, s.found);
  for (const machine::SharedCore& shared : machine::shared_cores(places, s.found))
    lines.push_back(
        "ranks " + text::compact_ranks(shared.ranks, 40) + " are bound to the same core, " +
        std::to_string(shared.core) + " of " + node_name(s, shared.node) +
        (shared.ranks.size() <= shared.hardware_threads
             ? " (" + counted(shared.hardware_threads, "hardware thread", "hardware threads") + ")"
             : ": more than its " + counted(shared.hardware_threads, "hardware thread", "hardware threads")));
  std::vector<std::int32_t> unbound, unknown;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    if (!places[rank].known) unknown.push_back(static_cast<std::int32_t>(rank));
    else if (!places[rank].bound) unbound.push_back(static_cast<std::int32_t>(rank));
  }
  if (!unbound.empty()) lines.push_back("not bound: ranks " + text::compact_ranks(unbound, 60));
  if (!unknown.empty()) lines.push_back("where they are bound is not known: ranks " + text::compact_ranks(unknown, 60));
}

void add_distances(std::vector<std::string>& lines, const Snapshot& s, const std::vector<PairTraffic>& traffic,
                   std::size_t width) {
  const auto sums = machine::sum_by_distance(traffic, machine::places_of(s.application, s.found));
  text::Table table;
  table.column("messages between ranks in", Align::left);
  for (const char* title : {"pairs", "messages", "bytes", "time each", "transfer"}) table.column(title, Align::right);
  bool timed = false;
  for (std::size_t i = 0; i < machine::distances; ++i) {
    const DistanceSums& d = sums[i];
    if (d.pairs == 0) continue;
    timed = timed || d.timed > 0;
    const auto each = [&](double sum) { return d.timed == 0 ? "-" : text::format_seconds(mean(sum, d.timed)); };
    table.row({machine::words_of(static_cast<Distance>(i)), text::format_short_count(d.pairs),
               text::format_short_count(d.messages), text::format_bytes(static_cast<double>(d.bytes)), each(d.time_s),
               each(d.transfer_s)});
  }
  if (table.empty()) return lines.push_back("no messages between ranks were matched");
  for (std::string& line : table.lines(width)) lines.push_back(std::move(line));
  if (!timed)
    lines.push_back("times by distance are not known: no message has one, or the dump is of an older version");
}

}  // namespace

std::string machine_text(const Machine& machine) {
  std::string text;
  for (const Level& level : levels)
    if (const std::size_t count = parts(machine, level.number); count > 0)
      text += counted(count, level.one, level.many) + ", ";
  return text + counted(machine.threads.size(), "hardware thread", "hardware threads");
}

Json machine_json(const Snapshot& s, const std::vector<PairTraffic>& traffic, std::size_t most_ranks) {
  Json machines = Json::array(), ranks = Json::array(), shared = Json::array(), distances = Json::array();
  for (std::size_t m = 0; m < s.found.machines.size(); ++m)
    machines.push_back(one_machine_json(s.found.machines[m], nodes_with(s, m)));
  for (const BoundRank& r : bound_ranks(s, most_ranks)) ranks.push_back(rank_json(r, s));
  const std::vector<Place> places = machine::places_of(s.application, s.found);
  for (const machine::SharedCore& one : machine::shared_cores(places, s.found))
    shared.push_back({{"node", node_name(s, one.node)},
                      {"core", one.core},
                      {"hardware_threads", one.hardware_threads},
                      {"ranks", one.ranks}});
  const auto sums = machine::sum_by_distance(traffic, places);
  for (std::size_t i = 0; i < machine::distances; ++i)
    distances.push_back(distance_json(static_cast<Distance>(i), sums[i]));
  return {{"machines", machines}, {"ranks", ranks}, {"shared_cores", shared}, {"distances", distances}};
}

Rows binding_rows(const Snapshot& s, std::size_t most_ranks) {
  std::vector<Json> objects;
  for (const BoundRank& r : bound_ranks(s, most_ranks)) objects.push_back(rank_json(r, s));
  const RankBinding none;
  return rows_of(objects, rank_json({&none, {}}, s));
}

std::vector<std::string> machine_lines(const Snapshot& s, const std::vector<PairTraffic>& traffic,
                                       std::size_t most_ranks, std::size_t width) {
  std::vector<std::string> lines;
  if (s.found.machines.empty()) lines.emplace_back(nothing_known);
  for (std::size_t m = 0; m < s.found.machines.size(); ++m) {
    std::string line;
    const std::vector<std::string> nodes = nodes_with(s, m);
    for (const std::string& name : nodes) {
      if (line.size() > 60) {
        line += ", ...";
        break;
      }
      line += (line.empty() ? "" : ", ") + name;
    }
    if (nodes.size() > 1) line = std::to_string(nodes.size()) + " nodes (" + line + "), each";
    lines.push_back(line + ": " + machine_text(s.found.machines[m]));
  }
  if (!s.found.bindings.empty()) {
    add_ranks(lines, s, most_ranks, width);
    add_notes(lines, s);
  }
  add_distances(lines, s, traffic, width);
  return lines;
}

}  // namespace pclscope::views
