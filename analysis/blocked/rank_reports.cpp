// What the root of a job on several nodes must know of this node's blocked ranks.
#include <algorithm>

#include "analysis/blocked/rank_waits.hpp"

namespace pclscope::blocked {

using nodes::RankWait;

namespace {
constexpr std::size_t most_comms = 16, most_patterns = 256;
}

// One thread in MPI, and its only one: of others nothing is said.
std::vector<RankWait> RankWaits::reports() {
  std::vector<RankWait> reports(ranks_.size());
  const auto wanted = [&](std::int32_t rank) {
    const RankNow& now = ranks_[static_cast<std::size_t>(rank)];
    return now.blocked && !now.finished && !now.many_threads && now.calls.size() == 1;
  };
  bool any = false;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const auto rank = static_cast<std::int32_t>(r);
    if (!wanted(rank)) continue;
    any = true;
    reports[r].blocked = true;
    reports[r].all_taken_known = true;
    report_call(rank, ranks_[r].calls[0], reports[r]);
  }
  if (!any) return reports;
  const bool all_known =
      matcher_.takings(wanted, [&](std::int32_t rank, std::int32_t source, std::uint64_t comm, std::int32_t tag) {
        RankWait& wait = reports[static_cast<std::size_t>(rank)];
        if (wait.takes.size() < most_patterns) wait.takes.push_back({source, tag, comm});
        else wait.all_taken_known = false;
      });
  participants_.for_each_comm([&](std::uint64_t id, const Participants::Comm& comm) {
    if (comm.foreign || comm.size == 0) return;
    for (const Participants::Member& m : comm.members) {
      RankWait& wait = reports[static_cast<std::size_t>(m.rank)];
      if (!wait.blocked || wait.begun.size() >= most_comms) continue;
      const auto count = begun(m, id);
      if (!count) continue;
      const CurrentCall& call = ranks_[static_cast<std::size_t>(m.rank)].calls[0];
      const bool in_one = call.comm == id && is_collective(call_kind(call.function));
      wait.begun.push_back({id, comm.size, *count + (in_one ? 1 : 0)});
    }
  });
  for (RankWait& wait : reports) wait.all_taken_known = wait.all_taken_known && all_known;
  return reports;
}

void RankWaits::report_call(std::int32_t rank, const CurrentCall& call, RankWait& wait) {
  const CallKind kind = call_kind(call.function);
  const auto receive = [&](const Pattern& p, bool waits) {
    if (message(rank, p, waits)) wait.receives.push_back({p.source, p.tag, p.comm});
  };
  const auto send_to = [&](std::int32_t peer, std::int32_t tag) {
    wait.sending.push_back({peer, tag, call.comm});
    if (receiver(rank, peer, call.comm, tag)) wait.sends.push_back({peer, tag, call.comm});
  };
  if (kind == CallKind::receive || kind == CallKind::exchange) {
    receive({call.peer, call.comm, call.tag}, matcher_.message_waits(rank, call.peer, call.comm, call.tag, false));
    wait.takes.push_back({call.peer, call.tag, call.comm});
  }
  if (kind == CallKind::send) send_to(call.peer, call.tag);
  if (kind == CallKind::exchange && !call.awaited.empty() && (call.awaited[0] & record::awaited_send))
    send_to(static_cast<std::int32_t>(call.awaited[0] >> 31 & 0x7fffffff),
            static_cast<std::int32_t>(call.awaited[0] & 0x7fffffff));
  if (kind == CallKind::wait_all || (kind == CallKind::wait_any && call.awaited_count == 1))
    report_awaited(rank, call, wait);
  if (!is_collective(kind)) return;
  const Participants::Comm* comm = participants_.comm(call.comm);
  const Participants::Member* self = comm == nullptr ? nullptr : comm->find(rank);
  const auto own = self == nullptr || comm->foreign ? std::nullopt : begun(*self, call.comm);
  if (!own) return;
  const bool every = kind == CallKind::all_of_all || (kind == CallKind::all_to_root && call.peer == rank);
  wait.collectives.push_back({call.comm, *own, every});
}

// Sends to ranks of other nodes are not known here: they are left out.
void RankWaits::report_awaited(std::int32_t rank, const CurrentCall& call, RankWait& wait) {
  for (std::size_t i = 0; i < call.awaited.size(); ++i) {
    const std::uint64_t what = call.awaited[i];
    if (what & record::awaited_receive) {
      const auto receive = matcher_.outstanding_receive(rank, record::number_of(what));
      if (receive && message(rank, {receive->source, receive->comm, receive->tag}, receive->could_take_sent))
        wait.receives.push_back({receive->source, receive->tag, receive->comm});
    } else if (what & record::awaited_send) {
      const auto sent = sent_.find({rank, record::number_of(what)});
      if (sent == sent_.end()) continue;
      const Sent& s = sent->second;
      if (awaited(rank, what)) wait.sends.push_back({s.destination, s.tag, s.comm});
    } else if (what & record::awaited_collective) {
      const auto function = static_cast<std::uint16_t>(what >> record::number_bits & 0xffff);
      wait.collectives.push_back(
          {call.awaited_comm[i], record::number_of(what), nonblocking_kind(function) == CallKind::all_of_all});
    }
  }
}

}  // namespace pclscope::blocked
