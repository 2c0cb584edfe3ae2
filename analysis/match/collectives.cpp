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

constexpr double least_seen_ns = 20'000;  // that a member waited: less may be chance

// Operations kept incomplete per communicator: a member cannot be this far ahead of another for long.
constexpr std::size_t window_limit = 1 << 14;
constexpr std::size_t comms_limit = 1 << 16;
constexpr std::size_t parts_limit = 1 << 20;
constexpr std::size_t spare_limit = 64;
constexpr std::size_t neighbours_limit = 1 << 12;  // of one rank

// Of calls on a window, a file ...: as if they had a communicator of their own.
std::uint64_t own_id(std::uint64_t comm, std::uint64_t what, std::int32_t index) {
  std::uint64_t h = (comm ^ what * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  h = (h ^ h >> 29 ^ static_cast<std::uint32_t>(index)) * 0x94d049bb133111ebu;
  return h ^ h >> 31;
}
bool ends(std::uint16_t function) {
  const auto f = static_cast<record::Function>(function);
  return f == record::Function::Win_free || f == record::Function::File_close;
}

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

// MPI_Init and the like: not the I-form or the _init of something.
bool is_of_process(std::string_view name) {
  for (const std::string_view known :
       {"MPI_Init", "MPI_Init_thread", "MPI_Session_init", "MPI_Finalize", "MPI_Session_finalize"})
    if (name == known) return true;
  return false;
}

CollectiveShape shape_of_name(std::string_view name) {
  if (is_of_process(name)) return CollectiveShape::all_to_all;  // if nobody left before: emit()
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
  if (base.starts_with("Neighbor_")) return CollectiveShape::neighbours;
  if (base.starts_with("Win_") || base.starts_with("File_")) return CollectiveShape::all_to_all;  // likewise
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

Collectives::Comm& Collectives::comm_of(std::uint64_t id) {
  if (id == last_id_ && last_ != nullptr) return *last_;
  if (comms_.size() >= comms_limit && !comms_.contains(id)) {
    for (auto& [other, comm] : comms_)
      while (other != record::world_comm_id && !comm.arrived.empty()) give_up_front(comm);
    std::erase_if(comms_, [](const auto& c) { return c.first != record::world_comm_id; });
  }
  last_ = &comms_[id];  // references into the map survive insertions
  last_id_ = id;
  return *last_;
}

void Collectives::take(std::int32_t rank, const record::Event& e) {
  switch (e.kind) {
    case EventKind::init: return take_on(On::start_up, rank, e);
    case EventKind::finalize: return take_on(On::finish, rank, e);
    case EventKind::awaited: return take_awaited(rank, e);
    case EventKind::file: return take_on(e.tag < 0 ? On::files : On::file, rank, e);
    case EventKind::rma_sync:
      if (OneSided::concerns(e.function)) {
        if (sink_) one_sided_.add(rank, e, scale_, [this](const CollectiveCall& c) { sink_({&c, 1}); });
        return;
      }
      return take_on(e.tag < 0 ? On::windows : On::window, rank, e);
    default: break;
  }
  if (e.comm == record::self_comm_id) {  // one id for as many communicators as there are ranks
    if (e.kind == EventKind::collective) ++completed_;
    return;
  }
  Comm& comm = comm_of(e.comm);
  if (e.kind == EventKind::comm_created) {
    comm.members = e.bytes;
    if (e.flags & record::flag::unrecorded) begin_at(comm, e.site);
    complete_front(e.comm, comm);
  } else if (e.kind == EventKind::comm_freed) {
    if (++comm.freed < comm.members || comm.members == 0) return;
    while (!comm.arrived.empty()) give_up_front(comm);
    comms_.erase(e.comm);
    last_ = nullptr;
  } else if (e.kind == EventKind::neighbour) {
    take_neighbour(rank, comm, e);
  } else if (!(e.flags & record::flag::failed)) {
    const bool nonblocking = (e.flags & record::flag::nonblocking) != 0;
    const std::uint64_t completing =
        nonblocking && e.tag > 0 ? static_cast<std::uint64_t>(e.tag) << record::completion_shift : 0;
    arrive(e.comm, comm, e.ordinal,
           {rank, e.peer, e.begin, e.end, completing, e.bytes, site_key(e), e.function, nonblocking,
            (e.flags & record::flag::intercomm) != 0});
  }
}

void Collectives::take_neighbour(std::int32_t rank, Comm& comm, const record::Event& e) {
  std::vector<std::int32_t>& of_rank = comm.neighbours[rank];
  if (e.ordinal == 0) of_rank.clear();
  if (e.peer >= 0 && of_rank.size() < neighbours_limit) of_rank.push_back(e.peer);
}

// A call that every member makes, numbered from 1; MPI_Init and MPI_Finalize once. The members are those of the
// communicator, which is known by then.
void Collectives::take_on(On what, std::int32_t rank, const record::Event& e) {
  const bool process = what == On::start_up || what == On::finish;
  const std::uint64_t of = process ? record::world_comm_id : e.comm;
  if (of == 0 || of == record::self_comm_id || (e.flags & (record::flag::failed | record::flag::nonblocking))) return;
  const auto known = comms_.find(of);
  if (known == comms_.end() || known->second.members == 0) return;
  const std::uint64_t members = known->second.members;
  const std::uint64_t id = own_id(of, static_cast<std::uint64_t>(what), process ? 0 : e.tag);
  Comm& comm = comm_of(id);
  comm.members = members;
  comm.of = of;
  arrive(
      id, comm, process ? 0 : e.ordinal - 1,
      {rank, -1, e.begin, e.end, 0, e.bytes, site_key(e), e.function, false, (e.flags & record::flag::intercomm) != 0});
}

// As the analysis of a node wrote it (Node::collect): bytes are the shape, the ordinal when the other one came.
void Collectives::take_awaited(std::int32_t rank, const record::Event& e) {
  if (!sink_ || e.bytes > static_cast<std::uint64_t>(last_shape)) return;
  CollectiveCall call;
  call.comm = e.comm;
  call.rank = rank;
  call.awaited = e.peer;
  call.function = e.function;
  call.shape = static_cast<CollectiveShape>(e.bytes);
  call.begin = scale_.to_ns(e.begin);
  call.end = scale_.to_ns(e.end);
  call.awaited_begin = scale_.to_ns(e.ordinal);
  call.site = site_key(e);
  sink_({&call, 1});
}

void Collectives::pass(std::int64_t until_ns) {
  if (sink_) one_sided_.pass(until_ns, [this](const CollectiveCall& c) { sink_({&c, 1}); });
}

void Collectives::give_up_front(Comm& comm) {
  parts_ -= comm.arrived.front().size();
  comm.arrived.pop_front();
  ++comm.first;
  abandoned_ += comm.of == 0;
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
  if (comm.of != 0) {  // what members did not record is not waited for
    const auto is_complete = [&](const Operation& o) { return o.size() >= comm.members; };
    const auto last = std::find_if(comm.arrived.begin(), comm.arrived.end(), is_complete);
    for (auto left = last == comm.arrived.end() ? 0 : last - comm.arrived.begin(); left > 0; --left)
      give_up_front(comm);
  }
  bool over = false;
  while (comm.members != 0 && !comm.arrived.empty() && comm.arrived.front().size() >= comm.members) {
    Operation operation = std::move(comm.arrived.front());
    comm.arrived.pop_front();
    parts_ -= operation.size();
    if (comm.of == 0) ++completed_;
    over = comm.of != 0 && ends(operation.front().function);
    if (sink_) emit(comm.of != 0 ? comm.of : id, comm, comm.first, operation);
    ++comm.first;
    operation.clear();
    if (spare_.size() < spare_limit) spare_.push_back(std::move(operation));
  }
  if (!over) return;
  while (!comm.arrived.empty()) give_up_front(comm);
  comms_.erase(id);
  last_ = nullptr;
}

// Fills awaited_: for whom each part waited, nullptr: for nobody.
// Indices of the parts, by entry.
void Collectives::sort_by_entry(const Operation& operation) {
  order_.resize(operation.size());
  for (std::uint32_t i = 0; i < order_.size(); ++i) order_[i] = i;
  std::sort(order_.begin(), order_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return operation[a].begin < operation[b].begin; });
}

// Members that are not the root need not wait; in trees they do, and large blocks are not copied. It is seen where one
// left right after another came, long after `from`, when it could do nothing but wait. After sort_by_entry().
const Collectives::Part* Collectives::seen_to_wait_for(const Operation& operation, const Part& p, std::uint64_t from,
                                                       std::uint64_t least_gap) const {
  const auto behind =
      std::upper_bound(order_.begin(), order_.end(), p.end,
                       [&](std::uint64_t time, std::uint32_t other) { return time < operation[other].begin; });
  if (behind == order_.begin()) return nullptr;
  const Part& other = operation[*(behind - 1)];
  if (&other == &p || other.begin <= from || other.begin - from < least_gap) return nullptr;
  return p.end - other.begin <= (other.begin - from) / 4 ? &other : nullptr;
}

// What the root sends goes through other members: one that came late holds up those behind it, and the root, if its
// send is not copied. Told where that was more of the wait than the one for the root.
const Collectives::Part* Collectives::relay_of(const Operation& operation, const Part& p, const Part* root,
                                               std::uint64_t from, std::uint64_t least_gap) const {
  const std::uint64_t sent = root == nullptr ? from : std::max(from, root->begin);
  const Part* relay = seen_to_wait_for(operation, p, sent, least_gap);
  return relay != nullptr && relay != root && relay->begin - sent > sent - from ? relay : nullptr;
}

void Collectives::find_awaited(const Comm& comm, const Operation& operation, CollectiveShape shape) {
  awaited_.assign(operation.size(), nullptr);
  const Part* last = &operation.front();
  const Part* root = nullptr;
  for (const Part& p : operation) {
    if (p.begin > last->begin) last = &p;
    if (p.rank == p.root) root = &p;
  }
  if (shape == CollectiveShape::neighbours) {
    part_of_rank_.clear();
    for (const Part& p : operation) part_of_rank_[p.rank] = &p;
  }
  if (shape == CollectiveShape::prefix) {
    order_.resize(operation.size());
    for (std::uint32_t i = 0; i < order_.size(); ++i) order_[i] = i;
    std::sort(order_.begin(), order_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return operation[a].root < operation[b].root; });
    const Part* before = nullptr;  // the last to come of those with lower ranks
    for (const std::uint32_t i : order_) {
      awaited_[i] = before;
      if (before == nullptr || operation[i].begin > before->begin) before = &operation[i];
    }
  }
  const auto least_gap = static_cast<std::uint64_t>(least_seen_ns / scale_.ns_per_tick);
  if (shape == CollectiveShape::to_root || shape == CollectiveShape::from_root) sort_by_entry(operation);
  for (std::size_t i = 0; i < operation.size(); ++i) {
    const Part& p = operation[i];
    const std::uint64_t from = p.nonblocking ? p.end - std::min(p.completing, p.end - p.begin) : p.begin;
    if (shape == CollectiveShape::to_root && &p != root && !p.nonblocking)
      awaited_[i] = seen_to_wait_for(operation, p, p.begin, least_gap);
    if (shape == CollectiveShape::all_to_all || (shape == CollectiveShape::to_root && &p == root)) awaited_[i] = last;
    if (shape == CollectiveShape::from_root) {
      awaited_[i] = relay_of(operation, p, root, from, least_gap);
      if (awaited_[i] == nullptr && &p != root) awaited_[i] = root;
    }
    if (shape == CollectiveShape::neighbours)
      if (const auto of_rank = comm.neighbours.find(p.rank); of_rank != comm.neighbours.end())
        for (const std::int32_t neighbour : of_rank->second)
          if (const auto other = part_of_rank_.find(neighbour);
              other != part_of_rank_.end() && (awaited_[i] == nullptr || other->second->begin > awaited_[i]->begin))
            awaited_[i] = other->second;
    if (awaited_[i] != nullptr && (awaited_[i] == &p || awaited_[i]->begin <= from)) awaited_[i] = nullptr;
  }
}

