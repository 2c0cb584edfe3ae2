#include "analysis/aggregator/load_watch.hpp"

#include <catch2/catch.hpp>

using namespace pclscope;
using aggregator::LoadWatch;
using std::chrono::milliseconds;

namespace {

struct Watched {
  LoadWatch watch;
  LoadWatch::Clock::time_point now{std::chrono::hours(1)};
  Load after(milliseconds pause, std::uint64_t unread, bool full = false) {
    now += pause;
    return watch.look(now, unread, full);
  }
};

}  // namespace

TEST_CASE("how far the worker is behind says what is left out") {
  Watched w;
  CHECK(w.after(milliseconds(1), 0) == Load::ordinary);
  CHECK(w.after(milliseconds(1), LoadWatch::much - 1) == Load::ordinary);
  CHECK(w.after(milliseconds(1), LoadWatch::much) == Load::high);
  CHECK(w.after(milliseconds(500), LoadWatch::too_much) == Load::too_high);
  // It goes back one step at a time, when little is unread for a second.
  CHECK(w.after(milliseconds(999), LoadWatch::too_much / 4) == Load::too_high);
  CHECK(w.after(milliseconds(1), LoadWatch::too_much / 4) == Load::high);
  CHECK(w.after(milliseconds(999), LoadWatch::much / 4 + 1) == Load::high);
  CHECK(w.after(milliseconds(999), LoadWatch::much / 4) == Load::high);
  CHECK(w.after(milliseconds(1), LoadWatch::much / 4) == Load::ordinary);
}

TEST_CASE("rings that are full count when there is much in them, and for longer than a moment") {
  Watched small;
  CHECK(small.after(milliseconds(1), LoadWatch::of_full_rings - 1, true) == Load::ordinary);
  CHECK(small.after(milliseconds(1'000), LoadWatch::of_full_rings - 1, true) == Load::ordinary);
  Watched w;
  CHECK(w.after(milliseconds(1), LoadWatch::of_full_rings, false) == Load::ordinary);
  CHECK(w.after(milliseconds(1), LoadWatch::of_full_rings, true) == Load::high);
  CHECK(w.after(milliseconds(98), LoadWatch::of_full_rings, true) == Load::high);
  CHECK(w.after(milliseconds(10), 0, false) == Load::high);  // it begins anew
  CHECK(w.after(milliseconds(10), LoadWatch::of_full_rings, true) == Load::high);
  CHECK(w.after(milliseconds(99), LoadWatch::of_full_rings, true) == Load::too_high);
}
