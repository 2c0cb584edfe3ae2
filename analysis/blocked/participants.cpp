#include "analysis/blocked/participants.hpp"

#include <algorithm>

#include "analysis/blocked/call_kind.hpp"

namespace pclscope::blocked {

using record::Event;
using record::EventKind;

namespace {
template <class Members>
auto place_of(Members& members, std::int32_t rank) {
  // World's members are all ranks in order.
  const auto index = static_cast<std::size_t>(rank);
  if (index < members.size() && members[index].rank == rank) return members.begin() + rank;
  return std::lower_bound(members.begin(), members.end(), rank,
                          [](const auto& m, std::int32_t r) { return m.rank < r; });
}
}  // namespace

const Participants::Member* Participants::Comm::find(std::int32_t rank) const {
  const auto at = place_of(members, rank);
  return at != members.end() && at->rank == rank ? &*at : nullptr;
}

Participants::Participants(std::int32_t ranks)
    : ranks_(ranks),
      losses_(static_cast<std::size_t>(ranks), 0),
      lost_(static_cast<std::size_t>(ranks), 0),
      in_doubt_(static_cast<std::size_t>(ranks), 0) {
  Comm& world = comms_[record::world_comm_id];
  world.size = static_cast<std::uint64_t>(ranks);
  world.complete = true;
  for (std::int32_t r = 0; r < ranks; ++r) world.members.push_back({.rank = r});
}

void Participants::add(std::int32_t rank, std::span<const Event> events) {
  if (rank < 0 || rank >= ranks_) return;
  for (const Event& e : events) {
    if (e.kind == EventKind::collective || e.kind == EventKind::comm_created || e.kind == EventKind::comm_freed ||
        e.kind == EventKind::call) {
      take(rank, e);
    } else if (e.kind == EventKind::lost) {
      take_loss(rank, e);
    }
  }
}

void Participants::take_loss(std::int32_t rank, const Event& e) {
  const auto r = static_cast<std::size_t>(rank);
  ++losses_[r];
  lost_[r] += e.ordinal;
  if (!(e.flags & record::flag::summarised)) in_doubt_[r] = 1;
}

void Participants::take(std::int32_t rank, const Event& e) {
  if (e.kind == EventKind::call) {  // a communicator call that gave this rank none
    if (e.comm != 0 && call_kind(e.function) == CallKind::creation) ++member_of(comm_of(e.comm), rank).creations;
  } else if (e.comm == record::self_comm_id) {  // one id for as many communicators as there are ranks
    return;
  } else if (e.kind == EventKind::comm_freed) {
    leave(e.comm, rank);
  } else if (e.kind == EventKind::comm_created) {
    if (e.ordinal != 0 && e.ordinal != record::self_comm_id && call_kind(e.function) == CallKind::creation)
      ++member_of(comm_of(e.ordinal), rank).creations;
    Comm& comm = comm_of(e.comm);
    comm.size = e.bytes;
    comm.foreign |= (e.flags & record::flag::foreign) != 0;
    Member& m = member_of(comm, rank);
    if (e.flags & record::flag::unrecorded) {  // it was there before recording began
      m.collectives = std::max(m.collectives, e.site);
      m.losses = losses_[static_cast<std::size_t>(rank)];
    }
    comm.complete = comm.members.size() + comm.freed >= comm.size;
  } else if (!(e.flags & record::flag::failed)) {
    Comm& comm = comm_of(e.comm);
    Member& m = member_of(comm, rank);
    m.collectives = std::max(m.collectives, e.ordinal + 1);
    if (is_collective(call_kind(e.function)) && !(e.flags & record::flag::nonblocking))
      m.past[e.ordinal % std::size(m.past)] = (e.ordinal + 1) << 16 | e.function;
    m.losses = losses_[static_cast<std::size_t>(rank)];
  }
}

Participants::Comm& Participants::comm_of(std::uint64_t id) {
  if (id == last_id_ && last_ != nullptr) return *last_;
  if (comms_.size() >= most_comms && !comms_.contains(id))
    std::erase_if(comms_, [](const auto& c) { return c.first != record::world_comm_id; });
  last_ = &comms_[id];  // references into the map survive insertions
  last_id_ = id;
  return *last_;
}

Participants::Member& Participants::member_of(Comm& comm, std::int32_t rank) {
  auto at = place_of(comm.members, rank);
  if (at == comm.members.end() || at->rank != rank)
    at = comm.members.insert(at, {.rank = rank, .losses = losses_[static_cast<std::size_t>(rank)]});
  return *at;
}

void Participants::leave(std::uint64_t id, std::int32_t rank) {
  const auto it = comms_.find(id);
  if (it == comms_.end() || id == record::world_comm_id) return;
  Comm& comm = it->second;
  const auto at = place_of(comm.members, rank);
  if (at != comm.members.end() && at->rank == rank) {
    comm.members.erase(at);
    ++comm.freed;
  }
  if (!comm.members.empty() || comm.freed < comm.size) return;
  comms_.erase(it);
  last_ = nullptr;
  last_id_ = 0;
}

const Participants::Comm* Participants::comm(std::uint64_t id) const {
  const auto it = comms_.find(id);
  return it == comms_.end() ? nullptr : &it->second;
}

}  // namespace pclscope::blocked
