#include "analysis/window/newest_calls.hpp"

#include <algorithm>
#include <utility>

namespace pclscope {
namespace {

constexpr double saved_s = 0.1;
constexpr std::size_t room_for_one = 128;

constexpr std::int64_t furthest_ns = 4'000'000'000'000'000'000;

// Whoever gets them subtracts. A call of another node may be damaged.
bool is_believed(const MpiCall& call) {
  return call.rank >= 0 && call.begin >= -furthest_ns && call.begin <= call.end && call.end <= furthest_ns &&
         call.outside >= -1 && call.outside <= furthest_ns;
}

}  // namespace

std::int64_t NewestCalls::settled_until(std::int64_t read_until_ns) {
  const std::int64_t ns = std::clamp(read_until_ns, -furthest_ns, furthest_ns) - allowance_ns;
  return ns >= 0 ? ns / step_ns * step_ns : -((-ns + step_ns - 1) / step_ns * step_ns);
}

NewestCalls::NewestCalls(std::int32_t ranks, double share, std::size_t bytes)
    : log_(ranks, step_ns, most_waiting), time_(share, saved_s), most_bytes_(std::max(bytes, 2 * block_bytes)) {}

void NewestCalls::add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events) {
  const TimeShare::Clock::time_point start = TimeShare::Clock::now();
  log_.shed(!time_.allows(start));
  log_.add(rank, thread, events);
  time_.used(TimeShare::Clock::now() - start);
}

// The first time some rings may have been read before the first add(); the second time none.
void NewestCalls::settle(std::int64_t read_until_ns, const Sink& sink) {
  if (settled_times_ < 2 && ++settled_times_ == 2) whole_from_ns_ = read_until_ns;
  const std::int64_t until = settled_until(read_until_ns);
  if (until <= settled_ns_) return;
  const TimeShare::Clock::time_point start = TimeShare::Clock::now();
  settled_ns_ = until;
  if (log_.take(until) > 0) log_.each_taken(sink);
  time_.used(TimeShare::Clock::now() - start);
}

void NewestCalls::keep(std::span<const MpiCall> calls) {
  auto returned = returned_.end();
  for (const MpiCall& call : calls) {
    if (!is_believed(call)) continue;
    if (blocks_.empty() || blocks_.back().calls.used() + room_for_one > block_bytes) {
      while (bytes_ + block_bytes > most_bytes_) forget_oldest();
      while (!blocks_.empty() && blocks_.front().last_end < call.end - kept_ns) forget_oldest();
      blocks_.emplace_back();
    }
    Block& block = blocks_.back();
    const std::size_t before = block.calls.bytes();
    block.calls.append(call);
    block.last_end = std::max(block.last_end, call.end);
    bytes_ += block.calls.bytes() - before;
    if (returned == returned_.end() || returned->first != Thread(call.rank, call.thread))
      returned = returned_.try_emplace({call.rank, call.thread}, INT64_MIN).first;
    returned->second = std::max(returned->second, call.end);
  }
}

void NewestCalls::forget_oldest() {
  if (blocks_.empty()) return;
  from_ns_ = std::max(from_ns_, blocks_.front().last_end + 1);
  bytes_ -= blocks_.front().calls.bytes();
  blocks_.pop_front();
}

// Block by block from the newest back, so that an answer takes memory for what is in it, and for a block.
std::vector<MpiCall> NewestCalls::newest(const CallsQuestion& question, std::int64_t& from_ns) const {
  std::vector<std::int64_t> end_before(blocks_.size() + 1, INT64_MIN);  // the last one in all blocks before
  for (std::size_t b = 0; b < blocks_.size(); ++b) end_before[b + 1] = std::max(end_before[b], blocks_[b].last_end);
  std::vector<std::vector<MpiCall>> found;  // newest block first
  std::size_t count = 0;
  // Blocks overlap in time: those of one step hold its ranks one after the other.
  const auto enough = [&](std::int64_t after_ns) {
    if (count <= question.most) return false;
    std::size_t later = 0;
    for (const auto& block : found)
      for (const MpiCall& call : block) later += call.end > after_ns;
    return later > question.most;
  };
  for (std::size_t b = blocks_.size(); b-- > 0 && end_before[b + 1] >= from_ns;) {
    if (enough(end_before[b + 1])) {
      from_ns = end_before[b + 1] + 1;
      break;
    }
    std::vector<MpiCall>& here = found.emplace_back();
    blocks_[b].calls.each([&](const MpiCall& call) {
      if (call.end < from_ns || call.end >= until_ns_) return;
      if (!question.ranks.empty() && !std::binary_search(question.ranks.begin(), question.ranks.end(), call.rank))
        return;
      here.push_back(call);
    });
    count += here.size();
  }
  std::vector<MpiCall> calls;
  calls.reserve(count);
  for (std::size_t b = found.size(); b-- > 0;) calls.insert(calls.end(), found[b].begin(), found[b].end());
  std::erase_if(calls, [&](const MpiCall& call) { return call.end < from_ns; });
  if (calls.size() <= question.most) return calls;
  // Calls that returned together stay together.
  std::vector<std::int64_t> ends;
  ends.reserve(calls.size());
  for (const MpiCall& call : calls) ends.push_back(call.end);
  const auto last_out = ends.begin() + static_cast<std::ptrdiff_t>(calls.size() - question.most - 1);
  std::nth_element(ends.begin(), last_out, ends.end());
  from_ns = *last_out + 1;
  std::erase_if(calls, [&](const MpiCall& call) { return call.end < from_ns; });
  return calls;
}

CallsPart NewestCalls::part(const CallsQuestion& question, std::vector<MpiCall> running, std::int64_t now_ns) {
  const TimeShare::Clock::time_point start = TimeShare::Clock::now();
  CallsPart part;
  part.until_ns = std::max<std::int64_t>(until_ns_, 0);
  part.from_ns = std::clamp<std::int64_t>(std::max(question.from_ns, from_ns_), 0, part.until_ns);
  std::int64_t from_ns = part.from_ns;
  part.calls = newest(question, from_ns);
  part.from_ns = std::min(from_ns, part.until_ns);
  part.now_ns = std::max(now_ns, part.until_ns);
  for (MpiCall& call : running) {
    const bool asked =
        question.ranks.empty() || std::binary_search(question.ranks.begin(), question.ranks.end(), call.rank);
    const auto last = returned_.find({call.rank, call.thread});
    if (!asked || (last != returned_.end() && last->second > call.begin)) continue;
    call.end = part.now_ns;
    call.begin = std::min(call.begin, call.end);
    part.running.push_back(call);
  }
  part.left_out = left_out();
  time_.used(TimeShare::Clock::now() - start);
  return part;
}

}  // namespace pclscope
