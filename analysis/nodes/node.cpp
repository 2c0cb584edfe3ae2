#include "analysis/nodes/node.hpp"

#include <algorithm>
#include <utility>

#include "analysis/match/collectives.hpp"
#include "analysis/match/matcher.hpp"
#include "analysis/nodes/job_ticks.hpp"
#include "analysis/nodes/packing.hpp"
#include "analysis/values/site_key.hpp"

namespace pclscope::nodes {

using record::Event;
using record::EventKind;

namespace {
constexpr std::size_t calls_of_frame = 8192;

// Who is a member of what, and whose neighbour.
bool is_membership(const Event& e) {
  return e.kind == EventKind::comm_created || e.kind == EventKind::comm_freed || e.kind == EventKind::neighbour;
}
}  // namespace

PipelineOptions Node::named(PipelineOptions options) {
  options.name_sites = [this](std::span<Message> messages) { name(messages); };
  return options;
}

Measurement::Hooks Node::hooks() {
  return {[this](const OpenWindows::Closed& closed) { take_window(closed); },
          [this](const Message& m, std::int64_t time, std::int64_t transfer) { unsent_.count_time(m, time, transfer); },
          [this](const CollectiveCall& call) { collect(call); }};
}

Node::Node(Link& link, NodeOptions options)
    : link_(link),
      options_(std::move(options)),
      self_(link.self()),
      node_of_rank_(static_cast<std::size_t>(options_.application.ranks), -1),
      here_(node_of_rank_.size(), 0),
      calls_time_(options_.analysis.keep == Keep::all ? 1 : options_.analysis.calls_share,
                  PipelineOptions::calls_ahead_s),
      reports_(self_, link.nodes()),
      budget_(raw_share(options_.root.raw_bytes_per_s / static_cast<std::uint64_t>(std::max(link.nodes(), 1))),
              link.host_of(self_) == 0),
      region_of_rank_(node_of_rank_.size(), -1),
      measured_(options_.application, options_.analysis),
      measurement_(measured_, named(options_.analysis), hooks()) {
  measured_.polled_ns = options_.polled_ns;
  calls_.node = self_;
  calls_.window_ns = INT64_MIN;
  measurement_.set_tick_scale(job_scale());
  if (options_.analysis.on_mpi_calls && options_.analysis.keep != Keep::summaries) {
    call_log_.emplace(options_.application.ranks, options_.analysis.window_ns);
    call_log_->set_tick_scale(job_scale());
  }
  measurement_.matcher().set_forward(
      [this](std::int32_t rank, std::uint8_t thread, const Event& event) { route(rank, thread, event); });
  if (self_ != 0) return;
  options_.root.per_host = link.per_host();
  root_ = std::make_unique<Root>(options_.application, options_.analysis, link.nodes(), options_.root);
}

// The root sends itself nothing: the others of its machine have its share.
std::uint64_t Node::raw_share(std::uint64_t bytes_per_s) const {
  const auto here = static_cast<std::uint64_t>(link_.per_host());
  return link_.host_of(self_) == 0 && here > 1 ? bytes_per_s / (here - 1) * here : bytes_per_s;
}

void Node::rank_here(std::int32_t rank, bool several_threads) {
  if (rank < 0 || static_cast<std::size_t>(rank) >= here_.size()) return;
  if (several_threads) measurement_.set_threads(rank, true);
  if (here_[static_cast<std::size_t>(rank)]) return;
  here_[static_cast<std::size_t>(rank)] = 1;
  node_of_rank_[static_cast<std::size_t>(rank)] = self_;
  measurement_.set_place(rank, link_.host_of(self_));
  measurement_.matcher().set_here(rank);
  news_.places.push_back({rank, self_});
  // Sends to it that were read before it was found.
  route_waiting();
}

void Node::add(std::int32_t rank, std::uint32_t thread, std::span<const Event> events, std::uint32_t clock_error_ns) {
  clock_error_ = clock_error_ns;
  measurement_.matcher().set_clock_error(clock_error_ns);
  measurement_.add(rank, thread, events);
  collect(rank, thread, events);
  if (newest_) newest_->add(rank, thread, events);
  if (!call_log_) return;
  const TimeShare::Clock::time_point start = TimeShare::Clock::now();
  call_log_->add(rank, thread, events);
  calls_time_.used(TimeShare::Clock::now() - start);
}

// Sites of messages: of ranks here by the node's table, of others as their node told.
void Node::name(std::span<Message> messages) {
  std::vector<std::uint64_t> told(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) told[i] = messages[i].send_site;
  if (options_.analysis.name_sites) {
    options_.analysis.name_sites(messages);
  } else {
    for (Message& m : messages) m.send_site = m.recv_site = 0;
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    Message& m = messages[i];
    m.send_site = here_[static_cast<std::size_t>(m.source)] ? site_of_node(self_, m.send_site) : told[i];
    m.recv_site = site_of_node(self_, m.recv_site);
  }
}

// --- up ---

void Node::collect(std::int32_t rank, std::uint32_t thread, std::span<const Event> events) {
  for (const Event& e : events) {
    if (!Collectives::concerns(e)) continue;
    RankEvent& entry = calls_.collectives.emplace_back(
        RankEvent{rank, static_cast<std::uint8_t>(std::min<std::uint32_t>(thread, 255)), e});
    if (!is_membership(e))
      entry.event.site = options_.site_of ? site_of_node(self_, options_.site_of(rank, e.site, e.function)) : 0;
    if (calls_.collectives.size() >= calls_of_frame) send_raw();
  }
}

// A wait that was found here, as an event on its way to the root's Collectives.
void Node::collect(const CollectiveCall& call) {
  Event e{};
  e.kind = EventKind::awaited;
  e.function = call.function;
  e.comm = call.comm;
  e.peer = call.awaited;
  e.tag = record::any_tag;
  e.begin = job_ticks(call.begin);
  e.end = job_ticks(call.end);
  e.ordinal = job_ticks(call.awaited_begin);
  e.bytes = static_cast<std::uint64_t>(call.shape);
  if (here_[static_cast<std::size_t>(call.rank)]) {
    const std::uint64_t address = site_address(call.site);
    e.site = options_.site_of ? site_of_node(self_, options_.site_of(call.rank, address, call.function)) : 0;
  } else {
    e.site = call.site;
  }
  calls_.collectives.push_back(RankEvent{call.rank, 0, e});
  if (calls_.collectives.size() >= calls_of_frame) send_raw();
}

void Node::send_raw() {
  if (calls_.collectives.empty()) return;
  std::vector<std::byte> bytes = pack(calls_);
  if (!root_ && !options_.everything && !budget_.raw(bytes.size())) {
    // Who is a member must be known all the same.
    const auto kept = std::remove_if(calls_.collectives.begin(), calls_.collectives.end(),
                                     [](const RankEvent& e) { return !is_membership(e.event); });
    news_.collectives_left_out += static_cast<std::uint64_t>(calls_.collectives.end() - kept);
    calls_.collectives.erase(kept, calls_.collectives.end());
    bytes = pack(calls_);
  }
  if (root_) queued_raw_.push_back(std::move(calls_));
  else if (!calls_.collectives.empty()) send(0, std::move(bytes));
  calls_.collectives.clear();
}

void Node::take_window(const OpenWindows::Closed& closed) {
  WindowPart part = unsent_.close(closed, measured_, region_of_rank_);
  const std::vector<Message>& messages = closed.messages;
  if (messages.empty()) return;
  if (part.begin_ns < told_closed_ns_) {
    // Messages of before the first window here (a rank that was found late): others have closed theirs.
    const std::int64_t length = std::max<std::int64_t>(options_.analysis.window_ns, 1);
    part.begin_ns += (told_closed_ns_ - part.begin_ns + length - 1) / length * length;
  }
  RawMessages raw{self_, part.begin_ns, messages, {}, {}, 0};
  if (root_) {
    queued_raw_.push_back(std::move(raw));
  } else {
    std::vector<std::byte> bytes = pack(raw);
    if (options_.everything || budget_.raw(bytes.size())) send(0, std::move(bytes));
    else part.messages_left_out = messages.size();
  }
  own_.windows.push_back(std::move(part));
}

void Node::send(int node, std::vector<std::byte> bytes) {
  if (node != self_) news_.traffic_bytes += bytes.size();
  link_.send(node, std::move(bytes));
}

void Node::send_report() {
  // Whoever names places and sites does so before anything refers to them: straight to the root.
  if (!news_.places.empty() || !news_.names.empty() || !news_.new_sites.empty()) {
    Report direct;
    direct.closed_through_ns = ReportTree::nothing;
    direct.places = std::move(news_.places);
    direct.names = std::move(news_.names);
    direct.new_sites = std::move(news_.new_sites);
    news_.places.clear();
    news_.names.clear();
    news_.new_sites.clear();
    if (root_) root_->take_news(direct);
    else send(0, pack(direct));
  }
  if (read_until_ns_ >= next_report_ns_ || ending_ >= 0) {
    Report report = std::move(own_);
    own_ = Report{};
    measurement_.refresh_totals();
    unsent_.take(measured_, report);
    const MessageTotals lost = news_.totals;
    news_.totals = report.totals;
    news_.totals.half_recorded += lost.half_recorded;
    news_.totals.unmatched_sends += lost.unmatched_sends;
    news_.newest_ns = report.newest_ns;
    news_.pairs = std::move(report.pairs);
    news_.pair_times = std::move(report.pair_times);
    news_.windows = std::move(report.windows);
    news_.times = std::move(report.times);
    news_.sites = std::move(report.sites);
    news_.worst = std::move(report.worst);
    news_.closed_through_ns = std::max(closed_ns_, ReportTree::nothing + 1);
    told_closed_ns_ = news_.closed_through_ns;
    reports_.add_own(std::move(news_));
    news_ = Report{};
    next_report_ns_ = read_until_ns_ + options_.report_every_ns;
  }
  Report up;
  if (ending_ >= 0) reports_.hurry();
  if (!reports_.take(up, read_until_ns_)) return;
  if (root_) {
    queued_reports_.push_back(std::move(up));
    return;
  }
  std::vector<std::byte> bytes = pack(up);
  budget_.used(bytes.size());
  // At most a third of the budget is for reports with rows, and another for the rest: a long one waits longer for the
  // next.
  reports_.sent(bytes.size());
  if (!reports_.took_rows())
    next_report_ns_ += static_cast<std::int64_t>(static_cast<double>(bytes.size()) / ReportTree::bytes_per_s * 1e9);
  send(reports_.tree().parent(), std::move(bytes));
}

// --- down ---

void Node::send_orders(std::int64_t now_ns) {
  if (root_) {
    if (const auto news = root_->orders(now_ns)) apply(*news);
  }
  if (!orders_changed_) return;
  orders_changed_ = false;
  send_orders_to(reports_.tree().children());
}

void Node::send_orders_to(const std::vector<int>& children) {
  if (children.empty() || orders_.version == 0) return;
  const std::vector<std::byte> bytes = pack(orders_);
  for (const int child : children) send(child, bytes);
}

void Node::apply(const Orders& orders) {
  if (orders.version <= orders_.version) return;
  orders_changed_ = true;
  orders_.version = orders.version;
  orders_.raw_bytes_per_s = orders.raw_bytes_per_s;
  budget_.set_limit(raw_share(orders.raw_bytes_per_s));
  orders_.calls = orders.calls;
  keep_newest(orders.calls);
  if (!orders.criteria.empty()) {
    orders_.criteria = orders.criteria;
    measured_.criteria.load(orders.criteria);
  }
  if (!orders.region_of_rank.empty()) {
    orders_.region_of_rank = orders.region_of_rank;
    region_of_rank_ = orders.region_of_rank;
    region_of_rank_.resize(here_.size(), -1);
    ++regions_version_;
  }
  if (orders.node_of_rank.empty()) return;
  orders_.node_of_rank = orders.node_of_rank;
  for (std::size_t rank = 0; rank < std::min(node_of_rank_.size(), orders.node_of_rank.size()); ++rank) {
    const std::int32_t node = orders.node_of_rank[rank];
    if (here_[rank] || node < 0 || node >= link_.nodes() || node == self_) continue;
    node_of_rank_[rank] = node;
    measurement_.set_place(static_cast<std::int32_t>(rank), link_.host_of(node));
  }
  route_waiting();
}

// --- epochs ---

void Node::take(LinkEvent&& event) {
  switch (event.kind) {
    case LinkEvent::Kind::message: return take_message(event.node, event.bytes);
    case LinkEvent::Kind::epoch: return epoch_over(event.word);
    case LinkEvent::Kind::died: return node_died(event.node);
    case LinkEvent::Kind::closed: over_ = true; return;
    case LinkEvent::Kind::clock: return;  // whoever makes the events' times
  }
}

void Node::take_message(int from, std::span<const std::byte> bytes) {
  const auto kind = kind_of(bytes);
  if (!kind) return;
  if (*kind == FrameKind::sends) {
    queued_sends_.push_back({from, {bytes.begin(), bytes.end()}});
    return;
  }
  if (*kind == FrameKind::orders) {
    Orders orders;
    if (unpack(bytes, orders)) apply(orders);
  } else if (*kind == FrameKind::calls) {
    NewestOfNode newest;
    if (root_ && unpack(bytes, newest)) take_newest(newest);
  } else if (*kind == FrameKind::raw) {
    RawMessages raw;
    if (root_ && unpack(bytes, raw)) queued_raw_.push_back(std::move(raw));
  } else {
    Report report;
    if (!unpack(bytes, report)) return;
    if (report.closed_through_ns == ReportTree::nothing) {
      if (root_) root_->take_news(report);
    } else {
      reports_.add_child(from, std::move(report));
    }
  }
}

void Node::end_epoch(std::int64_t read_until_ns, bool open) {
  read_until_ns_ = std::max(read_until_ns_, read_until_ns);
  // A short job: news of where its ranks are is still on its way to the root and back.
  if (!open && !closing_ && !unrouted_.empty() && waited_ < reports_.tree().depth() + 4) {
    ++waited_;
    open = true;
  }
  budget_.advance(read_until_ns_, measured_.totals.bytes);
  if (closing_) measurement_.matcher().last_events();
  measurement_.matcher().end_epoch();
  send_orders(read_until_ns_);  // the root's may tell places: sends that waited for them
  forward_sends();
  send_calls(open && !closing_ ? read_until_ns_ : INT64_MAX);
  settle_newest();
  send_raw();
  send_report();
  waiting_ = true;
  link_.end_epoch({read_until_ns, open ? 1u : 0u});
}

void Node::epoch_over(const EpochWord& word) {
  waiting_ = false;
  take_queued_sends();
  // What was read two epochs ago is paired now (remote.cpp).
  const std::int64_t allowance = std::max<std::int64_t>(options_.analysis.allowance_ns, 0);
  const std::int64_t paired = std::exchange(read_before_ns_[0], std::exchange(read_before_ns_[1], word.read_until_ns));
  if (paired != INT64_MIN) {
    const std::int64_t until = measurement_.epoch_over(std::min(word.read_until_ns, paired + allowance));
    closed_ns_ = std::max(closed_ns_, until - allowance - options_.analysis.window_ns);
  } else {
    measurement_.epoch_over(INT64_MIN / 2);
  }
  if (!closing_) {
    closing_ = word.open == 0;
  } else if (ending_ < 0) {
    for (const Unrouted& u : unrouted_) news_.totals.unmatched_sends += u.event.kind == EventKind::send;
    measurement_.finish();
    closed_ns_ = INT64_MAX;
    ending_ = reports_.tree().depth() + 2;
  } else if (ending_ >= 0 && ending_-- == 0) {
    over_ = true;
  }
  if (!root_) return;
  newest_complete_until(word.read_until_ns);
  for (RawMessages& raw : queued_raw_) root_->take_raw(std::move(raw));
  queued_raw_.clear();
  for (Report& report : queued_reports_) root_->take_report(std::move(report));
  queued_reports_.clear();
}

void Node::node_died(int node) {
  if (node == 0) root_died_ = over_ = true;
  const std::vector<int> before = reports_.tree().children();
  reports_.tree().died(node);
  sends_.erase(node);
  died_.push_back(node);
  if (root_) root_->died(node);
  std::vector<int> adopted;
  for (const int child : reports_.tree().children())
    if (std::find(before.begin(), before.end(), child) == before.end()) adopted.push_back(child);
  send_orders_to(adopted);
}

}  // namespace pclscope::nodes
