#include "analysis/attribute/attributor.hpp"

#include <algorithm>
#include <functional>
#include <tuple>

#include "analysis/attribute/as_late.hpp"
#include "analysis/attribute/findings.hpp"
#include "analysis/attribute/gain.hpp"

namespace pclscope::attribute {
namespace {

constexpr std::int64_t between_ns = 500'000'000;  // of the job's time, between two derivations
constexpr std::uint64_t first_mapping = 1000;     // messages
constexpr std::size_t most_replayed = 4;          // findings, at the end
constexpr std::size_t most_more_replayed = 8;     // for ranks that are as late

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

// CollectiveCall::wait_begin() and wait(), of any times.
std::int64_t wait_begin(const CollectiveCall& c) {
  const std::int64_t begin = CallsOfRanks::cut(c.begin);
  if (!c.nonblocking) return begin;
  return std::max(begin, CallsOfRanks::cut(c.end) - std::max<std::int64_t>(CallsOfRanks::cut(c.completing), 0));
}
double wait_s(const CollectiveCall& c) {
  if (c.awaited < 0) return 0;
  return std::max(0.0, seconds(CallsOfRanks::cut(std::min(c.awaited_begin, c.end)) - wait_begin(c)));
}

}  // namespace

Attributor::Attributor(std::int32_t ranks, AttributorOptions options)
    : options_(std::move(options)),
      slices_(ranks, options_.window_ns),
      exposure_(ranks),
      computing_(options_.inside_mpi),
      time_(options_.time_share) {
  counted_.sent.resize(static_cast<std::size_t>(slices_.ranks()));
  counted_.received = counted_.sent;
  counted_.sent_bytes.resize(counted_.sent.size());
  counted_.received_bytes = counted_.sent_bytes;
  counted_.partners.resize(counted_.sent.size());
}

void Attributor::count(std::int32_t source, std::int32_t destination, std::int32_t from_node, std::int32_t to_node,
                       std::uint64_t messages, std::uint64_t bytes) {
  if (source == destination || source < 0 || destination < 0) return;
  if (std::max(source, destination) >= slices_.ranks()) return;
  counted_.sent[static_cast<std::size_t>(source)] += messages;
  counted_.received[static_cast<std::size_t>(destination)] += messages;
  counted_.sent_bytes[static_cast<std::size_t>(source)] += static_cast<double>(bytes);
  counted_.received_bytes[static_cast<std::size_t>(destination)] += static_cast<double>(bytes);
  counted_.partners[static_cast<std::size_t>(source)] += messages > 0;
  const bool inter = from_node != to_node && from_node >= 0 && to_node >= 0;
  (inter ? counted_.inter : counted_.intra) += messages;
  if (inter) counted_.inter_bytes += bytes;
  counted_.any = true;
}

void Attributor::window(std::int64_t begin_ns, std::int64_t end_ns, std::span<const Message> messages,
                        std::span<const CollectiveCall> calls, std::span<const std::int32_t> node_of_rank,
                        std::span<const std::int32_t> region_of_rank) {
  region_of_rank_.assign(region_of_rank.begin(), region_of_rank.end());
  if (!slices_.all().empty() && begin_ns >= slices_.all().back().begin_ns + slices_.length_ns())
    computing_.look(slices_);
  Slice& slice = slices_.advance(begin_ns, end_ns);
  if (counted_.any) {
    slice.intra_messages += counted_.intra;
    slice.inter_messages += counted_.inter;
    slice.inter_bytes += counted_.inter_bytes;
    messages_ += counted_.intra + counted_.inter;
    inter_messages_ += counted_.inter;
    for (RankShare& r : slice.ranks) {
      r.sent += counted_.sent[static_cast<std::size_t>(r.rank)];
      r.received += counted_.received[static_cast<std::size_t>(r.rank)];
      r.sent_bytes += counted_.sent_bytes[static_cast<std::size_t>(r.rank)];
      r.received_bytes += counted_.received_bytes[static_cast<std::size_t>(r.rank)];
      r.partners = std::max(r.partners, counted_.partners[static_cast<std::size_t>(r.rank)]);
    }
    std::fill(counted_.sent.begin(), counted_.sent.end(), 0);
    std::fill(counted_.received.begin(), counted_.received.end(), 0);
    std::fill(counted_.sent_bytes.begin(), counted_.sent_bytes.end(), 0);
    std::fill(counted_.received_bytes.begin(), counted_.received_bytes.end(), 0);
    std::fill(counted_.partners.begin(), counted_.partners.end(), 0);
    counted_.intra = counted_.inter = counted_.inter_bytes = 0;
    counted_.any = false;
  }
  look_at_transfers(messages, node_of_rank);
  spread_off_core(false);
  alone(calls);
  edges(calls);
}

// On one node the receives that a call completed follow each other. On several, messages between nodes are matched
// later than others.
void Attributor::look_at_transfers(std::span<const Message> messages, std::span<const std::int32_t> node_of_rank) {
  const auto known = [&](std::int32_t rank) { return rank >= 0 && rank < slices_.ranks(); };
  if (std::adjacent_find(node_of_rank.begin(), node_of_rank.end(), std::not_equal_to<>()) == node_of_rank.end()) {
    for (const Message& m : messages)
      if (known(m.source) && known(m.destination)) exposure_.add(m, node_of_rank, slices_);
    return exposure_.flush(slices_);
  }
  by_call_.clear();
  for (const Message& m : messages)
    if (known(m.source) && known(m.destination)) by_call_.push_back(&m);
  std::stable_sort(by_call_.begin(), by_call_.end(), [](const Message* a, const Message* b) {
    return std::tie(a->destination, a->recv_end, a->recv_wait) < std::tie(b->destination, b->recv_end, b->recv_wait);
  });
  for (const Message* m : by_call_) exposure_.add(*m, node_of_rank, slices_);
  exposure_.flush(slices_);
}

void Attributor::add_off_core(std::int32_t rank, std::int64_t begin_ns, std::int64_t end_ns, double off_s) {
  if (rank < 0 || rank >= slices_.ranks() || !(off_s > 0) || end_ns <= begin_ns) return;
  const std::size_t most = 256 * static_cast<std::size_t>(slices_.ranks());
  if (off_core_.size() >= most)
    off_core_.erase(off_core_.begin(), off_core_.begin() + static_cast<std::ptrdiff_t>(most / 2));
  off_core_.push_back({rank, begin_ns, end_ns, off_s});
}

void Attributor::spread_off_core(bool all) {
  if (slices_.all().empty()) return;
  const std::int64_t until = slices_.all().back().end_ns;
  std::erase_if(off_core_, [&](const OffCore& o) {
    if (!all && o.end_ns > until) return false;
    slices_.spread(o.begin_ns, o.end_ns, [&](Slice& s, double share) {
      if (RankShare* row = Slices::row(s, o.rank)) row->off_core_s += share * o.off_s;
    });
    return true;
  });
}

// Of each collective's waits: for the last rank, when all others had come.
void Attributor::alone(std::span<const CollectiveCall> calls) {
  std::vector<const CollectiveCall*> sorted;
  for (const CollectiveCall& c : calls)
    if (c.shape == CollectiveShape::all_to_all && group_of(c) == WaitGroup::collective) sorted.push_back(&c);
  std::sort(sorted.begin(), sorted.end(), [](const CollectiveCall* a, const CollectiveCall* b) {
    if (a->comm != b->comm) return a->comm < b->comm;
    return a->ordinal != b->ordinal ? a->ordinal < b->ordinal : a->begin < b->begin;
  });
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i;
    while (end < sorted.size() && sorted[end]->comm == sorted[i]->comm && sorted[end]->ordinal == sorted[i]->ordinal)
      ++end;
    if (end - i >= 3) {  // calls that are in other windows are left out
      const std::int64_t last = CallsOfRanks::cut(sorted[end - 1]->begin),
                         before = CallsOfRanks::cut(sorted[end - 2]->begin);
      double alone_s = 0;  // of those that had come, from when they could do nothing but wait
      for (std::size_t k = i; k + 1 < end; ++k)
        alone_s += std::max(0.0, seconds(last - std::max(before, wait_begin(*sorted[k]))));
      slices_.spread(before, last, [&](Slice& s, double share) { s.alone_s += share * alone_s; });
    }
    double waits = 0;
    for (std::size_t k = i; k < end; ++k) waits += wait_s(*sorted[k]);
    const std::int64_t returned = CallsOfRanks::cut(sorted[end - 1]->end);
    slices_.spread(returned - 1, returned, [&](Slice& s, double) { s.collective_squares += waits * waits; });
    i = end;
  }
}

