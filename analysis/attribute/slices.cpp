#include "analysis/attribute/slices.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::attribute {
namespace {

constexpr std::int64_t time_limit = std::int64_t{1} << 61;  // beyond +-73 years times are cut: no overflow
constexpr std::int64_t filled_gap = 16;                     // slices; a longer silence is one long slice
constexpr double dominant = 0.6;                            // of a rank's waits, for one other rank
constexpr std::size_t shortest_chain = 3;                   // waiting ranks in a row

template <class T>
void keep_most(std::vector<T>& list, std::size_t most, double (*weight)(const T&)) {
  if (list.size() <= most) return;
  std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(most), list.end(),
                   [=](const T& a, const T& b) { return weight(a) > weight(b); });
  list.resize(most);
}

double rank_weight(const RankShare& r) { return r.weight() + 1e-12 * static_cast<double>(r.messages()); }
double cell_weight(const TransferCell& c) { return c.exposed_s + 1e-12 * static_cast<double>(c.messages); }

void sort_by_rank(std::vector<RankShare>& ranks) {
  std::sort(ranks.begin(), ranks.end(), [](const RankShare& a, const RankShare& b) { return a.rank < b.rank; });
}

void find_chain(Slice& slice) {
  const std::vector<RankShare>& ranks = slice.ranks;
  std::vector<std::int32_t> before(ranks.size(), -1), after(ranks.size(), -1);  // -2: several
  for (const RankShare& r : ranks) {
    const std::int32_t cause = r.waits_for.value;
    if (r.waited_p2p_s <= 0 || r.waits_for.votes < (2 * dominant - 1) * r.waited_p2p_s) continue;
    if (cause < 0 || static_cast<std::size_t>(cause) >= ranks.size()) continue;
    before[static_cast<std::size_t>(r.rank)] = cause;
    std::int32_t& next = after[static_cast<std::size_t>(cause)];
    next = next == -1 ? r.rank : -2;
  }
  slice.chain_s = 0;
  slice.chain.clear();
  std::vector<char> seen(ranks.size());
  std::vector<std::int32_t> path;
  const auto walk = [&](std::int32_t from) {
    path.assign(1, from);
    double waited = 0;
    seen[static_cast<std::size_t>(from)] = true;
    for (std::int32_t r = after[static_cast<std::size_t>(from)]; r >= 0; r = after[static_cast<std::size_t>(r)]) {
      waited += ranks[static_cast<std::size_t>(r)].waited_p2p_s;
      if (seen[static_cast<std::size_t>(r)]) break;  // a ring is closed
      seen[static_cast<std::size_t>(r)] = true;
      path.push_back(r);
    }
    if (path.size() <= shortest_chain) return;
    slice.chain_s += waited;
    if (path.size() > slice.chain.size()) slice.chain = path;
  };
  const auto is_head = [&](std::size_t r) {
    return after[r] >= 0 && (before[r] < 0 || after[static_cast<std::size_t>(before[r])] < 0);
  };
  for (std::size_t r = 0; r < ranks.size(); ++r)
    if (is_head(r)) walk(static_cast<std::int32_t>(r));
  for (std::size_t r = 0; r < ranks.size(); ++r)  // what is left with a successor is a ring
    if (!seen[r] && after[r] >= 0) walk(static_cast<std::int32_t>(r));
}

