#include "analysis/nodes/memory_link.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace pclscope::nodes {

class MemoryLinks::Endpoint : public Link {
 public:
  Endpoint(MemoryLinks& all, int self) : all_(all), self_(self) {}

  int nodes() const override { return static_cast<int>(all_.endpoints_.size()); }
  int self() const override { return self_; }
  int per_host() const override { return all_.per_host_; }
  LinkTraffic traffic() const override { return traffic_; }

  void send(int node, std::vector<std::byte> bytes) override {
    if (!alive_ || node < 0 || node >= nodes()) return;
    if (node != self_) {
      ++traffic_.messages;
      traffic_.bytes += bytes.size();
    }
    if (ended_) later_.emplace_back(node, std::move(bytes));
    else all_.deliver(self_, node, std::move(bytes));
  }

  void end_epoch(const EpochWord& word) override {
    if (!alive_) return;
    ended_ = true;
    word_ = word;
    all_.end_if_all_did();
  }

  bool next(LinkEvent& event) override {
    if (events_.empty()) return false;
    event = std::move(events_.front());
    events_.pop_front();
    return true;
  }

  void tell(LinkEvent event) {
    if (alive_) events_.push_back(std::move(event));
  }

  void close() {
    if (!alive_) return;
    LinkEvent event;
    event.kind = LinkEvent::Kind::closed;
    tell(std::move(event));
    alive_ = false;
    later_.clear();
  }

  MemoryLinks& all_;
  const int self_;
  std::deque<LinkEvent> events_;
  std::vector<std::pair<int, std::vector<std::byte>>> later_;  // of the next epoch: sent after the end of this one
  EpochWord word_;
  LinkTraffic traffic_;
  bool ended_ = false;
  bool alive_ = true;
};

MemoryLinks::MemoryLinks(int nodes, int per_host) : per_host_(per_host) {
  for (int node = 0; node < std::max(nodes, 1); ++node) endpoints_.push_back(std::make_unique<Endpoint>(*this, node));
}

MemoryLinks::~MemoryLinks() = default;

Link& MemoryLinks::at(int node) { return *endpoints_.at(static_cast<std::size_t>(node)); }

bool MemoryLinks::alive(int node) const { return endpoints_.at(static_cast<std::size_t>(node))->alive_; }

void MemoryLinks::deliver(int from, int to, std::vector<std::byte> bytes) {
  LinkEvent event;
  event.kind = LinkEvent::Kind::message;
  event.node = from;
  event.bytes = std::move(bytes);
  endpoints_[static_cast<std::size_t>(to)]->tell(std::move(event));
}

void MemoryLinks::kill(int node) {
  if (!alive(node)) return;
  endpoints_[static_cast<std::size_t>(node)]->close();
  LinkEvent event;
  event.kind = LinkEvent::Kind::died;
  event.node = node;
  for (auto& endpoint : endpoints_) endpoint->tell(event);
  end_if_all_did();
}

void MemoryLinks::tell_clock(int node, const ClockUpdate& update) {
  LinkEvent event;
  event.kind = LinkEvent::Kind::clock;
  event.clock = update;
  endpoints_.at(static_cast<std::size_t>(node))->tell(std::move(event));
}

void MemoryLinks::close() {
  for (auto& endpoint : endpoints_) endpoint->close();
}

void MemoryLinks::end_if_all_did() {
  LinkEvent event;
  event.kind = LinkEvent::Kind::epoch;
  event.word.read_until_ns = std::numeric_limits<std::int64_t>::max();
  bool any = false;
  for (const auto& endpoint : endpoints_) {
    if (!endpoint->alive_) continue;
    if (!endpoint->ended_) return;
    any = true;
    event.word.read_until_ns = std::min(event.word.read_until_ns, endpoint->word_.read_until_ns);
    event.word.open += endpoint->word_.open;
  }
  if (!any) return;
  ++epochs_;
  for (auto& endpoint : endpoints_) {
    endpoint->ended_ = false;
    endpoint->tell(event);
  }
  for (auto& endpoint : endpoints_) {
    auto later = std::exchange(endpoint->later_, {});
    for (auto& [node, bytes] : later) deliver(endpoint->self_, node, std::move(bytes));
  }
}

}  // namespace pclscope::nodes
