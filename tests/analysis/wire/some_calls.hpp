// Any part of the newest calls that a job may tell.
#pragma once

#include <random>

#include "analysis/values/calls_part.hpp"

namespace pclscope::test {

inline CallsPart some_calls(std::mt19937_64& random, std::size_t count) {
  CallsPart part;
  part.from_ns = static_cast<std::int64_t>(random() % 1'000'000'000'000);
  part.until_ns = part.from_ns + static_cast<std::int64_t>(random() % 10'000'000'000);
  part.now_ns = part.until_ns + static_cast<std::int64_t>(random() % 100'000'000);
  part.left_out = random() % 1000;
  for (std::size_t i = 0; i < count + 2; ++i) {
    MpiCall call;
    call.rank = static_cast<std::int32_t>(random() % 64);
    call.thread = static_cast<std::uint16_t>(random() % 3);
    call.function = static_cast<std::uint16_t>(random() % 400);
    call.ending = random() % 9 ? CallEnding::returned : CallEnding::unseen;
    call.peer = static_cast<std::int32_t>(random() % 66) - 2;
    call.begin = part.from_ns - static_cast<std::int64_t>(random() % 1'000'000);
    call.end = call.begin + static_cast<std::int64_t>(random() % 2'000'000);
    call.outside = static_cast<std::int64_t>(random() % 1000) - 1;
    call.bytes = random() >> random() % 64;
    call.comm = random();
    call.site = random() % 100;
    (i < 2 ? part.running : part.calls).push_back(call);
  }
  for (std::int32_t rank = 0; rank < 64; ++rank)
    if (random() % 8 == 0) part.untold.push_back(rank);
  return part;
}

}  // namespace pclscope::test
