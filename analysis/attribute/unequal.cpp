#include "analysis/attribute/unequal.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pclscope::attribute {
namespace {

constexpr double more_messages = 1.4;      // than any other rank
constexpr double more_per_partner = 1.25;  // than others on average

double correlation(const std::vector<std::pair<double, double>>& points) {
  if (points.size() < 4) return 0;
  const auto n = static_cast<double>(points.size());
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (const auto& [a, b] : points) {
    x += a / n;
    y += b / n;
  }
  for (const auto& [a, b] : points) {
    xx += (a - x) * (a - x);
    yy += (b - y) * (b - y);
    xy += (a - x) * (b - y);
  }
  return xx > 0 && yy > 0 && xx > 1e-3 * n * x * x ? xy / std::sqrt(xx * yy) : 0;
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
  double guilty = 0, most = 0, sum = 0, received = 0;
  Sent by_named, by_others;
  for (const Load& p : all) {
    const double messages = p.sent + p.received;
    points.emplace_back(messages, p.waited_s);
    if (std::find(named.begin(), named.end(), p.rank) != named.end()) {
      guilty += messages / static_cast<double>(named.size());
      received += p.received;
      by_named.add(p);
    } else {
      others.push_back(points.back());
      most = std::max(most, messages);
      sum += messages;
      by_others.add(p);
    }
  }
  if (others.size() < 3 || guilty <= 0) return false;
  if (2 * static_cast<std::size_t>(by_others.senders) < others.size()) return false;  // they only wait by now
  if (by_others.senders > 0 && by_named.per_partner() >= more_per_partner * by_others.per_partner()) {
    if (guilty >= more_messages * most) return true;
    // More than they get from the same partners, and than others send: their part of the data is larger.
    if (by_named.sent >= more_messages * received && by_named.each() >= more_messages * by_others.each()) return true;
  }
  return guilty >= 1.25 * sum / static_cast<double>(others.size()) && correlation(points) <= -0.7 &&
         correlation(others) <= -0.5;
}

}  // namespace pclscope::attribute
