#include "analysis/region/pattern_watch.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope {

namespace {

constexpr double noise_per_partner = 0.23;  // most of x (1 - E sqrt(Poisson(x)) / sqrt(x))
constexpr double unseen_share = 0.6;        // exp(-x) < 0.6 (1 - exp(-x)) / x: partners not seen yet, x = m / k
constexpr double bursts_noise = 2;
constexpr double telling_noise = 0.3;  // more would hide most differences: too few messages to agree on
constexpr std::uint64_t least_block = 16;
constexpr std::size_t most_windows = 256;  // in a block
constexpr std::size_t agreeing = 4;        // blocks, or groups of them
constexpr std::uint64_t start_blocks = 10;
constexpr std::size_t most_phases = 8, most_earlier = 3;
constexpr std::uint64_t least_phase_run = 16, longer_run = 4;
constexpr float faintest_weight = 1e-3f, countable_weight = 0.02f;

}  // namespace

PatternWatch::PatternWatch(std::int32_t ranks)
    : ranks_(static_cast<std::size_t>(std::max(ranks, 0))), sent_(ranks_, 0), both_(ranks_, 0), fresh_(ranks_, 0) {}

void PatternWatch::merge(Block& into, std::span<const Count> counts) {
  for (const Count& c : counts) {
    into.counts.push_back(c);
    into.messages += c.messages;
  }
  std::sort(into.counts.begin(), into.counts.end(), [](const Count& a, const Count& b) { return a.pair < b.pair; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < into.counts.size(); ++i) {
    if (kept > 0 && into.counts[kept - 1].pair == into.counts[i].pair)
      into.counts[kept - 1].messages += into.counts[i].messages;
    else into.counts[kept++] = into.counts[i];
  }
  into.counts.resize(kept);
}

void PatternWatch::Mode::add(const Block& block, std::size_t ranks) {
  of_source.resize(ranks);
  partners.resize(ranks);
  if (!block.counts.empty() && block.counts.back().pair >= weight.size())
    weight.resize(std::max<std::size_t>(block.counts.back().pair + 1, weight.size() + weight.size() / 2));
  for (const Count& c : block.counts) {
    float& w = weight[c.pair];
    partners[static_cast<std::size_t>(c.source)] += w < countable_weight;
    w += static_cast<float>(c.messages);
    of_source[static_cast<std::size_t>(c.source)] += static_cast<double>(c.messages);
  }
}

void PatternWatch::recount(Mode& mode) const {
  mode.of_source.assign(ranks_, 0);
  mode.partners.assign(ranks_, 0);
  for (std::size_t i = 0; i < std::min(mode.weight.size(), source_of_pair_.size()); ++i) {
    if (mode.weight[i] <= 0) continue;
    const auto source = static_cast<std::size_t>(source_of_pair_[i]);
    mode.of_source[source] += static_cast<double>(mode.weight[i]);
    mode.partners[source] += mode.weight[i] >= countable_weight;
  }
}

void PatternWatch::forget(double factor) {
  for (float& w : all_.weight)
    if (w > 0) w = std::max(static_cast<float>(static_cast<double>(w) * factor), faintest_weight);
  recount(all_);
}

PatternWatch::Fit PatternWatch::fit(const Block& block, const Mode& mode, const Bursts* bursts, Bursts* add_to) {
  Fit fit;
  if (block.messages == 0) return fit;
  senders_.clear();
  for (const Count& c : block.counts) {
    const auto source = static_cast<std::size_t>(c.source);
    if (sent_[source] == 0) senders_.push_back(c.source);
    const auto messages = static_cast<double>(c.messages);
    sent_[source] += messages;
    const double weight = c.pair < mode.weight.size() ? static_cast<double>(mode.weight[c.pair]) : 0;
    if (weight > 0) both_[source] += std::sqrt(messages * weight);
    else fresh_[source] += messages;
  }
  for (const std::int32_t rank : senders_) {
    const auto source = static_cast<std::size_t>(rank);
    const double sent = sent_[source], before = source < mode.of_source.size() ? mode.of_source[source] : 0;
    const double part = sent / static_cast<double>(block.messages);
    double distance = 1;
    if (before > 0) {
      const double known = std::max<std::uint32_t>(mode.partners[source], 1);
      const double unseen = std::min(1.0, unseen_share * known / before);
      const double partners = known * (1 + unseen);
      distance = std::clamp(1 - both_[source] / std::sqrt(sent * before), 0.0, 1.0);
      double noise = noise_per_partner * partners * (1 / sent + 1 / before);
      if (bursts != nullptr && bursts->sent[source] > 0)
        noise += bursts_noise * bursts->distance[source] * bursts->squares[source] / std::pow(bursts->sent[source], 3);
      fit.noise += part * std::min(1.0, noise);
      fit.fresh_noise += part * unseen;
    }
    fit.distance += part * distance;
    fit.fresh += fresh_[source] / static_cast<double>(block.messages);
    if (add_to != nullptr) {
      add_to->sent[source] += sent;
      add_to->squares[source] += sent * sent;
      add_to->distance[source] += sent * distance;
    }
    sent_[source] = both_[source] = fresh_[source] = 0;
  }
  return fit;
}

int PatternWatch::phase_of(const Block& block, const Bursts* bursts) {
  int best = -1;
  double nearest = 2;
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    const Fit of_phase = fit(block, phases_[i], bursts);
    if (!of_phase.good() || of_phase.distance >= nearest) continue;
    nearest = of_phase.distance;
    best = static_cast<int>(i);
  }
  return best >= 0 ? best : fit(block, all_, bursts).good() ? -2 : -1;
}