// Who waited for whom follows from the shape and the entry times; where members disagree on what they called
// (persistent and plain forms may mix), the first one's shape stands for all.
void Collectives::emit(std::uint64_t id, const Comm& comm, std::uint64_t ordinal, const Operation& operation) {
  CollectiveShape shape = shape_of(operation.front().function);
  std::uint64_t last = 0, left = ~std::uint64_t{0};
  for (const Part& p : operation) {
    if (p.intercomm) shape = CollectiveShape::unknown;  // two groups: nobody waits for its own
    last = std::max(last, p.begin);
    left = std::min(left, p.end);
  }
  const bool at_end = operation.front().begin == operation.front().end;  // MPI_Finalize: only its entry is known
  if (comm.of != 0 && !at_end && left < last) shape = CollectiveShape::unknown;
  find_awaited(comm, operation, shape);
  calls_.clear();
  for (std::size_t i = 0; i < operation.size(); ++i) {
    const Part& p = operation[i];
    const Part* awaited = awaited_[i];
    CollectiveCall& call = calls_.emplace_back();
    call.comm = id;
    call.ordinal = ordinal;
    call.rank = p.rank;
    call.function = p.function;
    call.shape = shape;
    call.nonblocking = p.nonblocking;
    call.begin = scale_.to_ns(p.begin);
    call.end = scale_.to_ns(comm.of != 0 && at_end ? last : p.end);
    call.completing = p.nonblocking ? call.end - scale_.to_ns(p.end - std::min(p.completing, p.end - p.begin)) : 0;
    call.awaited = awaited ? awaited->rank : -1;
    call.awaited_begin = awaited ? scale_.to_ns(awaited->begin) : call.begin;
    call.bytes = p.bytes;
    call.site = p.site;
  }
  sink_(calls_);
}

std::uint64_t Collectives::incomplete() const {
  std::uint64_t sum = 0;
  for (const auto& [id, comm] : comms_)
    if (comm.of == 0) sum += comm.arrived.size();
  return sum;
}

}  // namespace pclscope
