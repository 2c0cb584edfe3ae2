// How well ranks' time is used: the multiplicative model of the POP centre (docs/methods.md, "Efficiencies"). A value
// of a job, a region or a period.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pclscope {

struct Efficiency {
  std::int32_t ranks = 0;         // that it is about; 0: nothing is known
  double begin_s = 0, end_s = 0;  // since the time origin: the first rank begins, the last one ends
  double useful_s = 0;            // outside MPI, the mean over ranks
  double most_useful_s = 0;       // of the rank with most
  std::int32_t most_useful_rank = -1;
  double off_core_s = 0;  // mean: would have been useful, but the rank was off its core
  // How long ranks were off their cores outside MPI is not always known: useful_s is between these for certain.
  double useful_least_s = 0, useful_most_s = 0;
  double ideal_s = -1;  // the run time on a network on which nothing takes time; -1: not known
  double replayed = 0;  // share of the messages that this is made of, put up to all

  bool known() const { return ranks > 0 && runtime_s() > 0; }
  // Useful time, and what is made of it, can be told: between least and most lies a fifth of it at most.
  bool useful_known() const { return known() && useful_most_s - useful_least_s <= 0.2 * useful_most_s; }
  double runtime_s() const { return end_s - begin_s; }
  double parallel() const { return share(useful_s, runtime_s()); }  // = load_balance() * communication()
  double load_balance() const { return share(useful_s, most_useful_s); }
  double communication() const { return share(most_useful_s, runtime_s()); }  // = serialisation() * transfer()
  bool ideal_known() const { return known() && ideal_s >= 0; }
  double serialisation() const { return share(most_useful_s, ideal()); }
  double transfer() const { return share(ideal(), runtime_s()); }
  bool operator==(const Efficiency&) const = default;

 private:
  // Not less than what a rank computes, not more than it took.
  double ideal() const { return std::min(std::max(ideal_s, most_useful_s), std::max(runtime_s(), most_useful_s)); }
  static double share(double part, double whole) {
    const double share = whole > 0 ? part / whole : 0;
    return share > 0 ? std::min(share, 1.0) : 0;  // of no number, too
  }
};

}  // namespace pclscope
