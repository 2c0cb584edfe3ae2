// Records of random programs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"

namespace pclscope::test {

struct RandomRecords {
  std::int32_t ranks = 0;
  std::vector<Message> messages;
  std::vector<CollectiveCall> collectives;
};

// Whatever may happen: sends, calls that receive some of what is there, of anybody, collectives of some ranks that
// leave when they like, threads (calls that overlap). Time goes on with every entry and return.
inline RandomRecords random_records(std::mt19937_64& random, int operations, bool early_leaves) {
  RandomRecords t;
  t.ranks = 2 + static_cast<std::int32_t>(random() % 7);
  const auto any_rank = [&] { return static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(t.ranks)); };
  std::map<std::int32_t, std::vector<std::size_t>> on_the_way;
  std::int64_t now = 0;
  std::uint64_t ordinal = 0;
  const auto next = [&] { return now += 1 + static_cast<std::int64_t>(random() % 50); };
  const auto receive = [&](std::int32_t rank) {
    std::vector<std::size_t>& there = on_the_way[rank];
    std::shuffle(there.begin(), there.end(), random);
    std::size_t count = std::min<std::size_t>(there.size(), 1 + random() % 3);
    const std::int64_t end = next();
    const std::int64_t begin = end - static_cast<std::int64_t>(random() % 30);
    for (; count > 0; --count, there.pop_back()) {
      Message& m = t.messages[there.back()];
      m.recv_end = end;
      m.recv_wait = begin;
    }
  };
  for (int i = 0; i < operations; ++i) {
    const std::uint64_t what = random() % 10;
    if (what < 5) {
      Message m;
      m.source = any_rank();
      m.destination = any_rank();
      m.send_begin = next();
      m.send_end = m.send_begin + static_cast<std::int64_t>(random() % 30);
      m.send_site = 1 + random() % 2;
      on_the_way[m.destination].push_back(t.messages.size());
      t.messages.push_back(m);
    } else if (what < 9) {
      receive(any_rank());
    } else {
      const std::int64_t entered = next();
      for (std::int32_t r = 0; r < t.ranks; ++r) {
        if (r > 1 && random() % 2) continue;
        CollectiveCall c;
        c.rank = r;
        c.ordinal = ordinal;
        c.site = 5 + ordinal % 2;
        c.begin = entered + (early_leaves ? 1 : -1) * static_cast<std::int64_t>(random() % 100);
        c.end = early_leaves ? c.begin + static_cast<std::int64_t>(random() % 90) : next();
        t.collectives.push_back(c);
      }
      ++ordinal;
    }
  }
  for (std::int32_t r = 0; r < t.ranks; ++r)
    while (!on_the_way[r].empty()) receive(r);
  return t;
}

}  // namespace pclscope::test
