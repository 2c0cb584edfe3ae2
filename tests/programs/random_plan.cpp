#include "random_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace chaos {
namespace {

std::uint64_t hash(std::uint64_t a, int b) { return mix(a ^ mix(static_cast<std::uint64_t>(b) + 77)); }

constexpr int most_live = 9;

}  // namespace

bool Recipe::together(int a, int b) const {
  if (make == Make::self) return a == b;
  return has(a) && colour[static_cast<std::size_t>(a)] == colour[static_cast<std::size_t>(b)];
}

std::vector<int> Recipe::peers(int rank) const {
  std::vector<int> found;
  for (int r = 0; r < static_cast<int>(colour.size()); ++r) {
    const bool across = side[static_cast<std::size_t>(r)] != side[static_cast<std::size_t>(rank)];
    if (together(rank, r) && across == inter) found.push_back(r);
  }
  return found;
}

Plan::Plan(const Options& options, int size) : options_(options), size_(size) {
  const long per_round = static_cast<long>(size) * options.threads * options.per_round();
  rounds_ = static_cast<int>((options.messages + per_round - 1) / per_round);
  live_.push_back(permanent(Make::world, options.threads > 1 ? shared : 0));
  live_.push_back(permanent(Make::self, options.threads > 1 ? shared : 0));
}

Recipe Plan::permanent(Make make, int owner) {
  Recipe recipe;
  recipe.ordinal = made_++;
  recipe.make = make;
  recipe.owner = owner;
  recipe.colour.assign(static_cast<std::size_t>(size_), 0);
  recipe.side = recipe.colour;
  recipe.parent = 0;
  return recipe;
}

Plan::Change Plan::next_block() {
  Random random(options_.seed * 7919u + static_cast<std::uint64_t>(blocks_++));
  Change change;
  if (options_.race && made_ == 2) change.made.push_back(permanent(Make::race, raced));
  for (auto it = live_.begin() + 2; it != live_.end();) {
    const bool permanent = it->make == Make::race;
    if (!permanent && random.once_in(4)) {
      change.freed.push_back(it->ordinal);
      it = live_.erase(it);
    } else {
      ++it;
    }
  }
  live_.insert(live_.end(), change.made.begin(), change.made.end());
  while (live_.size() < most_live) {
    const Recipe& parent = live_[static_cast<std::size_t>(random.below(live_.size()))];
    if (parent.make == Make::self || parent.make == Make::race) continue;
    Recipe made = derive(parent, random);
    if (std::all_of(made.colour.begin(), made.colour.end(), [](int c) { return c < 0; })) continue;
    live_.push_back(made);
    change.made.push_back(made);
  }
  return change;
}

Recipe Plan::derive(const Recipe& parent, Random& random) {
  constexpr Make from_intra[] = {Make::dup,    Make::idup,         Make::split, Make::split, Make::split_type,
                                 Make::create, Make::create_group, Make::cart,  Make::graph, Make::intercomm};
  constexpr Make from_inter[] = {Make::dup, Make::merge, Make::merge};
  Recipe made = parent;
  made.parent = parent.ordinal;
  made.make =
      parent.inter ? from_inter[random.below(std::size(from_inter))] : from_intra[random.below(std::size(from_intra))];
  made.salt = mix(static_cast<std::uint64_t>(random.below(1u << 30)));
  if (made.make == Make::merge) {
    made.inter = false;
    std::fill(made.side.begin(), made.side.end(), 0);
  }
  divide(made, parent);
  if (std::any_of(made.colour.begin(), made.colour.end(), [](int c) { return c >= 0; })) {
    made.ordinal = made_++;
    made.owner = made.ordinal % options_.threads;
  }
  return made;
}

