#include "benchmarks/scale/stubs.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/nodes/packing.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope::benchmark {

using nodes::Report;

namespace {

std::uint32_t site_here(int node, std::uint32_t site) {
  return nodes::site_of_node(node, site & ((1u << nodes::site_bits) - 1));
}

}  // namespace

Stub::Stub(nodes::Link& link, const Program& program, Layout layout, const std::vector<char>& real,
           std::uint64_t raw_limit)
    : link_(link), program_(program), layout_(layout), tree_(link.self(), link.nodes()), budget_(raw_limit) {
  const std::int32_t first = layout.first_rank(link.self());
  std::map<int, std::vector<Sender>> senders;
  for (std::int32_t rank = first; rank < first + layout.ranks_per_node; ++rank) {
    const auto partners = program.partners(rank);
    for (int k = 0; k < program.degree(); ++k) {
      const std::int32_t partner = partners[static_cast<std::size_t>(k)];
      const int node = layout.node_of(partner);
      if (real[static_cast<std::size_t>(node)]) senders[node].push_back({rank, k});
      pairs_.push_back({partner, rank, {}});
    }
  }
  senders_.assign(senders.begin(), senders.end());
  std::sort(pairs_.begin(), pairs_.end(), [](const nodes::PairSums& a, const nodes::PairSums& b) {
    return std::tie(a.source, a.destination) < std::tie(b.source, b.destination);
  });
}

void Stub::listen() {
  nodes::LinkEvent event;
  while (link_.next(event)) {
    if (event.kind != nodes::LinkEvent::Kind::message) continue;
    const auto kind = nodes::kind_of(event.bytes);
    if (kind == nodes::FrameKind::orders) {
      orders_ = std::move(event.bytes);
      orders_changed_ = true;
    } else if (kind == nodes::FrameKind::report) {
      Report report;
      if (nodes::unpack(event.bytes, report)) tree_.add_child(event.node, std::move(report));
    }
  }
}

void Stub::tell_news() {
  Report news;
  news.closed_through_ns = nodes::ReportTree::nothing;
  for (std::int32_t i = 0; i < layout_.ranks_per_node; ++i)
    news.places.push_back({layout_.first_rank(link_.self()) + i, link_.self()});
  news.names.push_back({link_.self(), "node" + std::to_string(link_.self()), "MPI"});
  news.new_sites = sites_of(link_.self());
  link_.send(0, nodes::pack(news));
}

void Stub::forward_sends(int epoch) {
  for (const auto& [node, senders] : senders_) {
    nodes::SendRecords sends;
    sends.clock_error_ns = 500;
    for (int step = epoch * program_.steps_of_epoch(); step < (epoch + 1) * program_.steps_of_epoch(); ++step)
      for (const Sender& s : senders) {
        sends.events.push_back({s.rank, 0, program_.send(s.rank, step, s.k)});
        sends.events.back().event.site = site_here(link_.self(), site_of_sends);
      }
    std::vector<std::byte> bytes = nodes::pack(sends);
    traffic_bytes_ += bytes.size();
    link_.send(node, std::move(bytes));
  }
}

// Channel by channel, as they are matched: what is between ranks here first.
void Stub::add_messages(int epoch, bool inter_node, std::vector<Message>& into) const {
  const int steps = program_.steps_of_epoch();
  const std::int32_t first = layout_.first_rank(link_.self());
  for (std::int32_t rank = first; rank < first + layout_.ranks_per_node; ++rank)
    for (int k = 0; k < program_.degree(); ++k) {
      if ((layout_.node_of(program_.partners(rank)[static_cast<std::size_t>(k)]) != link_.self()) != inter_node)
        continue;
      for (int step = epoch * steps; step < (epoch + 1) * steps; ++step) {
        Message& m = into.emplace_back(program_.message(rank, step, k));
        m.send_site = site_here(inter_node ? layout_.node_of(m.source) : link_.self(), site_of_sends);
        m.recv_site = site_here(link_.self(), site_of_receives);
        m.clock_error_ns = inter_node ? 1000 : 0;
        m.flags |= inter_node ? message_flag::inter_node : 0;
      }
    }
}

void Stub::send_messages(int window, nodes::WindowPart& part) {
  nodes::RawMessages raw;
  raw.node = link_.self();
  raw.window_ns = part.begin_ns;
  const auto make = [&] {
    for (int epoch = window * epochs_of_window; epoch < (window + 1) * epochs_of_window; ++epoch)
      for (const bool inter_node : {false, true}) add_messages(epoch, inter_node, raw.messages);
    return nodes::pack(raw);
  };
  std::vector<std::byte> bytes;
  if (bytes_of_raw_ == 0) bytes_of_raw_ = (bytes = make()).size();
  if (!budget_.raw(bytes_of_raw_)) {
    part.messages_left_out = part.all.messages;
    return;
  }
  if (bytes.empty()) bytes = make();
  traffic_bytes_ += bytes.size();
  link_.send(0, std::move(bytes));
}