// MPI_Init and MPI_Finalize: one wait each, which no calm time stands against.
void Attributor::edges(std::span<const CollectiveCall> calls) {
  for (const CollectiveCall& c : calls) {
    const WaitGroup group = group_of(c);
    const double length = wait_s(c);
    if ((group != WaitGroup::start_up && group != WaitGroup::finish) || length <= 0 || c.awaited >= slices_.ranks())
      continue;
    Edge& edge = group == WaitGroup::start_up ? edges_.start : edges_.finish;
    edge.waited_s += length;
    edge.rank.add(c.awaited, length);
    if (edge.waits.size() < static_cast<std::size_t>(slices_.ranks()))
      edge.waits.push_back({c.rank, c.awaited, length});
    edge.begin_ns = std::min(edge.begin_ns, CallsOfRanks::cut(c.begin));
    edge.end_ns = std::max(edge.end_ns, CallsOfRanks::cut(std::min(c.awaited_begin, c.end)));
  }
}

void Attributor::waited(const Wait& w) {
  const bool collective = w.kind == RankCall::Kind::collective;
  const double length = seconds(w.end_ns - w.begin_ns);
  double Slice::*sum = w.kind == RankCall::Kind::send ? &Slice::blocked_s : &Slice::wait_s;
  if (collective)
    sum = w.group == WaitGroup::one_sided ? &Slice::one_sided_s
          : w.group == WaitGroup::file    ? &Slice::file_s
                                          : &Slice::collective_s;
  slices_.spread(w.begin_ns, w.end_ns, [&](Slice& s, double share) {
    const double waited = share * length;
    s.*sum += waited;
    s.first_come_s += waited * w.others;
    if (w.end_ns <= s.end_ns) s.wait_squares += length * length;
    if (RankShare* victim = Slices::row(s, w.victim)) {
      victim->waited_s += waited;
      if (!collective) {
        victim->waited_p2p_s += waited;
        victim->waits_for.add(w.cause, waited);
      }
    }
    if (collective) return;
    if (RankShare* cause = Slices::row(s, w.cause)) cause->awaited_s += waited;
  });
}

