#include "analysis/wire/attribution_frame.hpp"

#include <algorithm>

namespace pclscope::wire {
namespace {

Offset<fb::Finding> encode(Builder& to, const Finding& value) {
  const auto ranks = to.CreateVector(value.ranks);
  const auto nodes = to.CreateVector(value.nodes);
  const auto detail = to.CreateString(value.detail);
  const auto evidence = to.CreateVectorOfStrings(value.evidence);
  const auto advice = to.CreateString(value.advice);
  return fb::CreateFinding(to, static_cast<std::uint8_t>(value.cause), value.region, ranks, value.site, nodes,
                           value.begin_s, value.end_s, value.open, value.score, value.confidence, value.lost_s, detail,
                           evidence, advice);
}

Offset<fb::TransferLine> encode(Builder& to, const TransferLine& value) {
  const auto normalised = to.CreateVector(value.normalised);
  return fb::CreateTransferLine(to, value.bytes_low, value.bytes_high, value.messages, value.calm, normalised);
}

Finding decode(const fb::Finding& from, std::int64_t nodes, Budget& budget) {
  Finding to;
  if (from.cause() <= static_cast<std::uint8_t>(Cause::collective_wait)) to.cause = static_cast<Cause>(from.cause());
  else to.cause = Cause::unknown;  // of a newer aggregator
  to.region = std::max(from.region(), -1);
  to.ranks = numbers(from.ranks(), budget);
  to.site = from.site();
  const std::vector<std::int32_t> pairs = numbers(from.nodes(), budget);
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    if (std::min(pairs[i], pairs[i + 1]) < 0 || std::max(pairs[i], pairs[i + 1]) >= nodes) continue;
    to.nodes.insert(to.nodes.end(), {pairs[i], pairs[i + 1]});
  }
  to.begin_s = finite(from.begin_s());
  to.end_s = finite(from.end_s());
  to.open = from.open();
  to.score = finite(from.score());
  to.confidence = std::clamp(finite(from.confidence()), 0.0, 1.0);
  to.lost_s = finite(from.lost_s());
  to.detail = text(from.detail(), budget);
  if (from.evidence()) {
    for (const flatbuffers::String* sentence : *from.evidence()) {
      if (budget.exceeded()) break;
      to.evidence.push_back(text(sentence, budget));
    }
  }
  to.advice = text(from.advice(), budget);
  return to;
}

TransferLine decode(const fb::TransferLine& from, std::size_t slices, Budget& budget) {
  TransferLine to{from.bytes_low(), from.bytes_high(), from.messages(), from.calm(),
                  numbers(from.normalised(), budget)};
  to.normalised.resize(slices);  // readers walk it beside the slices
  return to;
}

void decode_slices(const fb::Attribution& from, Attribution& to, Budget& budget) {
  if (!from.slices() || !budget.take(from.slices()->size(), sizeof(AttributionSlice))) return;
  if (!is_aligned(*from.slices(), alignof(fb::AttributionSlice))) return budget.refuse();
  to.slices.reserve(from.slices()->size());
  for (const fb::AttributionSlice* s : *from.slices()) {
    to.slices.push_back({finite(s->begin_s()), finite(s->length_s()), s->intra_messages(), s->inter_messages(),
                         finite(s->load_balance()), finite(s->wait_s()), finite(s->blocked_s()),
                         finite(s->collective_s()), finite(s->transfer_s()), finite(s->excess_transfer_s())});
  }
}

}  // namespace

Offset<fb::Attribution> encode(Builder& to, const Attribution& value) {
  std::vector<fb::AttributionSlice> slices;
  slices.reserve(value.slices.size());
  for (const AttributionSlice& s : value.slices) {
    slices.emplace_back(s.begin_s, s.length_s, s.intra_messages, s.inter_messages, s.load_balance, s.wait_s,
                        s.blocked_s, s.collective_s, s.transfer_s, s.excess_transfer_s);
  }
  const auto each = [](Builder& into, const auto& one) { return encode(into, one); };
  const auto findings = encode_each<fb::Finding>(to, value.findings, each);
  const auto written = to.CreateVectorOfStructs(slices);
  const auto lines = encode_each<fb::TransferLine>(to, value.transfer_lines, each);
  return fb::CreateAttribution(to, findings, written, lines);
}

Offset<fb::Traffic> encode(Builder& to, const std::vector<PairTraffic>& pairs) {
  std::vector<fb::PairTraffic> structs;
  structs.reserve(pairs.size());
  for (const PairTraffic& p : pairs) structs.emplace_back(p.source, p.destination, p.messages, p.bytes);
  return fb::CreateTraffic(to, to.CreateVectorOfStructs(structs));
}

Attribution decode(const fb::Attribution& from, std::int64_t nodes, Budget& budget) {
  Attribution to;
  if (from.findings() && budget.take(from.findings()->size(), sizeof(Finding))) {
    for (const fb::Finding* finding : *from.findings()) {
      if (budget.exceeded()) return to;
      to.findings.push_back(decode(*finding, nodes, budget));
    }
  }
  decode_slices(from, to, budget);
  if (from.transfer_lines() &&
      budget.take(from.transfer_lines()->size(), sizeof(TransferLine) + to.slices.size() * sizeof(float))) {
    for (const fb::TransferLine* line : *from.transfer_lines()) {
      if (budget.exceeded()) return to;
      to.transfer_lines.push_back(decode(*line, to.slices.size(), budget));
    }
  }
  return to;
}

std::vector<PairTraffic> decode(const fb::Traffic& from, Budget& budget) {
  std::vector<PairTraffic> to;
  if (!from.pairs() || !budget.take(from.pairs()->size(), sizeof(PairTraffic))) return to;
  if (!is_aligned(*from.pairs(), alignof(fb::PairTraffic))) return budget.refuse(), to;
  to.reserve(from.pairs()->size());
  for (const fb::PairTraffic* p : *from.pairs()) {
    if (p->source() < 0 || p->destination() < 0) return budget.refuse(), to;  // readers use them as indices
    to.push_back({p->source(), p->destination(), p->messages(), p->bytes()});
  }
  return to;
}

}  // namespace pclscope::wire
