#include "viewer/session/live_logical.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::session {
namespace {

constexpr double longest_live_s = 5;
constexpr std::uint32_t most_messages = 20'000;

std::int64_t to_ns(double seconds) {
  return std::isfinite(seconds) ? static_cast<std::int64_t>(std::llround(std::clamp(seconds, -4e9, 4e9) * 1e9)) : 0;
}

// Its other side, in the node that sent it.
const DagMessage* sent_of(const Dag& dag, const DagMessage& received, std::int32_t rank) {
  if (received.other_node < 0 || static_cast<std::size_t>(received.other_node) >= dag.nodes.size()) return nullptr;
  const auto& sent = dag.nodes[static_cast<std::size_t>(received.other_node)].sent;
  const auto same = [&](const DagMessage& s) {
    return s.peer == rank && s.tag == received.tag && s.bytes == received.bytes &&
           to_ns(s.begin_s) == to_ns(received.begin_s);
  };
  const auto found = std::find_if(sent.begin(), sent.end(), same);
  return found == sent.end() ? nullptr : &*found;
}

// Phases that are the first, or the last, of all their ranks: an end of the period may have cut them, and who is
// missing there may be the late one.
void drop_cut_phases(logical::LogicalTime& time) {
  const std::size_t ranks = time.first.empty() ? 0 : time.first.size() - 1;
  std::vector<std::uint32_t> first(ranks, logical::none), last(ranks, logical::none);
  for (std::uint32_t p = 0; p < time.phases.size(); ++p)
    for (const logical::Part& part : time.parts_of(time.phases[p])) {
      const auto rank = static_cast<std::size_t>(part.rank);
      if (first[rank] == logical::none) first[rank] = p;
      last[rank] = p;
    }
  std::vector<logical::Phase> whole;
  for (std::uint32_t p = 0; p < time.phases.size(); ++p) {
    const auto parts = time.parts_of(time.phases[p]);
    const auto all_in = [&](const std::vector<std::uint32_t>& of) {
      return std::all_of(parts.begin(), parts.end(),
                         [&](const logical::Part& part) { return of[static_cast<std::size_t>(part.rank)] == p; });
    };
    if (!all_in(first) && !all_in(last)) whole.push_back(time.phases[p]);
  }
  if (!whole.empty()) time.phases = std::move(whole);
}

}  // namespace

std::vector<Message> messages_of(const Dag& dag) {
  std::vector<Message> messages;
  messages.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(dag.messages, most_messages)));
  for (const DagNode& node : dag.nodes) {
    for (const DagMessage& r : node.received) {
      Message m;
      m.source = r.peer;
      m.destination = node.rank;
      m.tag = r.tag;
      m.bytes = r.bytes;
      m.send_begin = to_ns(r.begin_s);
      m.recv_end = to_ns(r.begin_s + r.time_s);
      const DagMessage* sent = sent_of(dag, r, node.rank);
      m.send_end = m.send_begin + (sent != nullptr ? std::max<std::int64_t>(0, to_ns(sent->call_s)) : 0);
      m.send_site = sent != nullptr ? sent->site : 0;
      m.recv_site = r.site;
      m.flags = record::flag::nonblocking;  // when its receive was posted is not known: no sender has waited for it
      m.recv_post = m.recv_wait = m.recv_end - std::max<std::int64_t>(0, to_ns(r.call_s));
      messages.push_back(m);
    }
  }
  return messages;
}

double MessageRate::look(const Snapshot& snapshot) {
  const std::uint64_t matched = snapshot.messages.matched;
  if (snapshot.duration_s > at_s_ && matched >= matched_)
    rate_ = static_cast<double>(matched - matched_) / (snapshot.duration_s - at_s_);
  matched_ = matched;
  at_s_ = snapshot.duration_s;
  return rate_;
}

double live_period_s(double rate, double window_s, double messages) {
  const double least = std::isfinite(window_s) && window_s > 0 ? std::min(window_s, longest_live_s) : 0.1;
  if (!(rate > 0) || !std::isfinite(rate)) return longest_live_s;
  return std::clamp(messages / rate, least, longest_live_s);
}

Result<logical::LogicalTime> newest_logical_time(Session& session, const Snapshot& snapshot, double now_s,
                                                 double length_s) {
  DagQuestion question;
  question.from_ns = to_ns(now_s - length_s);
  question.to_ns = std::max(to_ns(now_s), question.from_ns + 1);
  question.most_messages = most_messages;
  const auto dag = session.dag(question);
  if (!dag) return dag.error();
  logical::Records records(snapshot.application.ranks);
  records.same_lines(same_lines(snapshot.sites));
  records.add(messages_of(*dag));
  auto time = std::move(records).logical_time();
  if (time) drop_cut_phases(*time);
  return time;
}

Result<LogicalRun> newest_logical(Session& session, const Snapshot& snapshot, double now_s, double length_s) {
  const auto time = newest_logical_time(session, snapshot, now_s, length_s);
  if (!time) return time.error();
  return run_of(*time, snapshot.application.ranks);
}

}  // namespace pclscope::session
