#include "analysis/wire/decode.hpp"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "analysis/wire/frame.hpp"
#include "analysis/wire/pclscope_generated.h"

namespace pclscope::wire {
namespace {

Error damaged(const char* what) {
  return {ErrorCode::damaged,
          std::string("a message of the job is damaged (") + what + "); the next one may be whole"};
}

// What decoding has yielded so far against the limits of frame.hpp.
class Budget {
 public:
  // False when `count` more elements of `size` bytes are too much.
  bool take(std::size_t count, std::size_t size) {
    if (count > (limit::decoded_bytes - used_) / size) return exceeded_ = true, false;
    used_ += count * size;
    return true;
  }
  bool take_ranks(std::uint64_t count) {
    if (count > limit::ranks - ranks_) return exceeded_ = true, false;
    ranks_ += static_cast<std::uint32_t>(count);
    return true;
  }
  void refuse() { exceeded_ = true; }
  bool exceeded() const { return exceeded_; }

 private:
  std::size_t used_ = 0;
  std::uint32_t ranks_ = 0;
  bool exceeded_ = false;
};

double finite(double value) { return std::isfinite(value) ? value : 0; }
float finite(float value) { return std::isfinite(value) ? value : 0; }
std::int32_t finite(std::int32_t value) { return value; }
std::uint32_t finite(std::uint32_t value) { return value; }

std::string text(const flatbuffers::String* from, Budget& budget) {
  return from && budget.take(from->size() + sizeof(std::string), 1) ? from->str() : std::string();
}

template <class T>
std::vector<T> numbers(const flatbuffers::Vector<T>* from, Budget& budget) {
  std::vector<T> to;
  if (!from || !budget.take(from->size(), sizeof(T))) return to;
  to.reserve(from->size());
  for (const T value : *from) to.push_back(finite(value));
  return to;
}

std::vector<std::int32_t> ranks(const flatbuffers::Vector<const fb::RankRange*>* from, Budget& budget) {
  std::vector<std::int32_t> to;
  if (!from) return to;
  for (const fb::RankRange* range : *from) {
    const std::int64_t end = std::int64_t{range->first()} + range->count();
    if (range->first() < 0 || end - 1 > std::numeric_limits<std::int32_t>::max()) return budget.refuse(), to;
    if (!budget.take_ranks(range->count())) return to;
    for (std::int64_t rank = range->first(); rank < end; rank++) to.push_back(static_cast<std::int32_t>(rank));
  }
  return to;
}

// Absent tables decode to default values: an older sender of the same major version may not know them.
Application decode(const fb::Application& from, Budget& budget) {
  Application to;
  to.command = text(from.command(), budget);
  to.mpi = text(from.mpi(), budget);
  to.ranks = std::max(from.ranks(), 0);
  to.aggregators = std::max(from.aggregators(), 0);
  if (from.nodes()) {
    for (const flatbuffers::String* node : *from.nodes()) {
      if (budget.exceeded()) break;
      to.nodes.push_back(text(node, budget));
    }
  }
  to.node_of_rank = numbers(from.node_of_rank(), budget);
  for (std::int32_t& node : to.node_of_rank) {  // readers use it as an index
    if (node < -1 || node >= static_cast<std::int64_t>(to.nodes.size())) node = -1;
  }
  return to;
}

MessageTotals decode(const fb::MessageTotals& from, Budget&) {
  MessageTotals to;
  to.matched = from.matched();
  to.unmatched_sends = from.unmatched_sends();
  to.unmatched_receives = from.unmatched_receives();
  to.ambiguous = from.ambiguous();
  to.dropped_events = from.dropped_events();
  to.bytes = from.bytes();
  to.delayed = from.delayed();
  to.clock_violations = from.clock_violations();
  to.foreign = from.foreign();
  to.events = from.events();
  to.half_recorded = from.half_recorded();
  return to;
}

LatencySummary decode(const fb::LatencySummary& from, Budget&) {
  return {finite(from.mean_ratio()), finite(from.median_s()), finite(from.p99_s())};
}

Region decode(const fb::Region& from, Budget& budget) {
  Region to;
  to.id = from.id();
  to.ranks = ranks(from.ranks(), budget);
  to.messages = from.messages();
  to.bytes = from.bytes();
  to.delayed = from.delayed();
  to.mean_latency_ratio = finite(from.mean_latency_ratio());
  to.delayed_share = finite(from.delayed_share());
  to.late_sender_s = finite(from.late_sender_s());
  to.late_receiver_s = finite(from.late_receiver_s());
  to.transfer_s = finite(from.transfer_s());
  to.history_ratio = numbers(from.history_ratio(), budget);
  to.history_messages = numbers(from.history_messages(), budget);
  const std::size_t windows = std::min(to.history_ratio.size(), to.history_messages.size());
  to.history_ratio.resize(windows);  // readers walk both with one index
  to.history_messages.resize(windows);
  return to;
}

WorstMessage decode(const fb::WorstMessage& from, Budget&) {
  WorstMessage to;
  to.source = from.source();
  to.destination = from.destination();
  to.tag = from.tag();
  to.comm = from.comm();
  to.bytes = from.bytes();
  to.start_s = finite(from.start_s());
  to.time_s = finite(from.time_s());
  to.ratio = finite(from.ratio());
  to.late_sender_s = finite(from.late_sender_s());
  to.late_receiver_s = finite(from.late_receiver_s());
  to.transfer_s = finite(from.transfer_s());
  return to;
}

RankSummary decode(const fb::RankSummary& from, Budget& budget) {
  RankSummary to;
  to.rank = from.rank();
  to.node = std::max(from.node(), -1);
  to.sends = from.sends();
  to.receives = from.receives();
  to.bytes_sent = from.bytes_sent();
  to.bytes_received = from.bytes_received();
  to.collectives = from.collectives();
  to.dropped_events = from.dropped_events();
  to.mean_ratio = finite(from.mean_ratio());
  to.mpi_s = finite(from.mpi_s());
  to.late_sender_s = finite(from.late_sender_s());
  to.late_receiver_s = finite(from.late_receiver_s());
  to.call_function = from.call_function();
  to.call_peer = from.call_peer();
  to.call_for_s = finite(from.call_for_s());
  to.finished = from.finished();
  to.call_site = from.call_site();
  to.call_comm = from.call_comm();
  to.call_tag = from.call_tag();
  to.waits_for = ranks(from.waits_for(), budget);
  to.waits_for_any = from.waits_for_any();
  return to;
}

Criterion decode(const fb::Criterion& from, Budget&) {
  return {from.inter_node(), from.bytes_low(), from.bytes_high(), from.count(), finite(from.median_s())};
}

Live decode(const fb::Live& from, Budget&) {
  return {finite(from.window_s()), from.window_end_realtime_ns(), from.sequence()};
}

FunctionActivity decode(const fb::FunctionActivity& from, Budget& budget) {
  return {from.function(), from.calls(), finite(from.inside_s()), from.ranks_inside(),
          numbers(from.history_share(), budget)};
}

DeadlockMember decode(const fb::DeadlockMember& from, Budget& budget) {
  DeadlockMember to;
  to.rank = from.rank();
  to.function = from.function();
  to.site = from.site();
  to.comm = from.comm();
  to.tag = from.tag();
  to.waits_for = ranks(from.waits_for(), budget);
  to.waits_for_any = from.waits_for_any();
  to.since_s = finite(from.since_s());
  return to;
}

CallSite decode(const fb::CallSite& from, Budget& budget) {
  CallSite to;
  to.id = from.id();
  to.module = text(from.module_(), budget);
  to.offset = from.offset();
  to.function = text(from.function(), budget);
  to.file = text(from.file(), budget);
  to.line = from.line();
  to.mpi_function = from.mpi_function();
  to.build_id = text(from.build_id(), budget);
  return to;
}

SiteActivity decode(const fb::SiteActivity& from, Budget&) {
  SiteActivity to;
  to.site = from.site();
  to.sends = from.sends();
  to.receives = from.receives();
  to.bytes = from.bytes();
  to.delayed = from.delayed();
  to.late_sender_s = finite(from.late_sender_s());
  to.waited_s = finite(from.waited_s());
  to.late_receiver_s = finite(from.late_receiver_s());
  to.excess_s = finite(from.excess_s());
  return to;
}

Deadlock decode(const fb::Deadlock& from, Budget& budget);

template <class Value, class Table>
void decode_all(const flatbuffers::Vector<flatbuffers::Offset<Table>>* from, std::vector<Value>& to, Budget& budget) {
  if (!from || !budget.take(from->size(), sizeof(Value))) return;
  to.reserve(from->size());
  for (const Table* table : *from) {
    if (budget.exceeded()) return;
    to.push_back(decode(*table, budget));
  }
}

Deadlock decode(const fb::Deadlock& from, Budget& budget) {
  Deadlock to;
  to.since_s = finite(from.since_s());
  to.found_s = finite(from.found_s());
  to.on_finished = from.on_finished();
  decode_all(from.members(), to.members, budget);
  return to;
}

Snapshot decode(const fb::Snapshot& from, Budget& budget) {
  Snapshot to;
  to.job = text(from.job(), budget);
  if (from.application()) to.application = decode(*from.application(), budget);
  to.time_origin_realtime_ns = from.time_origin_realtime_ns();
  to.duration_s = finite(from.duration_s());
  to.finished = from.finished();
  to.finalized_ranks = from.finalized_ranks();
  if (from.messages()) to.messages = decode(*from.messages(), budget);
  if (from.latency()) to.latency = decode(*from.latency(), budget);
  decode_all(from.regions(), to.regions, budget);
  decode_all(from.worst(), to.worst, budget);
  decode_all(from.ranks(), to.ranks, budget);
  decode_all(from.criteria(), to.criteria, budget);
  if (from.live()) to.live = decode(*from.live(), budget);
  decode_all(from.functions(), to.functions, budget);
  decode_all(from.deadlocks(), to.deadlocks, budget);
  decode_all(from.sites(), to.sites, budget);
  decode_all(from.site_activity(), to.site_activity, budget);
  const auto nodes = static_cast<std::int64_t>(to.application.nodes.size());
  for (RankSummary& rank : to.ranks) {
    if (rank.node >= nodes) rank.node = -1;
  }
  return to;
}

// Checks the header and the whole FlatBuffer. `aligned` keeps a copy alive when the frame lies askew in memory.
Result<const fb::Frame*> open(std::span<const std::uint8_t> frame, std::vector<std::uint64_t>& aligned) {
  if (frame.size() < header_bytes || std::memcmp(frame.data(), magic, sizeof magic) != 0) {
    return Error{ErrorCode::not_ours, "what answers there does not speak pclscope's protocol"};
  }
  const unsigned major = frame[4] | frame[5] << 8;
  if (major != version_major) {
    return Error{ErrorCode::wrong_version, "the job speaks version " + std::to_string(major) +
                                               " of the protocol, this program version " +
                                               std::to_string(version_major) + ": use the same pclscope for both"};
  }
  std::span<const std::uint8_t> body = frame.subspan(header_bytes);
  if (body.empty() || body.size() > limit::frame_bytes) return damaged("size");
  if (reinterpret_cast<std::uintptr_t>(body.data()) % alignof(std::uint64_t) != 0) {
    aligned.resize(body.size() / sizeof(std::uint64_t) + 1);
    std::memcpy(aligned.data(), body.data(), body.size());
    body = {reinterpret_cast<const std::uint8_t*>(aligned.data()), body.size()};
  }
  flatbuffers::Verifier verifier(body.data(), body.size(), limit::depth, limit::tables);
  if (!verifier.VerifyBuffer<fb::Frame>(nullptr)) return damaged("structure");
  return flatbuffers::GetRoot<fb::Frame>(body.data());
}

}  // namespace

Result<Snapshot> decode_snapshot(std::span<const std::uint8_t> frame) {
  std::vector<std::uint64_t> aligned;
  const auto opened = open(frame, aligned);
  if (!opened) return opened.error();
  const fb::Snapshot* body = (*opened)->body_as_Snapshot();
  if (!body) return damaged("not a snapshot");
  Budget budget;
  Snapshot snapshot = decode(*body, budget);
  if (budget.exceeded()) return damaged("too large or out of range");
  return snapshot;
}

Result<Question> decode_question(std::span<const std::uint8_t> frame) {
  std::vector<std::uint64_t> aligned;
  const auto opened = open(frame, aligned);
  if (!opened) return opened.error();
  const fb::Question* body = (*opened)->body_as_Question();
  if (!body) return damaged("not a question");
  return Question{body->id(), body->kind() == fb::QuestionKind::newest_snapshot};
}

Result<Answer> decode_answer(std::span<const std::uint8_t> frame) {
  std::vector<std::uint64_t> aligned;
  const auto opened = open(frame, aligned);
  if (!opened) return opened.error();
  const fb::Answer* body = (*opened)->body_as_Answer();
  if (!body) return damaged("not an answer");
  if (body->status() > fb::AnswerStatus::unknown_question) return Answer{body->id(), AnswerStatus::unknown_question};
  return Answer{body->id(), static_cast<AnswerStatus>(body->status())};
}

}  // namespace pclscope::wire