bool PatternWatch::complete(const Block& block) {
  if (block.windows >= most_windows) return true;
  if (block.messages < least_block) return false;
  std::uint64_t partners = 0;
  for (const Count& c : block.counts) {
    const auto source = static_cast<std::size_t>(c.source);
    if (sent_[source] == 0 && source < all_.partners.size()) partners += all_.partners[source];
    sent_[source] = 1;
  }
  for (const Count& c : block.counts) sent_[static_cast<std::size_t>(c.source)] = 0;
  if (block.messages >= partners || blocks_ < agreeing) return true;
  const Fit of_all = fit(block, all_);
  return of_all.fresh > of_all.fresh_noise + fresh_effect;
}

std::optional<PatternWatch::Change> PatternWatch::add(std::int64_t begin_ns, std::span<const Count> counts) {
  for (const Count& c : counts) {
    if (c.pair >= source_of_pair_.size()) {
      source_of_pair_.resize(c.pair + 1, 0);
      destination_of_pair_.resize(c.pair + 1, 0);
    }
    source_of_pair_[c.pair] = c.source;
    destination_of_pair_[c.pair] = c.destination;
  }
  if (open_.windows == 0) open_.begin_ns = begin_ns;
  merge(open_, counts);
  ++open_.windows;
  if (open_.messages == 0 || !complete(open_)) return std::nullopt;
  Block block;
  std::swap(block, open_);
  return take(std::move(block));
}

std::optional<PatternWatch::Change> PatternWatch::take(Block&& block) {
  ++blocks_;
  if (blocks_ <= agreeing) {  // no reference yet
    all_.add(block, ranks_);
    return std::nullopt;
  }
  const int phase = phase_of(block);
  if (phase != -1) return explained(block, phase);
  phase_run_ = 0;
  phase_ = -1;
  waiting_.push_back(std::move(block));
  return look_at_waiting();
}

std::optional<PatternWatch::Change> PatternWatch::explained(const Block& block, int phase) {
  take_back();
  all_.add(block, ranks_);
  if (phase < 0 || phase != phase_) {
    longest_run_ = std::max(longest_run_, phase_run_);
    phase_run_ = 0;
  }
  phase_ = phase;
  ++phase_run_;
  if (phase < 0 || phase_run_ < std::max(least_phase_run, longer_run * longest_run_)) return std::nullopt;
  Mode alone = std::move(phases_[static_cast<std::size_t>(phase)]);
  return adopt(block.begin_ns, std::move(alone), {}, block);
}

void PatternWatch::take_back() {
  for (const Block& block : waiting_) all_.add(block, ranks_);
  waiting_.clear();
}

PatternWatch::Block PatternWatch::together(std::size_t first, std::size_t count) const {
  Block block;
  block.begin_ns = waiting_[first].begin_ns;
  for (std::size_t i = first; i < first + count; ++i) {
    block.counts.insert(block.counts.end(), waiting_[i].counts.begin(), waiting_[i].counts.end());
    block.messages += waiting_[i].messages;
  }
  const std::uint64_t messages = block.messages;
  merge(block, {});
  block.messages = messages;
  return block;
}

// Each of the last 4 groups of so many blocks with the others.
bool PatternWatch::agree(std::size_t group) {
  const std::size_t begin = waiting_.size() - agreeing * group;
  std::vector<Block> groups;
  for (std::size_t first = begin; first < waiting_.size(); first += group) groups.push_back(together(first, group));
  for (const Block& one : groups) {
    Mode others;
    for (const Block& other : groups)
      if (&other != &one) others.add(other, ranks_);
    const Fit with_others = fit(one, others);
    if (!with_others.good()) return false;
    if (with_others.noise <= telling_noise) continue;
    const Fit with_pattern = fit(one, all_);
    if (with_pattern.fresh <= with_pattern.fresh_noise + 0.5) return false;
  }
  return true;
}

