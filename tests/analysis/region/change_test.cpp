// When regions must be made anew: a change of the traffic's pattern, not its noise.
#include "analysis/region/change.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace pclscope;

namespace {

// Windows of traffic drawn at random from fixed proportions.
class Traffic {
 public:
  Traffic(std::size_t pairs, unsigned seed) : random_(seed) {
    std::vector<double> weight;
    for (std::size_t i = 0; i < pairs; ++i) weight.push_back(1 + static_cast<double>(random_() % 20));
    draw_ = std::discrete_distribution<std::size_t>(weight.begin(), weight.end());
  }
  void window(GraphChange& change, int messages, std::size_t shift = 0) {
    std::vector<std::uint64_t> count(draw_.max() + 1);
    for (int m = 0; m < messages; ++m) ++count[draw_(random_)];
    for (std::size_t i = 0; i < count.size(); ++i) change.add(i + shift, count[i]);
  }

 private:
  std::mt19937_64 random_;
  std::discrete_distribution<std::size_t> draw_;
};

}  // namespace

TEST_CASE("the first messages need regions, silence does not") {
  GraphChange change;
  CHECK_FALSE(change.changed());
  change.add(3, 0);
  CHECK_FALSE(change.changed());
  change.add(3, 1);
  CHECK(change.changed());
  change.clustered();
  CHECK_FALSE(change.changed());
  change.require();
  CHECK(change.changed());
  change.clustered();
  CHECK_FALSE(change.changed());
}

TEST_CASE("stationary random traffic triggers nothing once regions were made of some of it") {
  // Reference of 20 messages per pair and more; then 3,000 windows each.
  int triggers = 0;
  for (const std::size_t pairs : {2u, 6u, 40u, 400u, 4000u})
    for (const int per_window : {20, 1000})
      for (unsigned seed = 1; seed <= 4; ++seed) {
        Traffic traffic(pairs, seed);
        GraphChange change;
        traffic.window(change, static_cast<int>(pairs) * 20);
        change.clustered();
        for (int w = 0; w < 300; ++w) {
          traffic.window(change, per_window);
          if (!change.changed()) continue;
          ++triggers;
          change.clustered();
        }
      }
  CHECK(triggers == 0);
}

TEST_CASE("regions made of a handful of messages are made anew a few times, then no more") {
  Traffic traffic(400, 5);
  GraphChange change;
  traffic.window(change, 50);
  change.clustered();
  int triggers = 0, late = 0;
  for (int w = 0; w < 2000; ++w) {
    traffic.window(change, 50);
    if (!change.changed()) continue;
    ++triggers;
    late += w > 200;
    change.clustered();
  }
  CHECK(triggers <= 10);
  CHECK(late == 0);
}

TEST_CASE("a change of pattern triggers when it makes up two percent of the traffic") {
  Traffic traffic(200, 6);
  GraphChange change;
  for (int w = 0; w < 100; ++w) traffic.window(change, 1000);
  change.clustered();
  int windows = 0;
  while (!change.changed() && windows < 1000) traffic.window(change, 1000, 200), ++windows;  // other pairs
  CHECK(windows >= 1);
  CHECK(windows <= 4);
}

TEST_CASE("other proportions on the same pairs trigger, equal ones do not") {
  GraphChange change;
  for (std::size_t i = 0; i < 100; ++i) change.add(i, 1000);
  change.clustered();
  for (std::size_t i = 0; i < 100; ++i) change.add(i, 5000);
  CHECK_FALSE(change.changed());
  CHECK(change.distance() < 1e-9);
  change.clustered();
  for (std::size_t i = 0; i < 50; ++i) change.add(i, 12000);
  CHECK(change.changed());
}

TEST_CASE("a program that alternates between two phases triggers ever less often") {
  GraphChange change;
  std::vector<int> at;
  for (int w = 0; w < 20000; ++w) {
    for (std::size_t i = 0; i < 50; ++i) change.add(i + (w / 10 % 2 ? 50 : 0), 10);  // ten windows each
    if (!change.changed()) continue;
    at.push_back(w);
    change.clustered();
  }
  CHECK(at.size() < 60);
  CHECK(at.back() < 1000);
}

TEST_CASE("the distance kept up to date is the one of its definition") {
  std::mt19937_64 random(7);
  GraphChange change;
  std::vector<double> reference(30), now(30);
  for (int step = 0; step < 3000; ++step) {
    const std::size_t pair = random() % 30;
    const std::uint64_t messages = random() % 50;
    change.add(pair, messages);
    now[pair] += static_cast<double>(messages);
    if (step % 700 == 100) change.clustered(), reference = now;
    double r = 0, t = 0, both = 0;
    for (std::size_t i = 0; i < 30; ++i) r += reference[i], t += now[i], both += std::sqrt(reference[i] * now[i]);
    if (r > 0) REQUIRE(change.distance() == Approx(1 - both / std::sqrt(r * t)).margin(1e-9));
  }
}