// Sums over two neighbours in time; the later one's end.
void merge(Slice& into, Slice&& later) {
  const double a = std::max(into.seconds(), 1e-9), b = std::max(later.seconds(), 1e-9);
  into.end_ns = later.end_ns;
  into.intra_messages += later.intra_messages;
  into.inter_messages += later.inter_messages;
  into.inter_bytes += later.inter_bytes;
  for (double Slice::*sum : {&Slice::wait_s, &Slice::first_come_s, &Slice::blocked_s, &Slice::collective_s,
                             &Slice::alone_s, &Slice::wait_squares, &Slice::collective_squares, &Slice::attributed_s,
                             &Slice::inside_mpi_s, &Slice::unknown_s, &Slice::intra_exposed_s, &Slice::typical_caused_s,
                             &Slice::one_sided_s, &Slice::file_s, &Slice::typical_moved_s})
    into.*sum += later.*sum;
  into.load_balance = (into.load_balance * a + later.load_balance * b) / (a + b);
  into.collective_site.add(later.collective_site.value, later.collective_site.votes);
  if (later.chain_s > into.chain_s) into.chain = std::move(later.chain);
  into.chain_s += later.chain_s;
  if (into.hub == later.hub) {
    into.hub_messages += later.hub_messages;
  } else if (later.hub_messages > into.hub_messages) {
    into.hub = later.hub;
    into.hub_messages = later.hub_messages;
  }
  into.senders = std::max(into.senders, later.senders);
  for (const TransferCell& c : later.cells) into.cell(c.from, c.to, c.octave).add(c);
  keep_most(into.cells, Slices::kept_cells, cell_weight);
  for (StuckCall& call : later.stuck)
    if (into.stuck.size() < StuckCall::most) into.stuck.push_back(std::move(call));
  for (const RankShare& r : later.ranks) {
    RankShare* row = Slices::row(into, r.rank);
    if (row != nullptr) row->add(r);
    else into.ranks.push_back(r);
    if (row == nullptr) sort_by_rank(into.ranks);
  }
  keep_most(into.ranks, Slices::kept_ranks, rank_weight);
  sort_by_rank(into.ranks);
}

}  // namespace

void RankShare::add(const RankShare& more) {
  for (double RankShare::*sum :
       {&RankShare::caused_s, &RankShare::direct_s, &RankShare::blocked_s, &RankShare::collective_s,
        &RankShare::awaited_s, &RankShare::waited_s, &RankShare::waited_p2p_s, &RankShare::one_sided_s,
        &RankShare::file_s, &RankShare::off_core_s, &RankShare::sent_bytes, &RankShare::received_bytes,
        &RankShare::moved_s, &RankShare::outside_s, &RankShare::looked_at_s})
    this->*sum += more.*sum;
  site.add(more.site.value, more.site.votes);
  felt.add(more.felt.value, more.felt.votes);
  waits_for.add(more.waits_for.value, more.waits_for.votes);
  squares = all_squares() + more.squares;
  visit_s = more.visit_s;
  newest_visit_ns = std::max(newest_visit_ns, more.newest_visit_ns);
  sent += more.sent;
  received += more.received;
  partners = std::max(partners, more.partners);
}

void TransferCell::add(const TransferCell& more) {
  messages += more.messages;
  samples += more.samples;
  log_sum += more.log_sum;
  transfer_s += more.transfer_s;
  exposed_s += more.exposed_s;
  if (more.longest_ns > longest_ns) {
    longest_ns = more.longest_ns;
    longest_end_ns = more.longest_end_ns;
  }
}

double Slice::exposed_s() const {
  double sum = 0;
  for (const TransferCell& c : cells) sum += c.exposed_s;
  return sum;
}

TransferCell& Slice::cell(std::int32_t from, std::int32_t to, std::uint32_t octave) {
  const TransferCell asked{from, to, octave, 0, 0, 0, 0, 0, 0, 0};
  for (TransferCell& c : cells)
    if (c.same_line(asked)) return c;
  if (cells.size() >= 4 * Slices::kept_cells) keep_most(cells, Slices::kept_cells, cell_weight);
  return cells.emplace_back(asked);
}

const RankShare* Slice::share_of(std::int32_t rank) const { return Slices::row(const_cast<Slice&>(*this), rank); }

