// The table of requests against std::unordered_map, and from many threads as MPI_THREAD_MULTIPLE uses it: handles go
// from thread to thread through a free list, whoever holds one owns its entry.
#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

#include "interpose/process/guard.hpp"
#include "interpose/recorder/stable_table.hpp"
#include "tests/thinned.hpp"

using pclscope::SpinGuard;
using pclscope::StableTable;

namespace {

struct Entry {
  std::uint64_t owner = 0;
  std::uint64_t value = 0;
};

// The k-th handle of a kind of MPI library.
std::uint64_t handle(unsigned style, std::uint64_t k) {
  switch (style) {
    case 0: return 0x98000000u + k;              // MPICH: consecutive numbers
    case 1: return 0x55d0c0de0000u + 640 * k;    // Open MPI: structures side by side
    case 2: return 0x7f0000000000u + (k << 21);  // far apart, low bits equal
    default: return (k + 1) << 20 | 128 * (k & 7);
  }
}

// Tables live until the end of the process: they have no destructor.
std::vector<void*>& kept = *new std::vector<void*>;
template <unsigned Granule>
StableTable<Entry, Granule>& new_table() {
  auto* table = new StableTable<Entry, Granule>;
  kept.push_back(table);
  return *table;
}

template <unsigned Granule>
void compare(unsigned style, unsigned seed) {
  std::mt19937_64 random(seed);
  auto& table = new_table<Granule>();
  std::unordered_map<std::uint64_t, Entry*> oracle;
  const std::uint64_t range = 1 + random() % 6000;
  for (int step = 0; step < 40000; ++step) {
    const std::uint64_t key = handle(style, random() % range);
    Entry* found = table.find(key);
    const auto known = oracle.find(key);
    REQUIRE((found != nullptr) == (known != oracle.end()));
    if (found != nullptr) {
      REQUIRE(found == known->second);  // it never moves
      REQUIRE(found->value == key);
    } else if (random() % 2 == 0) {
      Entry* made = table.insert(key);
      REQUIRE(made != nullptr);
      REQUIRE(made->value == 0);
      made->value = key;
      oracle[key] = made;
      REQUIRE(table.insert(key) == made);
    }
  }
  for (const auto& [key, entry] : oracle) REQUIRE(table.find(key) == entry);
}

}  // namespace

TEST_CASE("the table of requests does what a map does, and its entries never move") {
  const unsigned style = GENERATE(0u, 1u, 2u, 3u);
  const unsigned seed = GENERATE(21u, 22u);
  CAPTURE(style, seed);
  compare<7>(style == 0 ? 1 : style, seed);
  compare<0>(style, seed);
}

TEST_CASE("threads that pass handles on find what the one before them left") {
  constexpr unsigned threads = 4;
  constexpr int rounds = pclscope::test::thinned(20000);
  const unsigned style = GENERATE(0u, 1u);
  CAPTURE(style);
  auto& table = new_table<0>();
  std::atomic<bool> lock{false};
  std::mutex free_list_lock;  // MPI's own
  std::vector<std::uint64_t> free_list;
  std::uint64_t fresh = 0;
  std::atomic<std::uint64_t> wrong{0};
  const auto work = [&](unsigned me) {
    std::mt19937 random(me);
    for (int round = 0; round < rounds; ++round) {
      std::uint64_t key = 0;
      {
        std::lock_guard guard(free_list_lock);
        if (free_list.size() < 300 || random() % 8 == 0) free_list.push_back(handle(style, fresh++ % 5000));
        key = free_list[random() % free_list.size()];
        std::erase(free_list, key);
      }
      Entry* entry = table.find(key);
      if (entry == nullptr) {
        SpinGuard guard(lock, true);
        entry = table.insert(key);
      }
      wrong += entry == nullptr || (entry->value != 0 && entry->value != key) || entry->owner != 0;
      entry->owner = me + 1;
      entry->value = key;
      wrong += table.find(key) != entry || entry->owner != me + 1;
      entry->owner = 0;
      std::lock_guard guard(free_list_lock);
      free_list.push_back(key);
    }
  };
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i) all.emplace_back(work, i);
  for (std::thread& t : all) t.join();
  CHECK(wrong == 0);
}