void Attributor::goes_back(const Wait& w, std::int32_t rank, std::uint32_t site, std::int64_t visit_ns, double ns) {
  if (rank == w.victim) return;
  const bool collective = w.kind == RankCall::Kind::collective;
  if (w.cause == rank && visit_ns != several_visits)
    visit_ns = w.end_ns;  // it came then; `visit_ns` is the longest of what it did since both were in step
  const auto victim = static_cast<std::size_t>(w.victim);
  const std::int32_t region = w.victim >= 0 && victim < region_of_rank_.size() ? region_of_rank_[victim] : -1;
  slices_.spread(w.begin_ns, w.end_ns, [&](Slice& s, double share) {
    const double cost = share * ns * 1e-9;
    if (rank < 0) {
      (rank == inside_mpi ? s.inside_mpi_s : s.unknown_s) += cost;
      return;
    }
    s.attributed_s += cost;
    if (collective) s.collective_site.add(site, cost);
    RankShare* row = Slices::row(s, rank);
    if (row == nullptr) return;
    row->caused_s += cost;
    if (collective) {
      row->collective_s += cost;
      if (w.group == WaitGroup::one_sided) row->one_sided_s += cost;
      if (w.group == WaitGroup::file) row->file_s += cost;
    } else if (w.cause == rank) (w.kind == RankCall::Kind::send ? row->blocked_s : row->direct_s) += cost;
    row->site.add(site, cost);
    row->felt.add(region, cost);
    if (w.end_ns <= s.end_ns && visit_ns != several_visits) row->visit(visit_ns, ns * 1e-9);  // where its wait ends
  });
}

// When the traffic has doubled since the last look.
void Attributor::look_for_mapping(bool last) {
  if (!options_.find_mapping || inter_messages_ == 0 || messages_ == mapped_at_) return;
  if (messages_ < first_mapping || (!last && messages_ < 2 * mapped_at_)) return;
  mapped_at_ = messages_;
  mapping_ = options_.find_mapping();
}

void Attributor::refresh(std::size_t regions) {
  if (finished_ || slices_.all().empty()) return;
  const std::int64_t now = slices_.all().back().end_ns;
  if (derived_ns_ != INT64_MIN && now - derived_ns_ < between_ns) return;
  const Wall::time_point start = Wall::now();
  if (!time_.allows(start)) return;
  derived_ns_ = now;
  look_for_mapping(false);
  derive(regions);
  time_.used(Wall::now() - start);
}

void Attributor::finish(std::size_t regions) {
  finished_ = true;
  spread_off_core(true);
  look_for_mapping(true);
  derive(regions);
  if (!options_.without) return;
  std::size_t left = most_replayed, more = most_more_replayed;
  for (Finding& f : result_.findings) {
    if (f.confidence <= 0.5 || left-- == 0) break;  // the first ones are sure
    const BetterMapping* mapping = f.cause == Cause::mapping && mapping_ ? &*mapping_ : nullptr;
    auto replayed = options_.without(f, mapping);
    if (!replayed) continue;
    if (mapping == nullptr) {
      const auto without = [&](const Finding& those) { return options_.without(those, nullptr); };
      name_as_late(f, *replayed, slices_.ranks(), without, more);
    }
    tell_gain(f, *replayed);
  }
  order_by_gain(result_.findings, slices_.ranks());
}

void Attributor::derive(std::size_t regions) {
  computing_.look(slices_);
  for (Slice& s : slices_.all())
    if (s.dense) summarise(s);
  const Evidence evidence{
      slices_.all(),
      slices_.ranks(),
      std::max<double>(slices_.ranks(), options_.threads ? static_cast<double>(options_.threads()) : 0),
      regions,
      exposure_,
      mapping_ ? &*mapping_ : nullptr,
      finished_,
      computing_.inside_mpi_s(slices_.ranks()),
      edges_,
      options_.before_init_ns,
      options_.node_names ? options_.node_names() : std::span<const std::string>{},
      region_of_rank_};
  result_.findings = find_causes(evidence);
  result_.slices = slices_of(evidence);
  result_.transfer_lines = lines_of(evidence);
}

}  // namespace pclscope::attribute