void summarise(Slice& slice) {
  if (!slice.dense || slice.ranks.empty()) return;
  const auto count = static_cast<double>(slice.ranks.size());
  double sum = 0, deviation = 0;
  std::vector<double> caused, moved;
  slice.hub = -1;
  slice.hub_messages = 0;
  slice.senders = 0;
  for (const RankShare& r : slice.ranks) {
    sum += static_cast<double>(r.messages());
    caused.push_back(r.caused_s);
    moved.push_back(r.moved_s);
    slice.senders += r.sent > 0;
    if (r.messages() <= slice.hub_messages) continue;
    slice.hub = r.rank;
    slice.hub_messages = r.messages();
  }
  for (const RankShare& r : slice.ranks) deviation += std::abs(static_cast<double>(r.messages()) - sum / count);
  slice.load_balance = sum > 0 ? deviation / sum : 0;
  const auto median = [](std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  };
  slice.typical_caused_s = median(caused);
  slice.typical_moved_s = median(moved);
  find_chain(slice);
}

Slices::Slices(std::int32_t ranks, std::int64_t window_ns) : ranks_(std::max(ranks, 0)) {
  const std::int64_t window = std::clamp<std::int64_t>(window_ns, 1, time_limit / 4);
  length_ = window * std::max<std::int64_t>((least_ns + window - 1) / window, 1);
}

RankShare* Slices::kept_row(Slice& slice, std::int32_t rank) {
  const auto it = std::lower_bound(slice.ranks.begin(), slice.ranks.end(), rank,
                                   [](const RankShare& r, std::int32_t asked) { return r.rank < asked; });
  return it != slice.ranks.end() && it->rank == rank ? &*it : nullptr;
}

Slice& Slices::append(std::int64_t begin_ns, std::int64_t end_ns) {
  Slice& slice = slices_.emplace_back();
  slice.begin_ns = begin_ns;
  slice.end_ns = end_ns;
  slice.dense = true;
  slice.ranks.resize(static_cast<std::size_t>(ranks_));
  for (std::int32_t r = 0; r < ranks_; ++r) slice.ranks[static_cast<std::size_t>(r)].rank = r;
  thin();
  return slices_.back();
}

void Slices::thin() {
  if (slices_.size() > dense) {
    Slice& old = slices_[slices_.size() - dense - 1];
    summarise(old);
    old.dense = false;
    keep_most(old.ranks, kept_ranks, rank_weight);
    sort_by_rank(old.ranks);
    old.ranks.shrink_to_fit();
    keep_most(old.cells, kept_cells, cell_weight);
  }
  if (slices_.size() <= most) return;
  std::vector<Slice> fewer;
  const std::size_t old = slices_.size() - full;
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    if (i < old && i % 2 == 1) merge(fewer.back(), std::move(slices_[i]));
    else fewer.push_back(std::move(slices_[i]));
  }
  slices_ = std::move(fewer);
}

Slice& Slices::advance(std::int64_t begin_ns, std::int64_t end_ns) {
  begin_ns = std::clamp(begin_ns, -time_limit, time_limit);
  end_ns = std::clamp(end_ns, begin_ns, time_limit);
  const std::int64_t rest = ((begin_ns % length_) + length_) % length_, start = begin_ns - rest;
  if (slices_.empty()) return append(start, end_ns);
  Slice& newest = slices_.back();
  if (start <= newest.begin_ns) {  // the same one, or an older one that is told late
    newest.end_ns = std::max(newest.end_ns, std::min(end_ns, newest.begin_ns + length_));
    if (begin_ns >= newest.begin_ns) return newest;
    const auto it = std::upper_bound(slices_.begin(), slices_.end(), begin_ns,
                                     [](std::int64_t t, const Slice& s) { return t < s.begin_ns; });
    return it == slices_.begin() ? slices_.front() : it[-1];
  }
  newest.end_ns = std::min(start, newest.begin_ns + length_);
  if (start - newest.end_ns > filled_gap * length_) {
    append(newest.end_ns, start);
  } else {
    for (std::int64_t t = newest.end_ns; t < start; t += length_) append(t, std::min(t + length_, start));
  }
  return append(start, end_ns);
}

}  // namespace pclscope::attribute