std::optional<PatternWatch::Change> PatternWatch::look_at_waiting() {
  const std::size_t waiting = waiting_.size();
  for (std::size_t group = 1; agreeing * group <= waiting; group *= 2) {
    if (waiting % group != 0) continue;
    const std::size_t first = waiting - agreeing * group;
    Bursts bursts(ranks_);
    for (std::size_t i = first; i < waiting; ++i) fit(waiting_[i], all_, nullptr, &bursts);
    const Block last = together(first, agreeing * group);
    if (phase_of(last, &bursts) != -1) continue;  // together they are the pattern
    if (agreeing * group < most_waiting && !agree(group)) continue;
    Mode pool;
    pool.add(last, ranks_);
    return change_to(last, pool);
  }
  if (waiting < most_waiting) return std::nullopt;
  // Explained together, but not one by one: phases of the pattern.
  std::vector<Mode> found;
  for (const Block& block : waiting_) {
    const auto known = [&](const Mode& mode) { return fit(block, mode).good(); };
    const auto same = std::find_if(found.begin(), found.end(), known);
    if (same != found.end()) same->add(block, ranks_);
    else if (found.size() + phases_.size() < most_phases) found.emplace_back().add(block, ranks_);
  }
  for (Mode& mode : found) phases_.push_back(std::move(mode));
  take_back();
  return std::nullopt;
}

PatternWatch::Change PatternWatch::change_to(const Block& last, const Mode& pool) {
  // Back to the first that is nearer to the new pattern; before it is the old one.
  std::size_t first = waiting_.size();
  while (first > 0) {
    const Block& block = waiting_[first - 1];
    if (block.begin_ns < last.begin_ns && fit(block, pool).distance >= fit(block, all_).distance) break;
    --first;
  }
  const Block seen = together(first, waiting_.size() - first);
  const std::int64_t begin_ns = seen.begin_ns;
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(first), waiting_.end());
  take_back();
  for (std::size_t i = earlier_.size(); i-- > 0;) {
    Earlier& before = earlier_[i];
    const bool back =
        fit(seen, before.all).good() || std::any_of(before.phases.begin(), before.phases.end(),
                                                    [&](const Mode& mode) { return fit(seen, mode).good(); });
    if (!back) continue;
    // It comes back: from now on the two are one pattern of several phases.
    std::vector<Mode> phases = std::move(before.phases);
    if (phases.empty()) phases.push_back(before.all);
    if (phases_.empty()) phases.push_back(all_);
    for (Mode& mode : phases_) phases.push_back(std::move(mode));
    if (phases.size() > most_phases) phases.resize(most_phases);
    Mode all = std::move(before.all);
    all.weight.resize(std::max(all.weight.size(), all_.weight.size()));
    for (std::size_t k = 0; k < all_.weight.size(); ++k) all.weight[k] += all_.weight[k];
    recount(all);
    all.add(seen, ranks_);
    earlier_.erase(earlier_.begin() + static_cast<std::ptrdiff_t>(i));
    const std::uint64_t longest = std::max<std::uint64_t>({blocks_ - began_, longest_run_, phase_run_});
    Change change = adopt(begin_ns, std::move(all), std::move(phases), seen);
    earlier_.pop_back();  // its phases are here
    longest_run_ = longest;
    return change;
  }
  Mode all;
  all.add(seen, ranks_);
  return adopt(begin_ns, std::move(all), {}, seen);
}

// Pairs of ranks that are silent now stay as they were: nothing says that they changed.
void PatternWatch::keep_silent(Mode& all, const Block& seen) const {
  std::vector<bool> speaks(ranks_);
  for (const Count& c : seen.counts)
    speaks[static_cast<std::size_t>(c.source)] = speaks[static_cast<std::size_t>(c.destination)] = true;
  all.weight.resize(std::max(all.weight.size(), all_.weight.size()));
  for (std::size_t i = 0; i < all_.weight.size(); ++i)
    if (all_.weight[i] > 0 && all.weight[i] <= 0 && !speaks[static_cast<std::size_t>(source_of_pair_[i])] &&
        !speaks[static_cast<std::size_t>(destination_of_pair_[i])])
      all.weight[i] = all_.weight[i];
  recount(all);
}

PatternWatch::Change PatternWatch::adopt(std::int64_t begin_ns, Mode&& all, std::vector<Mode>&& phases,
                                         const Block& seen) {
  keep_silent(all, seen);
  Change change;
  change.begin_ns = begin_ns;
  change.at_start = changes_ == 0 && blocks_ <= start_blocks + agreeing;
  if (!change.at_start) {
    earlier_.push_back({std::move(phases_), std::move(all_), blocks_});
    if (earlier_.size() > most_earlier) earlier_.erase(earlier_.begin());
    ++changes_;
    began_ = blocks_;
  }
  all_ = std::move(all);
  phases_ = std::move(phases);
  phase_ = -1;
  phase_run_ = longest_run_ = 0;
  change.weights = all_.weight;
  return change;
}

std::int64_t PatternWatch::keep_from_ns() const {
  if (!waiting_.empty()) return waiting_.front().begin_ns;
  return open_.windows > 0 ? open_.begin_ns : INT64_MAX;
}

}  // namespace pclscope