// The colours, for makes that leave some out or divide the parent; for intercommunicators the sides.
void Plan::divide(Recipe& made, const Recipe& parent) const {
  std::map<std::pair<int, int>, int> number;  // (colour of the parent, part) -> new colour
  std::map<int, int> seen;                    // members of each parent so far
  std::map<int, int> members;
  for (const int c : parent.colour) ++members[c];
  for (std::size_t r = 0; r < parent.colour.size(); ++r) {
    if (parent.colour[r] < 0) continue;
    const auto drawn = static_cast<int>(hash(made.salt, static_cast<int>(r)) % 12);
    int part = 0;
    if (made.make == Make::split) part = drawn < 6 ? 0 : drawn < 11 ? 1 : -1;
    if (made.make == Make::create || made.make == Make::create_group) part = drawn < 9 ? 0 : -1;
    if (made.make == Make::intercomm) {
      made.side[r] = seen[parent.colour[r]]++ % 2;
      made.inter = true;
      if (members[parent.colour[r]] < 2) part = -1;
    }
    made.colour[r] = -1;
    if (part < 0) continue;
    const auto [at, fresh] = number.insert({{parent.colour[r], part}, static_cast<int>(number.size())});
    made.colour[r] = at->second;
  }
}

Round Plan::round(int thread, int number) const {
  Random random(mix(options_.seed * 1000003u + static_cast<std::uint64_t>(number)) +
                static_cast<std::uint64_t>(thread));
  Round round;
  std::vector<int> slots, own;
  for (int s = 0; s < static_cast<int>(live_.size()); ++s) {
    const Recipe& recipe = live_[static_cast<std::size_t>(s)];
    if (usable(recipe, thread)) slots.push_back(s);
    if (recipe.owner == thread) own.push_back(s);
    round.empty.push_back(recipe.owner != raced && random.once_in(3));
  }
  if (!own.empty() && !random.once_in(4)) round.prepared = own[static_cast<std::size_t>(random.below(own.size()))];
  for (int i = random.below(4); i > 0 && !own.empty(); --i)
    round.collectives.push_back(
        {own[static_cast<std::size_t>(random.below(own.size()))], random.below(collective_operations)});
  for (int i = random.below(3); i > 0 && own.size() >= 4; --i) {
    const int slot = own[static_cast<std::size_t>(random.below(own.size()))];
    // MPI_COMM_SELF stays: every rank must have somebody to send to.
    const Recipe& recipe = live_[static_cast<std::size_t>(slot)];
    if (recipe.make == Make::self || recipe.inter || slot == round.prepared || std::erase(slots, slot) == 0) continue;
    const int bytes = random.once_in(3) ? replace_bytes : random.once_in(4) ? 9000 : header_bytes + random.below(100);
    round.exchanges.push_back({slot, random.below(static_cast<std::size_t>(size_)), random.below(tags), bytes});
  }
  round.messages.reserve(static_cast<std::size_t>(size_ * options_.per_round()));
  for (int source = 0; source < size_; ++source)
    for (int i = 0; i < options_.per_round(); ++i) round.messages.push_back(draw(random, source, thread, slots, round));
  return round;
}

Planned Plan::draw(Random& random, int source, int thread, const std::vector<int>& slots, const Round& round) const {
  for (;;) {
    const int slot = slots[static_cast<std::size_t>(random.below(slots.size()))];
    const Recipe& recipe = live_[static_cast<std::size_t>(slot)];
    const std::vector<int> peers = recipe.peers(source);
    if (peers.empty()) continue;
    const int destination = peers[static_cast<std::size_t>(random.below(peers.size()))];
    const int tag = random.below(tags);
    int bytes = header_bytes + random.below(200);
    if (random.once_in(8)) bytes = replace_bytes;
    if (tag == long_tag && random.once_in(8)) bytes = 5000 + random.below(max_bytes - 5000);
    if (round.empty[static_cast<std::size_t>(slot)] && random.once_in(6)) bytes = 0;
    const bool own_tags = recipe.owner == shared && options_.threads > 1;
    return {source, destination, slot, own_tags ? thread * tags + tag : tag, bytes};
  }
}

}  // namespace chaos
