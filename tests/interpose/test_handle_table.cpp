// The hash table of handles against std::unordered_map, with keys as MPI libraries hand them out.
#include <catch2/catch.hpp>
#include <random>
#include <unordered_map>
#include <vector>

#include "interpose/recorder/handle_table.hpp"

using pclscope::HandleTable;

namespace {

struct Entry {
  std::uint64_t key;
  std::uint64_t value;
};

// The k-th handle of a kind of MPI library.
std::uint64_t handle(unsigned style, std::uint64_t k) {
  switch (style) {
    case 0: return 0x98000000u + k;                     // MPICH: consecutive numbers
    case 1: return 0x55d0c0de0000u + 640 * k;           // Open MPI: structures side by side
    case 2: return 0x7f0000000000u + 64 * k;            // small structures
    case 3: return 0x7f0000000000u + (k << 21);         // far apart, low bits equal
    default: return (k + 1) * 0xDA942042E4DD58B5u | 1;  // anywhere
  }
}

template <unsigned Granule>
void compare(unsigned style, unsigned seed) {
  std::mt19937_64 random(seed);
  HandleTable<Entry, Granule> table;
  std::unordered_map<std::uint64_t, std::uint64_t> oracle;
  const std::uint64_t range = 1 + random() % 4000;
  // Ends at the first fault; an assertion in each step would take most of the time.
  const auto fault = [&](int step, const char* what) { FAIL(what << ", step " << step); };
  for (int step = 0; step < 60000; ++step) {
    const std::uint64_t key = handle(style, random() % range);
    Entry* found = table.find(key);
    const auto known = oracle.find(key);
    if ((found != nullptr) != (known != oracle.end())) fault(step, "found what is not there, or not what is");
    if (found != nullptr) {
      if (found->key != key) fault(step, "another key");
      if (found->value != known->second) fault(step, "another value");
    }
    if (random() % 2 == 0) {
      Entry* entry = table.insert(key);
      if (entry == nullptr) fault(step, "no room");
      if (found == nullptr && entry->value != 0) fault(step, "a new entry with a value");
      oracle[key] = entry->value = random() | 1;
    } else if (found != nullptr) {
      table.erase(found);
      oracle.erase(key);
    }
    if (table.size() != oracle.size()) fault(step, "another size");
  }
  std::size_t wrong = 0;
  for (const auto& [key, value] : oracle) {
    Entry* found = table.find(key);
    wrong += found == nullptr || found->value != value;
  }
  REQUIRE(wrong == 0);
  table.give_memory_back();
}

}  // namespace

TEST_CASE("the handle table does what a map does, whatever the handles look like") {
  const unsigned style = GENERATE(0u, 1u, 2u, 3u, 4u);
  const unsigned seed = GENERATE(11u, 12u, 13u);
  CAPTURE(style, seed);
  compare<0>(style, seed);
  compare<9>(style, seed);
}

TEST_CASE("a hundred thousand handles stay quick to find") {
  // Not a time but a count: the longest run that a search may have to walk, felt as a quadratic total otherwise.
  const unsigned style = GENERATE(0u, 1u, 3u, 4u);
  CAPTURE(style);
  HandleTable<Entry, 9> wide;
  HandleTable<Entry, 0> narrow;
  for (std::uint64_t k = 0; k < 100000; ++k) {
    if (style == 0) {
      narrow.insert(handle(style, k))->value = k;
    } else {
      wide.insert(handle(style, k))->value = k;
    }
  }
  std::uint64_t wrong = 0;
  for (int round = 0; round < 20; ++round) {
    for (std::uint64_t k = 0; k < 100000; ++k) {
      const Entry* found = style == 0 ? narrow.find(handle(style, k)) : wide.find(handle(style, k));
      wrong += found == nullptr || found->value != k;
    }
  }
  REQUIRE(wrong == 0);
  wide.give_memory_back();
  narrow.give_memory_back();
}
