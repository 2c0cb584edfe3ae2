#include "analysis/match/collectives.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>

#include "analysis/values/site_key.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope {

using record::EventKind;

namespace {

// Operations kept incomplete per communicator: a member cannot be this far ahead of another for long.
constexpr std::size_t window_limit = 1 << 14;
constexpr std::size_t comms_limit = 1 << 16;
constexpr std::size_t parts_limit = 1 << 20;
constexpr std::size_t spare_limit = 64;

// The function that a nonblocking, persistent or large-count form is a form of: "MPI_Ibcast_c" -> "Bcast".
std::string base_name(std::string_view name) {
  if (name.starts_with("MPI_")) name.remove_prefix(4);
  for (const std::string_view ending : {"_c", "_init"})
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  std::string base(name);
  if (base.size() > 1 && base[0] == 'I' && base[1] >= 'a' && base[1] <= 'z') {
    base.erase(0, 1);
    base[0] = static_cast<char>(base[0] - ('a' - 'A'));
  }
  return base;
}

CollectiveShape shape_of_name(std::string_view name) {
  const std::string base = base_name(name);
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), base) != names.end();
  };
  if (is_one_of({"Barrier", "Allreduce", "Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw",
                 "Reduce_scatter", "Reduce_scatter_block"}))
    return CollectiveShape::all_to_all;
  if (is_one_of({"Bcast", "Scatter", "Scatterv"})) return CollectiveShape::from_root;
  if (is_one_of({"Reduce", "Gather", "Gatherv"})) return CollectiveShape::to_root;
  if (is_one_of({"Scan", "Exscan"})) return CollectiveShape::prefix;
  return CollectiveShape::unknown;
}

}  // namespace

CollectiveShape shape_of(std::uint16_t function) {
  static const auto shapes = [] {
    std::array<CollectiveShape, record::function_count + 1> table{};
    for (std::size_t f = 0; f < table.size(); ++f)
      table[f] = shape_of_name(record::function_name(static_cast<std::uint16_t>(f)));
    return table;
  }();
  return function < shapes.size() ? shapes[function] : CollectiveShape::unknown;
}

Collectives::Collectives(std::int32_t world_size, Sink sink) : sink_(std::move(sink)) {
  comms_[record::world_comm_id].members = static_cast<std::uint64_t>(std::max(world_size, 0));
}

void Collectives::take(std::int32_t rank, const record::Event& e) {
  if (e.comm == record::self_comm_id) {  // one id for as many communicators as there are ranks
    if (e.kind == EventKind::collective) ++completed_;
    return;
  }
  if (e.comm != last_id_ || !last_) {
    if (comms_.size() >= comms_limit && !comms_.contains(e.comm)) {
      for (auto& [id, comm] : comms_)
        while (id != record::world_comm_id && !comm.arrived.empty()) give_up_front(comm);
      std::erase_if(comms_, [](const auto& c) { return c.first != record::world_comm_id; });
    }
    last_ = &comms_[e.comm];  // references into the map survive insertions
    last_id_ = e.comm;
  }
  Comm& comm = *last_;
  if (e.kind == EventKind::comm_created) {
    comm.members = e.bytes;
    if (e.flags & record::flag::unrecorded) begin_at(comm, e.site);
    complete_front(e.comm, comm);
  } else if (e.kind == EventKind::comm_freed) {
    if (++comm.freed < comm.members || comm.members == 0) return;
    while (!comm.arrived.empty()) give_up_front(comm);
    comms_.erase(e.comm);
    last_ = nullptr;
  } else if (!(e.flags & record::flag::failed)) {
    arrive(e.comm, comm, e.ordinal,
           {rank, e.peer, e.begin, e.end, e.bytes, site_key(e), e.function, (e.flags & record::flag::nonblocking) != 0,
            (e.flags & record::flag::intercomm) != 0});
  }
}

void Collectives::give_up_front(Comm& comm) {
  parts_ -= comm.arrived.front().size();
  comm.arrived.pop_front();
  ++comm.first;
  ++abandoned_;
}

void Collectives::begin_at(Comm& comm, std::uint64_t base) {
  while (comm.first < base && !comm.arrived.empty()) {
    parts_ -= comm.arrived.front().size();
    comm.arrived.pop_front();
    ++comm.first;
  }
  comm.first = std::max(comm.first, base);
}

void Collectives::arrive(std::uint64_t id, Comm& comm, std::uint64_t ordinal, const Part& part) {
  if (ordinal < comm.first) return;
  if (ordinal - comm.first >= window_limit) {
    const std::uint64_t first = ordinal - window_limit + 1;
    while (!comm.arrived.empty() && comm.first < first) give_up_front(comm);
    comm.first = first;
  }
  while (parts_ >= parts_limit && comm.first < ordinal && !comm.arrived.empty()) give_up_front(comm);
  if (comm.arrived.empty() && parts_ >= parts_limit) comm.first = ordinal;  // others have taken the room
  while (comm.first + comm.arrived.size() <= ordinal) {
    if (spare_.empty()) {
      comm.arrived.emplace_back();
    } else {
      comm.arrived.push_back(std::move(spare_.back()));
      spare_.pop_back();
    }
  }
  comm.arrived[ordinal - comm.first].push_back(part);
  ++parts_;
  complete_front(id, comm);
}

void Collectives::complete_front(std::uint64_t id, Comm& comm) {
  while (comm.members != 0 && !comm.arrived.empty() && comm.arrived.front().size() >= comm.members) {
    Operation operation = std::move(comm.arrived.front());
    comm.arrived.pop_front();
    parts_ -= operation.size();
    ++completed_;
    if (sink_) emit(id, comm.first, operation);
    ++comm.first;
    operation.clear();
    if (spare_.size() < spare_limit) spare_.push_back(std::move(operation));
  }
}

// Who waited for whom follows from the shape and the entry times; where members disagree on what they called
// (persistent and plain forms may mix), the first one's shape stands for all.
void Collectives::emit(std::uint64_t id, std::uint64_t ordinal, const Operation& operation) {
  const Part* last = &operation.front();
  const Part* root = nullptr;
  CollectiveShape shape = shape_of(last->function);
  for (const Part& p : operation) {
    if (p.begin > last->begin) last = &p;
    if (p.rank == p.root) root = &p;
    if (p.intercomm) shape = CollectiveShape::unknown;  // two groups: nobody waits for its own
  }
  calls_.clear();
  for (const Part& p : operation) {
    const Part* awaited = nullptr;
    if (shape == CollectiveShape::all_to_all || (shape == CollectiveShape::to_root && &p == root)) awaited = last;
    if (shape == CollectiveShape::from_root && &p != root) awaited = root;
    if (awaited && awaited->begin <= p.begin) awaited = nullptr;
    CollectiveCall& call = calls_.emplace_back();
    call.comm = id;
    call.ordinal = ordinal;
    call.rank = p.rank;
    call.function = p.function;
    call.shape = shape;
    call.nonblocking = p.nonblocking;
    call.begin = scale_.to_ns(p.begin);
    call.end = scale_.to_ns(p.end);
    call.awaited = awaited ? awaited->rank : -1;
    call.awaited_begin = awaited ? scale_.to_ns(awaited->begin) : call.begin;
    call.bytes = p.bytes;
    call.site = p.site;
  }
  sink_(calls_);
}

std::uint64_t Collectives::incomplete() const {
  std::uint64_t sum = 0;
  for (const auto& [id, comm] : comms_) sum += comm.arrived.size();
  return sum;
}

}  // namespace pclscope
