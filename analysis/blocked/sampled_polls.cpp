#include "analysis/blocked/sampled_polls.hpp"

#include <algorithm>

namespace pclscope::blocked {

bool SampledPolls::any(std::int32_t rank, std::uint32_t thread) const {
  const auto& threads = looks_[static_cast<std::size_t>(rank)];
  return thread < threads.size() && !threads[thread].empty();
}

void SampledPolls::add(std::int32_t rank, std::uint32_t thread, const Look& look, const Take& take) {
  if (count_ >= most_) thin(take);
  auto& threads = looks_[static_cast<std::size_t>(rank)];
  if (threads.size() <= thread) threads.resize(thread + 1);
  threads[thread].push_back(look);
  ++count_;
}

void SampledPolls::called(std::int32_t rank, std::uint32_t thread, std::uint64_t begin, std::uint64_t end,
                          const Take& take) {
  std::vector<Look>& looks = looks_[static_cast<std::size_t>(rank)][thread];
  std::size_t decided = 0;
  for (; decided < looks.size() && looks[decided].at <= end; ++decided)
    if (looks[decided].at < begin) take(rank, looks[decided]);
  looks.erase(looks.begin(), looks.begin() + static_cast<std::ptrdiff_t>(decided));
  count_ -= decided;
}

void SampledPolls::end(const Take& take) {
  each(take);
  for (auto& threads : looks_) threads.clear();
  count_ = 0;
}

void SampledPolls::each(const Take& visit) const {
  if (count_ == 0) return;
  for (std::size_t rank = 0; rank < looks_.size(); ++rank)
    for (const auto& thread : looks_[rank])
      for (const Look& look : thread) visit(static_cast<std::int32_t>(rank), look);
}

std::uint64_t SampledPolls::undecided(std::int32_t rank) const {
  std::uint64_t ticks = 0;
  for (const auto& thread : looks_[static_cast<std::size_t>(rank)])
    for (const Look& look : thread) ticks += look.at - look.since;
  return ticks;
}

void SampledPolls::thin(const Take& take) {
  count_ = 0;
  for (std::size_t rank = 0; rank < looks_.size(); ++rank)
    for (auto& looks : looks_[rank]) {
      std::vector<Look> fewer;
      bool joined = false;
      for (const Look& look : looks) {
        joined = !joined && !fewer.empty() && fewer.back().at == look.since && fewer.back().function == look.function;
        if (joined) fewer.back().at = look.at;
        else fewer.push_back(look);
      }
      // Looks with gaps between them are no wait: the older half is time of its own.
      if (fewer.size() * 4 > looks.size() * 3) {
        const std::size_t half = fewer.size() / 2;
        for (std::size_t i = 0; i < half; ++i) take(static_cast<std::int32_t>(rank), fewer[i]);
        fewer.erase(fewer.begin(), fewer.begin() + static_cast<std::ptrdiff_t>(half));
      }
      count_ += fewer.size();
      looks = std::move(fewer);
    }
}

}  // namespace pclscope::blocked
