#include "random_comms.hpp"

#include <algorithm>

namespace chaos {
namespace {

std::vector<int> whole_world(MPI_Comm comm, bool inter, MPI_Group world) {
  MPI_Group group;
  if (inter) MPI_Comm_remote_group(comm, &group);
  else MPI_Comm_group(comm, &group);
  int size = 0;
  MPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), worlds(ranks);
  for (int i = 0; i < size; ++i) ranks[static_cast<std::size_t>(i)] = i;
  MPI_Group_translate_ranks(group, size, ranks.data(), world, worlds.data());
  MPI_Group_free(&group);
  return worlds;
}

MPI_Comm make_cart(MPI_Comm from) {
  int size = 0, dimensions[2] = {0, 0};
  const int periods[2] = {1, 0};
  MPI_Comm_size(from, &size);
  MPI_Dims_create(size, 2, dimensions);
  MPI_Comm comm;
  MPI_Cart_create(from, 2, dimensions, periods, 1, &comm);
  return comm;
}

MPI_Comm make_ring_graph(MPI_Comm from) {
  int size = 0, rank = 0;
  MPI_Comm_size(from, &size);
  MPI_Comm_rank(from, &rank);
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(from, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &comm);
  return comm;
}

}  // namespace

Communicators::Communicators(int rank, int size) : rank_(rank), size_(size) {
  MPI_Comm_group(MPI_COMM_WORLD, &world_);
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  MPI_Get_processor_name(name, &length);
  unsigned hash[2] = {5381, 0};
  for (const char* c = name; *c != 0; ++c) hash[0] = hash[0] * 33 + static_cast<unsigned char>(*c);
  hash[1] = ~hash[0];
  unsigned least[2];
  MPI_Allreduce(hash, least, 2, MPI_UNSIGNED, MPI_MIN, MPI_COMM_WORLD);
  one_node_ = least[0] == ~least[1];
}

void Communicators::change(const Plan::Change& change, const std::vector<Recipe>& live) {
  for (const int ordinal : change.freed) {
    View& view = views_.at(ordinal);
    if (view.comm != MPI_COMM_NULL) MPI_Comm_free(&view.comm);
    views_.erase(ordinal);
  }
  if (recipes_.empty())
    for (const Recipe& recipe : live)
      if (recipe.make == Make::world || recipe.make == Make::self) open(recipe);
  for (const Recipe& recipe : change.made) open(recipe);
  for (const int ordinal : change.freed) recipes_.erase(ordinal);
}

void Communicators::open(const Recipe& recipe) {
  recipes_[recipe.ordinal] = recipe;
  View view;
  if (recipe.make == Make::world) view.comm = MPI_COMM_WORLD;
  else if (recipe.make == Make::self) view.comm = MPI_COMM_SELF;
  else if (recipes_.at(recipe.parent).has(rank_))
    view.comm = make(recipe, recipes_.at(recipe.parent), views_.at(recipe.parent).comm);
  REQUIRE((view.comm != MPI_COMM_NULL) == recipe.has(rank_));
  view.rank_of.assign(static_cast<std::size_t>(size_), -1);
  if (view.comm != MPI_COMM_NULL) {
    view.label = recipe.label(rank_);
    view.world_of = whole_world(view.comm, recipe.inter, world_);
    for (std::size_t i = 0; i < view.world_of.size(); ++i)
      view.rank_of[static_cast<std::size_t>(view.world_of[i])] = static_cast<int>(i);
    std::vector<int> sorted = view.world_of;
    std::sort(sorted.begin(), sorted.end());
    REQUIRE(sorted == recipe.peers(rank_));
    for (int r = 0; r < size_; ++r)
      if (recipe.make == Make::self || recipe.together(rank_, r)) members_[view.label].push_back(r);
  }
  views_[recipe.ordinal] = view;
}

MPI_Comm Communicators::make(const Recipe& recipe, const Recipe& parent, MPI_Comm from) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Request request;
  const int colour = recipe.has(rank_) ? recipe.colour[static_cast<std::size_t>(rank_)] : MPI_UNDEFINED;
  const int key = static_cast<int>(mix(recipe.salt + static_cast<std::uint64_t>(rank_)) % 1000);
  switch (recipe.make) {
    case Make::idup:
      MPI_Comm_idup(from, &comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case Make::split: MPI_Comm_split(from, colour, key, &comm); break;
    case Make::split_type:  // the plan knows no nodes: everybody stays together
      if (one_node_) MPI_Comm_split_type(from, MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL, &comm);
      else MPI_Comm_split(from, 0, key, &comm);
      break;
    case Make::cart: comm = make_cart(from); break;
    case Make::graph: comm = make_ring_graph(from); break;
    case Make::create:
    case Make::create_group: comm = make_subset(recipe, parent, from); break;
    case Make::intercomm: comm = make_across(recipe, parent, from); break;
    case Make::merge: MPI_Intercomm_merge(from, parent.side[static_cast<std::size_t>(rank_)], &comm); break;
    default: MPI_Comm_dup(from, &comm);
  }
  return comm;
}

MPI_Comm Communicators::make_subset(const Recipe& recipe, const Recipe& parent, MPI_Comm from) {
  const View& all = views_.at(parent.ordinal);
  std::vector<int> ranks;  // in the parent
  for (std::size_t i = 0; i < all.world_of.size(); ++i)
    if (recipe.has(all.world_of[i])) ranks.push_back(static_cast<int>(i));
  MPI_Group group, subset;
  MPI_Comm_group(from, &group);
  MPI_Group_incl(group, static_cast<int>(ranks.size()), ranks.data(), &subset);
  MPI_Comm comm = MPI_COMM_NULL;
  if (recipe.make == Make::create) MPI_Comm_create(from, subset, &comm);
  else if (recipe.has(rank_)) MPI_Comm_create_group(from, subset, recipe.ordinal, &comm);
  MPI_Group_free(&group);
  if (!ranks.empty()) MPI_Group_free(&subset);
  return comm;
}

// The two sides find each other through their lowest ranks in the parent.
MPI_Comm Communicators::make_across(const Recipe& recipe, const Recipe& parent, MPI_Comm from) {
  if (!recipe.has(rank_)) return MPI_COMM_NULL;
  const View& all = views_.at(parent.ordinal);
  const int side = recipe.side[static_cast<std::size_t>(rank_)];
  std::size_t leader = 0;
  while (recipe.side[static_cast<std::size_t>(all.world_of[leader])] == side) ++leader;
  MPI_Comm half, comm;
  MPI_Comm_split(from, side, all.rank_of[static_cast<std::size_t>(rank_)], &half);
  MPI_Intercomm_create(half, 0, from, static_cast<int>(leader), recipe.ordinal, &comm);
  MPI_Comm_free(&half);
  return comm;
}

void Communicators::close() {
  for (auto& [ordinal, view] : views_)
    if (view.comm != MPI_COMM_NULL && ordinal > 1) MPI_Comm_free(&view.comm);
  MPI_Group_free(&world_);
}

std::string Communicators::lines() const {
  std::string text;
  for (const auto& [label, members] : members_) {
    text += std::to_string(label);
    for (const int member : members) text += ' ' + std::to_string(member);
    text += '\n';
  }
  return text;
}

}  // namespace chaos
