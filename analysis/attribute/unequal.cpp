#include "analysis/attribute/unequal.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pclscope::attribute {
namespace {

constexpr double more_messages = 1.4;      // than any other rank
constexpr double more_per_partner = 1.25;  // than others on average
constexpr double waits_less = 0.75;        // than others on average
constexpr double hardly = 0.5;             // of what others wait on average

struct Trend {             // of the others' waits over their messages, a straight line
  double correlation = 0;  // 0: too few, or all have as many
  double mean_s = 0;
  double messages = 0, slope = 0;  // through (messages, mean_s)
  double at(double many) const { return mean_s + slope * (many - messages); }
};

Trend trend_of(const std::vector<std::pair<double, double>>& points) {
  Trend t;
  if (points.size() < 4) return t;
  const auto n = static_cast<double>(points.size());
  double xx = 0, yy = 0, xy = 0;
  for (const auto& [x, y] : points) {
    t.messages += x / n;
    t.mean_s += y / n;
  }
  for (const auto& [x, y] : points) {
    xx += (x - t.messages) * (x - t.messages);
    yy += (y - t.mean_s) * (y - t.mean_s);
    xy += (x - t.messages) * (y - t.mean_s);
  }
  if (!(xx > 1e-3 * n * t.messages * t.messages && yy > 0)) return t;
  t.correlation = xy / std::sqrt(xx * yy);
  t.slope = xy / xx;
  return t;
}

struct Sent {  // by some ranks, of those that send
  double sent = 0, partners = 0, senders = 0;
  void add(const Load& p) {
    if (p.sent <= 0) return;
    sent += p.sent;
    partners += std::max(p.partners, 1.0);
    ++senders;
  }
  double per_partner() const { return sent / std::max(partners, 1.0); }
  double each() const { return sent / std::max(senders, 1.0); }
};

}  // namespace

// Those who are waited for have the most messages, or the more messages a rank has the less it waits.
bool have_more(const std::vector<Load>& all, const std::vector<std::int32_t>& named) {
  std::vector<std::pair<double, double>> points, others;
  double guilty = 0, most = 0, sum = 0, received = 0, waited = 0, others_waited = 0;
  Sent by_named, by_others;
  for (const Load& p : all) {
    const double messages = p.sent + p.received;
    points.emplace_back(messages, p.waited_s);
    if (std::find(named.begin(), named.end(), p.rank) != named.end()) {
      guilty += messages / static_cast<double>(named.size());
      waited += p.waited_s / static_cast<double>(named.size());
      received += p.received;
      by_named.add(p);
    } else {
      others.push_back(points.back());
      others_waited += p.waited_s;
      most = std::max(most, messages);
      sum += messages;
      by_others.add(p);
    }
  }
  if (others.size() < 3 || guilty <= 0) return false;
  // Who has more to compute waits less.
  if (waited > waits_less * others_waited / static_cast<double>(others.size())) return false;
  if (2 * static_cast<std::size_t>(by_others.senders) < others.size()) return false;  // they only wait by now
  if (by_others.senders > 0 && by_named.per_partner() >= more_per_partner * by_others.per_partner()) {
    if (guilty >= more_messages * most) return true;
    // More than they get from the same partners, and than others send: their part of the data is larger.
    if (by_named.sent >= more_messages * received && by_named.each() >= more_messages * by_others.each()) return true;
  }
  // Others wait less the more they have, and one with as much as those who are waited for would hardly wait. Where all
  // wait for one rank alone they do so about equally long, whatever they have.
  const Trend trend = trend_of(others);
  return guilty >= 1.25 * sum / static_cast<double>(others.size()) && trend_of(points).correlation <= -0.7 &&
         trend.correlation <= -0.5 && trend.at(guilty) <= hardly * trend.mean_s;
}

}  // namespace pclscope::attribute
