#include "interpose/recorder/communicators.hpp"

#include <stdlib.h>
#include <string.h>

#include <new>

#include "interpose/recorder/handle_table.hpp"
#include "interpose/recorder/stable_table.hpp"
#include "real_functions.hpp"

namespace pclscope {

constinit Process process{};
constinit Communicator world_communicator{};
constinit Communicator no_communicator{};

namespace {

struct CommunicatorEntry {
  Communicator* communicator = nullptr;  // nullptr: freed
};
struct CreationCount {
  std::uint64_t key;  // hash of parent and members
  std::uint64_t count;
};

std::atomic<bool> lock;                                                               // guards the two tables
constinit StableTable<CommunicatorEntry, std::is_pointer_v<MPI_Comm> ? 4 : 0> table;  // read without the lock
constinit HandleTable<CreationCount> creations;
MPI_Group world_group;
constinit Communicator self_communicator{};
std::int32_t self_rank;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash += value + 0x9E3779B97F4A7C15u;
  hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9u;
  hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EBu;
  return hash ^ (hash >> 31);
}

std::uint64_t mix_members(std::uint64_t hash, const std::int32_t* members, std::uint32_t count) {
  hash = mix(hash, count);
  for (std::uint32_t i = 0; i < count; ++i) hash = mix(hash, static_cast<std::uint32_t>(members[i]));
  return hash;
}

// Both sides of an intercommunicator must hash the same lists in the same order.
bool locals_first(const Communicator& c) {
  const std::uint32_t shorter = c.local_count < c.peer_count ? c.local_count : c.peer_count;
  for (std::uint32_t i = 0; i < shorter; ++i) {
    if (c.locals[i] != c.peers[i]) return c.locals[i] < c.peers[i];
  }
  return c.local_count <= c.peer_count;
}

std::uint64_t hash_of(std::uint64_t parent_id, const Communicator& c) {
  std::uint64_t hash = mix(0x70636C73636F7065u, parent_id);
  if ((c.flags & record::flag::intercomm) == 0) {
    if (c.peers != nullptr) return mix_members(hash, c.peers, c.peer_count);
    hash = mix(hash, c.peer_count);
    for (std::uint32_t i = 0; i < c.peer_count; ++i) hash = mix(hash, i);
    return hash;
  }
  const bool first = locals_first(c);
  hash = mix_members(hash, first ? c.locals : c.peers, first ? c.local_count : c.peer_count);
  return mix_members(hash, first ? c.peers : c.locals, first ? c.peer_count : c.local_count);
}

// How many communicators of the same parent and members this process made before: the same on all members.
std::uint64_t count_of(std::uint64_t hash) {
  Guard guard(lock);
  CreationCount* entry = creations.insert(hash == 0 ? 1 : hash);
  return entry != nullptr ? entry->count++ : 0;
}

std::uint64_t avoid_predefined(std::uint64_t id) { return id > record::self_comm_id ? id : id + 3; }

std::uint64_t numbered(std::uint64_t hash) { return avoid_predefined(mix(hash, count_of(hash))); }

// World ranks of a group's members, malloc'ed. nullptr on failure or for an empty group.
std::int32_t* read_members(MPI_Group group, std::uint32_t& count, bool& foreign) {
  int size = 0;
  count = 0;
  if (real.Group_size(group, &size) != MPI_SUCCESS || size <= 0) return nullptr;
  const auto bytes = sizeof(std::int32_t) * static_cast<std::size_t>(size);
  auto* members = static_cast<std::int32_t*>(malloc(bytes));
  auto* positions = static_cast<int*>(malloc(bytes));
  if (members != nullptr && positions != nullptr) {
    for (int i = 0; i < size; ++i) positions[i] = i;
    if (real.Group_translate_ranks(group, size, positions, world_group, members) == MPI_SUCCESS) {
      count = static_cast<std::uint32_t>(size);
      for (int i = 0; i < size; ++i) {
        if (members[i] != MPI_UNDEFINED) continue;
        members[i] = record::unknown_rank;
        foreign = true;
      }
    }
  }
  free(positions);
  return members;
}

void read_groups(MPI_Comm comm, Communicator& c) {
  int inter = 0;
  bool foreign = false;
  MPI_Group group;
  real.Comm_test_inter(comm, &inter);
  real.Comm_rank(comm, &c.rank);
  if (real.Comm_group(comm, &group) == MPI_SUCCESS) {
    c.locals = read_members(group, c.local_count, foreign);
    real.Group_free(&group);
  }
  c.peers = c.locals;
  c.peer_count = c.local_count;
  if (inter != 0 && real.Comm_remote_group(comm, &group) == MPI_SUCCESS) {
    c.flags |= record::flag::intercomm;
    c.peers = read_members(group, c.peer_count, foreign);
    real.Group_free(&group);
  }
  if (foreign) c.flags |= record::flag::foreign;
}

const std::int32_t* copy_of(const std::int32_t* members, std::uint32_t count) {
  auto* copy = static_cast<std::int32_t*>(malloc(sizeof(std::int32_t) * count));
  if (copy != nullptr) memcpy(copy, members, sizeof(std::int32_t) * count);
  return copy;
}

void copy_groups(const Communicator& from, Communicator& to) {
  to.flags = from.flags;
  to.rank = from.rank;
  to.peer_count = from.peer_count;
  to.local_count = from.local_count;
  if (from.peers != nullptr) to.peers = copy_of(from.peers, from.peer_count);
  to.locals = from.locals == from.peers ? to.peers : copy_of(from.locals, from.local_count);
  // Without memory the members are unknown, never out of bounds. (No peers at all means the identity: the world.)
  if (from.peers != nullptr && to.peers == nullptr) to.peer_count = 0;
}

Communicator* allocate() {
  auto* memory = static_cast<Communicator*>(calloc(1, sizeof(Communicator)));
  if (memory == nullptr) return nullptr;
  auto* c = new (memory) Communicator{};
  c->references.store(1, std::memory_order_relaxed);
  c->out_degree = -1;
  return c;
}

bool keep(MPI_Comm comm, Communicator* c) {
  Communicator* stale = nullptr;
  {
    Guard guard(lock);
    CommunicatorEntry* entry = table.insert(key_of(comm));
    if (entry == nullptr) return false;
    stale = entry->communicator;  // freed where we could not see it, its handle used again
    entry->communicator = c;
  }
  if (stale != nullptr) {
    process.handles_epoch.fetch_add(1, std::memory_order_relaxed);
    release(stale);
  }
  return true;
}

}  // namespace

