#include "analysis/match/collectives.hpp"

#include <algorithm>

namespace pclscope {

using record::EventKind;

namespace {
// Operations kept incomplete per communicator: a member cannot be this far ahead of another for long.
constexpr std::size_t window_limit = 1 << 14;
constexpr std::size_t comms_limit = 1 << 16;
}  // namespace

Collectives::Collectives(std::int32_t world_size) {
  comms_[record::world_comm_id].members = static_cast<std::uint64_t>(std::max(world_size, 0));
}

void Collectives::add(const record::Event& e) {
  if (e.kind != EventKind::collective && e.kind != EventKind::comm_created && e.kind != EventKind::comm_freed) return;
  if (e.comm == record::self_comm_id) {  // one id for as many communicators as there are ranks
    if (e.kind == EventKind::collective) ++completed_;
    return;
  }
  if (e.comm != last_id_ || !last_) {
    if (comms_.size() >= comms_limit && !comms_.contains(e.comm))
      std::erase_if(comms_, [](const auto& c) { return c.first != record::world_comm_id; });
    last_ = &comms_[e.comm];  // references into the map survive insertions
    last_id_ = e.comm;
  }
  Comm& comm = *last_;
  if (e.kind == EventKind::comm_created) {
    comm.members = e.bytes;
    complete_front(comm);
  } else if (e.kind == EventKind::comm_freed) {
    if (++comm.freed < comm.members || comm.members == 0) return;
    abandoned_ += comm.arrived.size();
    comms_.erase(e.comm);
    last_ = nullptr;
  } else if (!(e.flags & record::flag::failed)) {
    arrive(comm, e.ordinal);
  }
}

void Collectives::arrive(Comm& comm, std::uint64_t ordinal) {
  if (ordinal < comm.first) return;
  if (ordinal - comm.first >= window_limit) {
    const std::uint64_t first = ordinal - window_limit + 1;
    while (!comm.arrived.empty() && comm.first < first) {
      comm.arrived.pop_front();
      ++comm.first;
      ++abandoned_;
    }
    comm.first = first;
  }
  while (comm.first + comm.arrived.size() <= ordinal) comm.arrived.push_back(0);
  ++comm.arrived[ordinal - comm.first];
  complete_front(comm);
}

void Collectives::complete_front(Comm& comm) {
  while (comm.members != 0 && !comm.arrived.empty() && comm.arrived.front() >= comm.members) {
    comm.arrived.pop_front();
    ++comm.first;
    ++completed_;
  }
}

std::uint64_t Collectives::incomplete() const {
  std::uint64_t sum = 0;
  for (const auto& [id, comm] : comms_) sum += comm.arrived.size();
  return sum;
}

}  // namespace pclscope
