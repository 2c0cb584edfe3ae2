#include "analysis/wire/calls_frame.hpp"

#include <algorithm>

#include "analysis/window/packed_calls.hpp"

namespace pclscope::wire {
namespace {

constexpr std::int64_t furthest_ns = 4'000'000'000'000'000'000;

std::vector<std::int32_t> decode_ranks(const Runs* runs, Budget& budget) {
  std::vector<std::int32_t> ranks;
  if (runs) each_number(*runs, limit::question_ranks, budget, [&](std::int32_t rank) { ranks.push_back(rank); });
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (!ranks.empty() && ranks.front() < 0) budget.refuse();
  return ranks;
}

bool is_in_time(std::int64_t ns) { return ns >= -furthest_ns && ns <= furthest_ns; }

std::vector<MpiCall> decode_calls(const flatbuffers::Vector<std::uint8_t>* packed, std::uint32_t count,
                                  Budget& budget) {
  if (!packed || packed->size() == 0) {
    if (count > 0) budget.refuse();
    return {};
  }
  if (count > limit::calls || !budget.take(count, sizeof(MpiCall))) return budget.refuse(), std::vector<MpiCall>();
  auto calls = PackedCalls::unpack({packed->data(), packed->size()}, count);
  if (!calls) return budget.refuse(), std::vector<MpiCall>();
  for (const MpiCall& call : *calls)
    if (call.rank < 0 || !is_in_time(call.begin) || !is_in_time(call.end) || call.end < call.begin ||
        call.outside < -1 || !is_in_time(call.outside))
      budget.refuse();
  return std::move(*calls);
}

}  // namespace

Offset<fb::CallsQuestion> encode(Builder& to, const CallsQuestion& value) {
  return fb::CreateCallsQuestion(to, value.from_ns, value.most, to.CreateVectorOfStructs(as_runs(value.ranks)));
}

Offset<fb::Calls> encode(Builder& to, const CallsPart& value) {
  PackedCalls calls, running;
  calls.append(value.calls);
  running.append(value.running);
  const auto bytes = [&](const PackedCalls& of) { return to.CreateVector(of.packed().data(), of.packed().size()); };
  const auto packed = bytes(calls), packed_running = bytes(running);
  const auto untold = to.CreateVectorOfStructs(as_runs(value.untold));
  return fb::CreateCalls(to, value.from_ns, value.until_ns, value.now_ns, value.left_out,
                         static_cast<std::uint32_t>(value.calls.size()), packed,
                         static_cast<std::uint32_t>(value.running.size()), packed_running, untold);
}

CallsQuestion decode(const fb::CallsQuestion& from, Budget& budget) {
  return {from.from_ns(), std::min(from.most(), limit::calls), decode_ranks(from.ranks(), budget)};
}

CallsPart decode(const fb::Calls& from, Budget& budget) {
  CallsPart to;
  to.from_ns = from.from_ns();
  to.until_ns = from.until_ns();
  to.now_ns = from.now_ns();
  if (to.from_ns < 0 || to.until_ns < to.from_ns || to.now_ns < to.until_ns || !is_in_time(to.now_ns)) budget.refuse();
  to.left_out = from.left_out();
  to.calls = decode_calls(from.packed(), from.calls(), budget);
  to.running = decode_calls(from.packed_running(), from.running(), budget);
  to.untold = decode_ranks(from.untold(), budget);
  return to;
}

}  // namespace pclscope::wire