void destroy(Communicator* c) {
  if (c->locals != c->peers) free(const_cast<std::int32_t*>(c->locals));
  free(const_cast<std::int32_t*>(c->peers));
  free(c);
}

bool start_communicators() {
  if (real.Comm_group(process.app_world, &world_group) != MPI_SUCCESS) return false;
  world_communicator.id = record::world_comm_id;
  world_communicator.handle = process.app_world;
  world_communicator.peer_count = world_communicator.local_count = static_cast<std::uint32_t>(process.size);
  world_communicator.rank = process.rank;
  world_communicator.references = 1;
  world_communicator.out_degree = -1;
  self_rank = process.rank;
  self_communicator.id = record::self_comm_id;
  self_communicator.handle = handles.self;
  self_communicator.peers = self_communicator.locals = &self_rank;
  self_communicator.peer_count = self_communicator.local_count = 1;
  self_communicator.references = 1;
  self_communicator.out_degree = -1;
  no_communicator.references = 1;
  return keep(process.app_world, &world_communicator) && keep(handles.self, &self_communicator);
}

Communicator& find_communicator(MPI_Comm comm) {
  const CommunicatorEntry* entry = table.find(key_of(comm));
  if (entry != nullptr && entry->communicator != nullptr) return *entry->communicator;
  if (comm == handles.comm_null) return no_communicator;
  Communicator& adopted = register_communicator(comm, nullptr, Origin::orphan);
  if (&adopted != &no_communicator) adopted.flags |= record::flag::unordered;
  return adopted;
}

Communicator& register_communicator(MPI_Comm made, const Communicator* parent, Origin origin,
                                    std::uint64_t reserved_id) {
  Communicator* c = allocate();
  if (c == nullptr) return no_communicator;
  c->handle = made;
  if (origin == Origin::dup && parent != nullptr) {
    copy_groups(*parent, *c);
  } else {
    read_groups(made, *c);
  }
  c->id = reserved_id != 0 ? reserved_id : numbered(hash_of(parent != nullptr ? parent->id : 0, *c));
  if (keep(made, c)) return *c;
  destroy(c);
  return no_communicator;
}

std::uint64_t reserve_dup_id(const Communicator& parent) { return numbered(hash_of(parent.id, parent)); }

Communicator* partitioned_channel(const Communicator& c, std::int32_t source, std::int32_t dest, int tag, bool sends) {
  Communicator* channel = allocate();
  if (channel == nullptr) return nullptr;
  std::uint64_t hash = mix(0x706172746974696Fu, c.id);
  for (const std::int32_t part : {source, dest, tag}) hash = mix(hash, static_cast<std::uint32_t>(part));
  const std::uint64_t ordinal = count_of(mix(hash, sends));
  channel->id = avoid_predefined(mix(hash, ordinal));
  channel->flags = c.flags;
  return channel;
}

bool tell_communicators(record::Event*& events, std::size_t& count) {
  Guard guard(lock);
  std::size_t known = 0;
  table.for_each([&](const CommunicatorEntry& entry) { known += entry.communicator != nullptr; });
  events = static_cast<record::Event*>(aligned_alloc(64, known * sizeof(record::Event)));
  count = 0;
  if (events == nullptr) return false;
  table.for_each([&](const CommunicatorEntry& entry) {
    if (entry.communicator == nullptr || count == known) return;
    const Communicator& c = *entry.communicator;
    record::Event& e = events[count++];
    e = {};
    e.site = c.collectives.load(std::memory_order_relaxed);
    e.comm = c.id;
    e.bytes = c.local_count + ((c.flags & record::flag::intercomm) != 0 ? c.peer_count : 0);
    e.tag = record::any_tag;
    e.kind = record::EventKind::comm_created;
    e.flags = c.flags | record::flag::unrecorded;
  });
  return true;
}

void forget_communicator(MPI_Comm comm) {
  Communicator* c = nullptr;
  {
    Guard guard(lock);
    CommunicatorEntry* entry = table.find(key_of(comm));
    if (entry == nullptr || entry->communicator == nullptr) return;
    c = entry->communicator;
    entry->communicator = nullptr;
  }
  process.handles_epoch.fetch_add(1, std::memory_order_relaxed);
  if (c != &world_communicator && c != &self_communicator) release(c);
}

}  // namespace pclscope
