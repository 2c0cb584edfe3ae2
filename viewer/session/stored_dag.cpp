#include "viewer/session/stored_dag.hpp"

#include <algorithm>

#include "analysis/order/dag_builder.hpp"
#include "viewer/session/criteria.hpp"
#include "viewer/session/regions.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::session {
namespace {

struct Wanted {
  std::vector<bool> rank;  // empty: all
  const DagQuestion& question;
  TimeSpan span;

  explicit Wanted(const DagQuestion& q) : question(q), span{q.from_ns, q.to_ns, true} {
    for (const std::int32_t r : q.ranks) {
      if (r < 0) continue;
      if (static_cast<std::size_t>(r) >= rank.size()) rank.resize(static_cast<std::size_t>(r) + 1, false);
      rank[static_cast<std::size_t>(r)] = true;
    }
  }
  bool has(std::int32_t r) const {
    return question.ranks.empty() ||
           (r >= 0 && static_cast<std::size_t>(r) < rank.size() && rank[static_cast<std::size_t>(r)]);
  }
  bool has(const Message& m) const {
    return (span.has(m.send_begin) || span.has(m.recv_end)) && has(m.source) && has(m.destination);
  }
};

bool earlier(const Message& a, const Message& b) { return a.send_begin < b.send_begin; }

}  // namespace

Result<Dag> stored_dag(Session& session, const Snapshot& snapshot, DagQuestion question) {
  if (question.region >= 0) {
    const auto region = find_region(snapshot, question.region);
    if (!region) return region.error();
    question.ranks = (*region)->ranks;
  }
  const Wanted wanted(question);
  std::vector<Message> earliest;  // a heap, the latest on top
  std::uint64_t beyond = 0;
  const Status read = session.messages(wanted.span, [&](std::span<const Message> batch) {
    for (const Message& m : batch) {
      if (!wanted.has(m)) continue;
      earliest.push_back(m);
      std::push_heap(earliest.begin(), earliest.end(), earlier);
      if (earliest.size() <= question.most_messages) continue;
      std::pop_heap(earliest.begin(), earliest.end(), earlier);
      earliest.pop_back();
      ++beyond;
    }
    return true;
  });
  if (!read) return read.error();
  const Criteria criteria(snapshot.criteria);
  DagSource source;
  source.messages = earliest;
  source.node_of_rank = snapshot.application.node_of_rank;
  source.ratio = [&](const Message& m) { return std::max(0.0, criteria.ratio(m).value_or(0)); };
  source.not_kept = beyond;
  Dag dag = build_dag(question, source);
  if (beyond > 0) {
    dag.why_partial = "there are " + text::format_count(beyond) + " more messages than the " +
                      text::format_count(question.most_messages) + " asked for: shorten the period or raise --limit";
  } else if (session.messages_not_stored() > 0 && !dag.partial) {
    dag.partial = true;
    dag.why_partial = text::format_count(session.messages_not_stored()) +
                      " messages of the run are not in the dump: some may be missing here";
  }
  return dag;
}

}  // namespace pclscope::session
