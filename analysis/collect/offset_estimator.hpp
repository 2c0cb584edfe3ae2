// How far another node's clock is ahead of one's own, from round trips between the two.
//
// A round trip (child sends at t1, parent receives at t2 and answers at t3, child receives at t4; t1, t4 on the child's
// axis, t2, t3 on the parent's) bounds the offset theta(t) = parent's clock - child's clock, since nothing arrives
// before it was sent:  theta(t1) <= t2 - t1  and  theta(t4) >= t3 - t4.  Nothing is assumed of the delays' symmetry or
// size. With |theta'| <= max_drift and |theta''| <= max_wander, a bound u at time s binds the line theta(t0) +
// theta'(t0)(t - t0) at s by u + max_wander/2 (s - t0)^2: all bounds together leave a convex set of lines. Its extremes
// at t0 are the error bar; the estimate is the middle of the widest corridor between upper and lower bounds (with
// likely_wander in place of max_wander, which remembers longer), pulled into the bar. Convex corridors: Duda et al.
// 1987 (offline synchronisation of event traces); minimum delays: Hunold and Carpen-Amarie, HCA3, 2018.
//
// Memory and time per estimate are bounded: the tightest upper and lower bound of each of a few dozen spans of time.
// Values only, one thread. Never NaN or infinite, whatever the samples.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace pclscope::collect {

struct PingSample {
  std::int64_t t1 = 0, t2 = 0, t3 = 0, t4 = 0;  // ns; t1, t4 the child's axis, t2, t3 the parent's
};

struct ClockLimits {
  double max_drift = 500e-6;    // s/s between two nodes' clocks: NTP's limit for a slew; crystals have < 100e-6 each
  double max_wander = 1e-6;     // 1/s: how fast the drift may change (error bars)
  double likely_wander = 1e-7;  // 1/s: how fast it usually does at most (estimates)
  std::int64_t span_ns = 200'000'000;  // one upper and one lower bound are kept per span of this length
  std::size_t spans = 64;
};

struct OffsetEstimate {
  std::int64_t at_ns = 0;  // child's axis
  double offset_ns = 0;    // parent's clock - child's clock at at_ns
  double drift = 0;        // its rate of change, s/s
  double error_ns = 0;     // |error of offset_ns| <= this
  double drift_error = 0;  // |error of drift| <= this
};

class OffsetEstimator {
 public:
  explicit OffsetEstimator(ClockLimits limits = {}) : limits_(limits) {}

  // Samples come in the order of their t4. False: it contradicts itself (t4 < t1, t3 < t2, more time between t2 and t3
  // than between t1 and t4, a time beyond a century) or is older than the newest; it is left out and counted.
  bool add(const PingSample& sample);
  // At `at_ns`, which is not before the newest sample. None before the first sample.
  std::optional<OffsetEstimate> estimate(std::int64_t at_ns);
  void reset();

  std::uint64_t refused() const { return refused_; }
  // Times that the samples contradicted the limits (a clock was set or slewed hard); older samples were dropped then.
  std::uint64_t breaks() const { return breaks_; }
  std::size_t kept() const { return spans_.size(); }
  const ClockLimits& limits() const { return limits_; }

 private:
  struct Bound {
    std::int64_t at_ns = 0;
    std::int64_t offset_ns = 0;
  };
  struct Span {
    std::int64_t from_ns = 0;
    Bound upper, lower;
  };
  // A span's bounds relative to the moment of the estimate (s, not positive) and to origin_ns_ (ns).
  struct Line {
    double upper_s, upper_ns, lower_s, lower_ns;
  };
  class Corridor;

  void keep_tightest(Span& span, const Bound& upper, const Bound& lower) const;
  void lay_out(std::int64_t at_ns);
  void drop_contradicting(std::int64_t at_ns);

  ClockLimits limits_;
  std::deque<Span> spans_;
  std::vector<Line> lines_;
  std::int64_t origin_ns_ = 0;  // an offset near all bounds
  std::int64_t newest_ns_ = 0;  // t4 of the newest sample
  Span newest_;                 // the newest sample alone
  double drift_ = 0;            // as of the newest estimate
  std::uint64_t refused_ = 0, breaks_ = 0;
};

}  // namespace pclscope::collect