void Stub::send_collectives(int window) {
  nodes::RawMessages raw;
  raw.node = link_.self();
  raw.window_ns = INT64_MIN;
  for (std::int32_t i = 0; i < layout_.ranks_per_node; ++i) {
    const std::int32_t rank = layout_.first_rank(link_.self()) + i;
    raw.collectives.push_back({rank, 0, program_.collective(rank, window)});
    raw.collectives.back().event.site = site_here(link_.self(), site_of_collectives);
  }
  std::vector<std::byte> bytes = nodes::pack(raw);
  if (!budget_.raw(bytes.size())) {
    collectives_left_out_ += raw.collectives.size();
    return;
  }
  traffic_bytes_ += bytes.size();
  link_.send(0, std::move(bytes));
}

Report Stub::like(const Report& of_leaf, int from, std::span<const std::int32_t> region_of_rank) {
  Report mine = of_leaf;
  const std::int32_t shift = layout_.first_rank(link_.self()) - layout_.first_rank(from);
  const std::size_t known = of_leaf.pairs.size();
  mine.pairs = known == 0 ? std::vector<nodes::PairSums>() : pairs_;
  std::uint64_t messages = 0;
  for (const nodes::PairSums& p : of_leaf.pairs) messages += p.sums.messages;
  // The messages of each pair exactly: which of the leaf's pairs was so far told how often does not matter here.
  const std::uint64_t each = messages / pairs_.size(), more = messages % pairs_.size();
  for (std::size_t i = 0; i < mine.pairs.size(); ++i) {
    mine.pairs[i].sums = of_leaf.pairs[i % known].sums;
    mine.pairs[i].sums.messages = each + (i < more);
  }
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<nodes::PairTimes>> times;
  for (const nodes::PairTimes& t : of_leaf.pair_times) times[{t.source, t.destination}].push_back(t);
  mine.pair_times.clear();
  for (std::size_t i = 0; i < mine.pairs.size(); ++i) {
    const nodes::PairSums& like = of_leaf.pairs[i % known];
    for (nodes::PairTimes t : times[{like.source, like.destination}]) {
      t.source = mine.pairs[i].source;
      t.destination = mine.pairs[i].destination;
      mine.pair_times.push_back(t);
    }
  }
  for (nodes::WindowPart& w : mine.windows) {
    std::map<std::int32_t, std::uint64_t> inside;
    for (const nodes::PairSums& p : pairs_) {
      const std::int32_t region = region_of_rank[static_cast<std::size_t>(p.source)];
      if (region >= 0 && region == region_of_rank[static_cast<std::size_t>(p.destination)]) ++inside[region];
    }
    w.regions.clear();
    for (const auto& [region, count] : inside) {
      w.regions.push_back({region, w.all});
      w.regions.back().sums.messages = w.all.messages * count / pairs_.size();
    }
    w.messages_left_out = 0;
    send_messages(static_cast<int>(w.begin_ns / window_ns), w);
  }
  for (nodes::SitePairSums& s : mine.sites)
    s.send_site = site_here(link_.self(), s.send_site), s.recv_site = site_here(link_.self(), s.recv_site);
  for (nodes::RankStatus& r : mine.ranks) r.rank += shift;
  for (nodes::FunctionStatus& f : mine.functions) f.node = link_.self();
  for (nodes::NodeDeadlock& d : mine.deadlocks) d.node = link_.self();
  for (nodes::RatedMessage& w : mine.worst) {
    w.message.source = (w.message.source + shift + program_.ranks()) % program_.ranks();
    w.message.destination = (w.message.destination + shift + program_.ranks()) % program_.ranks();
  }
  mine.traffic_bytes = std::exchange(traffic_bytes_, 0);
  mine.collectives_left_out = std::exchange(collectives_left_out_, 0);
  message_bytes_ += mine.totals.bytes;
  return mine;
}

void Stub::send_orders() {
  if (!std::exchange(orders_changed_, false)) return;
  for (const int child : tree_.tree().children()) link_.send(child, orders_);
}

void Stub::send_up(std::int64_t now_ns) {
  Report up;
  if (!tree_.take(up, now_ns)) return;
  std::vector<std::byte> bytes = nodes::pack(up);
  tree_.sent(bytes.size());
  budget_.used(bytes.size());
  traffic_bytes_ += bytes.size();
  link_.send(tree_.tree().parent(), std::move(bytes));
}

void Stub::end_epoch(int epoch, bool running, const std::vector<Report>& of_leaf, int from,
                     std::span<const std::int32_t> region_of_rank) {
  const std::int64_t now_ns = (epoch + 1) * epoch_ns;
  budget_.advance(now_ns, message_bytes_);
  if (running) {
    forward_sends(epoch);
    if ((epoch + 1) % epochs_of_window == 0) send_collectives(epoch / epochs_of_window);
  }
  if (std::exchange(first_, false)) tell_news();
  for (const Report& report : of_leaf) tree_.add_own(like(report, from, region_of_rank));
  if (!running) tree_.hurry();
  send_up(now_ns);
  send_orders();
  link_.end_epoch({now_ns, running ? 1u : 0u});
}

}  // namespace pclscope::benchmark
