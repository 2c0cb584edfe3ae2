#include "viewer/session/live_timeline.hpp"

#include <algorithm>

#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"

namespace pclscope::session {
namespace {

constexpr std::size_t untold_columns = 24;

}  // namespace

Status LiveTimeline::refresh(const Ask& ask) {
  CallsQuestion question;
  question.from_ns = std::max<std::int64_t>(until_ns_ - late_ns, from_ns_);
  const auto part = ask(question);
  if (!part) return part.error();
  put(*part);
  return {};
}

// In place of what is there from its begin on. A job that has begun to keep calls anew has a gap, too.
void LiveTimeline::put(const CallsPart& part) {
  if (part.until_ns < until_ns_) return;  // late
  if (until_ns_ == 0) from_ns_ = part.from_ns;
  else if (part.from_ns > until_ns_) gap_until_ns_ = part.from_ns;
  until_ns_ = part.until_ns;
  std::erase_if(calls_, [&](const MpiCall& call) { return call.end >= part.from_ns; });
  calls_.insert(calls_.end(), part.calls.begin(), part.calls.end());
  if (!left_out_.empty() && part.left_out < left_out_.back().calls) left_out_.clear();  // counted anew
  left_out_.push_back({part.until_ns, part.left_out});
  newest_ = part;
  newest_.calls = {};
  forget_old();
}

void LiveTimeline::forget_old() {
  from_ns_ = std::max(from_ns_, newest_.now_ns - shown_ns);
  std::erase_if(calls_, [&](const MpiCall& call) { return call.end < from_ns_; });
  if (calls_.size() > most_calls) {
    std::vector<std::int64_t> ends;
    ends.reserve(calls_.size());
    for (const MpiCall& call : calls_) ends.push_back(call.end);
    const auto last_out = ends.begin() + static_cast<std::ptrdiff_t>(ends.size() - most_calls - 1);
    std::nth_element(ends.begin(), last_out, ends.end());
    from_ns_ = *last_out + 1;
    std::erase_if(calls_, [&](const MpiCall& call) { return call.end < from_ns_; });
  }
  from_ns_ = std::min(from_ns_, until_ns_);
  while (left_out_.size() > 1 && left_out_[1].until_ns <= from_ns_) left_out_.pop_front();
}

std::uint64_t LiveTimeline::left_out() const {
  return left_out_.empty() ? 0 : left_out_.back().calls - left_out_.front().calls;
}

std::string LiveTimeline::words() const {
  const double length_s = static_cast<double>(newest_.now_ns - from_ns_) * 1e-9;
  std::string words = "calls of the newest " + text::format_seconds(length_s);
  if (!newest_.untold.empty())
    words += "; nothing has come yet of ranks " + text::compact_ranks(newest_.untold, untold_columns);
  if (left_out() > 0)
    words += "; " + text::format_count(left_out()) + " are left out: there are more than there is time or traffic for";
  if (too_many()) words += "; of some moments none: there are more than an answer takes";
  return words;
}

std::shared_ptr<const TimelineRun> LiveTimeline::run(std::int32_t ranks) const {
  return timeline_of_newest(ranks, calls_, newest_.running, from_ns_, newest_.now_ns);
}

}  // namespace pclscope::session
