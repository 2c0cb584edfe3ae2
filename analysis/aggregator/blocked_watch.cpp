#include "analysis/aggregator/blocked_watch.hpp"

#include <algorithm>
#include <cstdio>

#include "analysis/blocked/deadlock_text.hpp"

namespace pclscope::aggregator {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds sample_every{5};
constexpr milliseconds look_every{100};
constexpr int share_of_time = 20;            // looking takes at most one part in so many
constexpr milliseconds wait_for_lines{900};  // file and line are looked up in the background

// What foreign debug information says, made safe for a terminal.
std::string printable(const std::string& text) {
  std::string safe = text;
  for (char& c : safe)
    if (c < ' ' || c > '~') c = '?';
  return safe;
}

std::string site_text(const CallSite& site) {
  const auto name = [](const std::string& path) { return printable(path.substr(path.rfind('/') + 1)); };
  if (site.line > 0) return name(site.file) + ":" + std::to_string(site.line);
  char offset[24];
  std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(site.offset));
  return name(site.module) + offset;
}

const CallSite* find(const std::vector<CallSite>& sites, std::uint32_t id) {
  const auto at = std::find_if(sites.begin(), sites.end(), [&](const CallSite& site) { return site.id == id; });
  return at == sites.end() ? nullptr : &*at;
}

}  // namespace

BlockedWatch::BlockedWatch(std::int32_t ranks, std::int64_t window_ns, const Matcher& matcher,
                           collect::Collector& collector, const collect::TickClock& clock,
                           callsite::CallSites& call_sites)
    : collector_(collector),
      clock_(clock),
      call_sites_(call_sites),
      blocked_(ranks, window_ns, matcher, [&](std::int32_t rank, std::uint64_t address, std::uint16_t function) {
        return call_sites.site_of(rank, address, function);
      }) {}

void BlockedWatch::look_at_slots() {
  threads_.clear();
  for (const auto& segment : collector_.segments())
    threads_.push_back({segment->rank(), segment->thread(), &segment->header(), false});
  blocked_.sample(threads_, clock_.now_ns());
}

void BlockedWatch::look_for_deadlocks() {
  // After the sample: a call that has been left since has left its event, or leaves the ring as it was.
  for (std::size_t i = 0; i < threads_.size(); ++i)
    threads_[i].unread = !collector_.segments()[i]->ring().peek(1).empty();
  blocked_.look(threads_, !collector_.threads_missing());
}

bool BlockedWatch::round(Clock::time_point now) {
  if (!clock_.settled() || now < next_sample_) return false;
  next_sample_ = now + sample_every;
  look_at_slots();
  const bool looks = now >= next_look_;
  if (looks) {
    look_for_deadlocks();
    next_look_ = now + std::max<Clock::duration>(look_every, share_of_time * (Clock::now() - now));
    for (Deadlock& deadlock : blocked_.news()) news_.push_back({std::move(deadlock), now});
  }
  if (!news_.empty()) tell(now);
  return looks;
}

void BlockedWatch::finish(bool in_order) {
  if (!clock_.settled()) return;
  look_at_slots();
  if (in_order) look_for_deadlocks();
  tell(Clock::time_point::max());
}

// Once their lines are known, or will not be known soon.
void BlockedWatch::tell(Clock::time_point now) {
  Snapshot shown;
  for (const News& news : news_) shown.deadlocks.push_back(news.deadlock);
  call_sites_.describe(shown);
  std::erase_if(news_, [&](const News& news) {
    const bool named = std::all_of(news.deadlock.members.begin(), news.deadlock.members.end(), [&](const auto& member) {
      const CallSite* site = find(shown.sites, member.site);
      return site != nullptr && site->line > 0;
    });
    if (!named && now - wait_for_lines < news.came) return false;
    say(news.deadlock, shown.sites);
    return true;
  });
}

void BlockedWatch::say(const Deadlock& deadlock, const std::vector<CallSite>& sites) const {
  const std::string text = blocked::deadlock_text(deadlock, [&](const DeadlockMember& member) {
    const CallSite* site = find(sites, member.site);
    return site == nullptr ? std::string() : site_text(*site);
  });
  const double lasts = static_cast<double>(clock_.now_ns()) * 1e-9 - deadlock.since_s;
  std::fprintf(stderr, "pclscope: deadlock: %s; for %.1f s\n", text.c_str(), std::max(lasts, 0.0));
}

}  // namespace pclscope::aggregator
