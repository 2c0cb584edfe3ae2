#include "analysis/order/dag_builder.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/order/dag_links.hpp"
#include "analysis/order/event_order.hpp"

namespace pclscope {

namespace {

constexpr std::int32_t absent = -1;

struct Left {  // out of the graph, by reason
  std::uint64_t beyond_limit = 0, no_end = 0, wrong_ranks = 0, unordered = 0;
};

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }
std::uint32_t site_id(std::uint64_t site) { return site > UINT32_MAX ? 0 : static_cast<std::uint32_t>(site); }

class Ranks {
 public:
  Ranks(const DagQuestion& question, std::size_t ranks_of_job)
      : named_(question.ranks), all_(question.ranks.empty() && question.region < 0), job_(ranks_of_job) {
    std::sort(named_.begin(), named_.end());
    named_.erase(std::unique(named_.begin(), named_.end()), named_.end());
    std::erase_if(named_, [&](std::int32_t rank) { return !possible(rank); });
  }
  bool possible(std::int32_t rank) const { return rank >= 0 && static_cast<std::size_t>(rank) < job_; }
  bool has(std::int32_t rank) const { return all_ || std::binary_search(named_.begin(), named_.end(), rank); }
  const std::vector<std::int32_t>& named() const { return named_; }

 private:
  std::vector<std::int32_t> named_;
  bool all_;
  std::size_t job_;
};

// In the order in which they were sent; ties in an order that the input's has no part in.
bool sent_before(const Message& a, const Message& b) {
  const auto key = [](const Message& m) {
    return std::make_tuple(m.send_begin, m.recv_end, m.source, m.destination, m.tag, m.comm, m.bytes, m.send_end,
                           m.recv_post, m.recv_wait);
  };
  return key(a) < key(b);
}

std::vector<Message> select(const DagQuestion& question, const DagSource& source, Left& left) {
  const Ranks ranks(question, source.node_of_rank.size());
  const auto within = [&](std::int64_t time) { return time >= question.from_ns && time < question.to_ns; };
  std::vector<Message> chosen;
  for (const Message& m : source.messages) {
    if (!within(m.send_begin) && !(has_order(m) && within(m.recv_end))) continue;
    if (!ranks.possible(m.source) || !ranks.possible(m.destination)) {
      ++left.wrong_ranks;
    } else if (ranks.has(m.source) && ranks.has(m.destination)) {
      if (has_order(m)) chosen.push_back(m);
      else ++left.no_end;
    }
  }
  if (chosen.size() > question.most_messages) {
    left.beyond_limit = chosen.size() - question.most_messages;
    std::nth_element(chosen.begin(), chosen.begin() + question.most_messages, chosen.end(), sent_before);
    chosen.resize(question.most_messages);
  }
  return chosen;
}

// Nodes as groups of events, before they have their final numbers.
struct Groups {
  std::vector<std::int32_t> of_event;  // by event number, absent: not in the graph
  std::vector<std::size_t> turn;       // by group: place in logical order of its last receive, else of its first send
};

// Algorithm 2.
Groups find_groups(std::span<const Message> messages, const LogicalOrder& order) {
  struct Newest {
    std::int32_t group = absent;
    bool has_send = false;
  };
  std::map<std::int32_t, Newest> newest_of_rank;
  Groups result;
  result.of_event.assign(2 * messages.size(), absent);
  for (std::size_t i = 0; i < order.events.size(); ++i) {
    const EventOfMessage event = order.events[i];
    const Message& m = messages[event.message()];
    const bool receive = event.side() == Side::receive;
    Newest& newest = newest_of_rank[receive ? m.destination : m.source];
    if (newest.group == absent || (receive && newest.has_send)) {
      newest = {static_cast<std::int32_t>(result.turn.size()), false};
      result.turn.push_back(i);
    }
    if (receive) result.turn[newest.group] = i;
    newest.has_send = newest.has_send || !receive;
    result.of_event[event.number] = newest.group;
  }
  return result;
}

// Numbers by `turn`. An edge's send comes after all receives of its node and before the last receive of the other, so
// edges go from lower to higher numbers; a rank's nodes do as well.
void number_by_turn(Groups& groups) {
  std::vector<std::int32_t> by_turn(groups.turn.size()), number(by_turn.size());
  for (std::size_t i = 0; i < by_turn.size(); ++i) by_turn[i] = static_cast<std::int32_t>(i);
  std::sort(by_turn.begin(), by_turn.end(),
            [&](std::int32_t a, std::int32_t b) { return groups.turn[a] < groups.turn[b]; });
  for (std::size_t i = 0; i < by_turn.size(); ++i) number[by_turn[i]] = static_cast<std::int32_t>(i);
  for (std::int32_t& group : groups.of_event)
    if (group != absent) group = number[group];
}

void fill_nodes(Dag& dag, std::span<const Message> messages, const LogicalOrder& order, const Groups& groups,
                const DagSource& source) {
  dag.nodes.resize(groups.turn.size());
  std::vector<double> ratios(messages.size());
  for (std::size_t i = 0; source.ratio && i < messages.size(); ++i) {
    const double ratio = source.ratio(messages[i]);
    if (std::isfinite(ratio) && ratio > 0) ratios[i] = ratio;
  }
  for (const EventOfMessage event : order.events) {
    const Message& m = messages[event.message()];
    const bool receive = event.side() == Side::receive;
    DagNode& node = dag.nodes[groups.of_event[event.number]];
    const double begin = seconds(clamped_time(m.send_begin)), end = seconds(clamped_time(m.recv_end));
    const double at = receive ? end : begin;
    if (node.received.empty() && node.sent.empty()) {
      node.rank = receive ? m.destination : m.source;
      node.begin_s = at;
    }
    node.end_s = at;
    (receive ? node.received : node.sent)
        .push_back({groups.of_event[event.number ^ 1], receive ? m.source : m.destination, m.tag, m.bytes, begin,
                    end - begin, ratios[event.message()],
                    std::max(0.0, receive ? end - seconds(clamped_time(m.recv_wait))
                                          : seconds(clamped_time(m.send_end)) - begin),
                    site_id(receive ? m.recv_site : m.send_site)});
  }
}

void fill_load_balance(std::vector<DagRank>& ranks) {
  double sum = 0, deviation = 0, count = 0;
  for (const DagRank& rank : ranks) {
    sum += static_cast<double>(rank.messages);
    count += rank.messages > 0;
  }
  if (count == 0) return;
  const auto distance = [&](const DagRank& r) { return std::abs(static_cast<double>(r.messages) - sum / count); };
  for (const DagRank& rank : ranks) deviation += rank.messages > 0 ? distance(rank) / count : 0;
  if (deviation <= 1e-9 * sum / count) return;  // equal but for rounding
  for (DagRank& rank : ranks) rank.load_balance = rank.messages > 0 ? distance(rank) / deviation : 0;
}

void fill_ranks(Dag& dag, const Ranks& ranks, std::span<const std::int32_t> node_of_rank) {
  struct Sum {
    double ratio = 0;
    std::uint64_t count = 0;
  };
  std::map<std::int32_t, std::uint64_t> messages;
  std::map<std::int32_t, Sum> of_compute_node;
  for (const std::int32_t rank : ranks.named()) messages[rank] = 0;
  for (const DagNode& node : dag.nodes) {
    messages[node.rank] += node.received.size() + node.sent.size();
    Sum& sum = of_compute_node[node_of_rank[node.rank]];
    for (const DagMessage& m : node.received) {
      sum.ratio += m.ratio;
      sum.count += m.ratio > 0;
    }
  }
  for (const auto& [rank, count] : messages) {
    DagRank entry{rank, node_of_rank[rank], count, 0, 0};
    const auto sum = of_compute_node.find(entry.compute_node);
    if (entry.compute_node >= 0 && sum != of_compute_node.end() && sum->second.count > 0)
      entry.node_ratio = sum->second.ratio / static_cast<double>(sum->second.count);
    dag.ranks.push_back(entry);
  }
  fill_load_balance(dag.ranks);
}

void fill_missing(Dag& dag, const Left& left, std::uint64_t not_kept, std::uint32_t limit) {
  const auto reason = [&](std::uint64_t count, const std::string& text) {
    if (count == 0) return;
    dag.messages_missing += count;
    dag.partial = true;
    dag.why_partial += (dag.why_partial.empty() ? "" : "; ") + text + ": " + std::to_string(count);
  };
  reason(not_kept, "messages no longer kept");
  reason(left.beyond_limit, "beyond the limit of " + std::to_string(limit) + " messages (choose a shorter period)");
  reason(left.no_end, "messages of unknown end (received by a freed request)");
  reason(left.wrong_ranks, "messages of ranks that the job does not have");
  reason(left.unordered, "messages received before they could be sent");
}

// The period asked for; where it is open, up to the first and last event.
void fill_period(Dag& dag, const DagQuestion& question) {
  double first = 0, last = 0;
  for (const DagNode& node : dag.nodes) {
    first = &node == dag.nodes.data() ? node.begin_s : std::min(first, node.begin_s);
    last = &node == dag.nodes.data() ? node.end_s : std::max(last, node.end_s);
  }
  dag.from_s = question.from_ns == INT64_MIN ? first : seconds(question.from_ns);
  dag.to_s = question.to_ns == INT64_MAX ? last : seconds(question.to_ns);
}

}  // namespace

Dag build_dag(const DagQuestion& question, const DagSource& source) {
  Dag dag;
  Left left;
  dag.region = question.region;
  const std::vector<Message> messages = select(question, source, left);
  const LogicalOrder order = logical_order(messages);
  Groups groups = find_groups(messages, order);
  number_by_turn(groups);
  fill_nodes(dag, messages, order, groups, source);
  link_nodes(dag);
  fill_ranks(dag, Ranks(question, source.node_of_rank.size()), source.node_of_rank);
  left.unordered = order.unordered.size();
  dag.messages = messages.size() - order.unordered.size();
  fill_missing(dag, left, source.not_kept, question.most_messages);
  fill_period(dag, question);
  return dag;
}

}  // namespace pclscope
