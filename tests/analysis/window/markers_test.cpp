// Parts of the program by their markers: times and MPI's share on paper, and what is missing.
#include "analysis/window/markers.hpp"

#include <catch2/catch.hpp>
#include <cstring>

#include "analysis/window/activity.hpp"

using namespace pclscope;
using record::Event;
using record::EventKind;
using record::MarkerKind;

namespace {

constexpr TickScale scale{0, 1e9};  // a tick is a second

// One thread's events, as the library writes them.
class Ring {
 public:
  Ring& call(std::uint64_t begin, std::uint64_t end) {
    return add({begin, end, 1, 1, 0, 0, 0, 0, EventKind::call, 1, 0});
  }
  Ring& mark(std::uint64_t at, MarkerKind kind, std::string name, std::int64_t number = 0) {
    while (name.size() > record::marker_name_last) {
      const std::string part = name.substr(0, record::marker_name_part);
      put(at, MarkerKind::name_part, part, 0);
      name.erase(0, part.size());
    }
    return put(at, kind, name, number);
  }
  Ring& begin(std::uint64_t at, const std::string& name) { return mark(at, MarkerKind::begin, name); }
  Ring& end(std::uint64_t at, const std::string& name) { return mark(at, MarkerKind::end, name); }
  Ring& iteration(std::uint64_t at, const std::string& name, std::int64_t number) {
    return mark(at, MarkerKind::iteration, name, number);
  }
  Ring& other(std::uint64_t at, EventKind kind, std::int32_t tag = -1) {
    return add({at, at, 1, 0, 0, 0, -1, tag, kind, 1, 0});
  }
  const std::vector<Event>& events() const { return events_; }

 private:
  Ring& put(std::uint64_t at, MarkerKind kind, const std::string& name, std::int64_t number) {
    Event e{at,
            at,
            0,
            0,
            0,
            static_cast<std::uint64_t>(number),
            static_cast<std::int32_t>(name.size()),
            static_cast<std::int32_t>(kind),
            EventKind::marker,
            0,
            0};
    std::uint64_t words[3] = {0, 0, e.ordinal};
    std::memcpy(words, name.data(), name.size());
    e.comm = words[0], e.bytes = words[1], e.ordinal = words[2];
    return add(e);
  }
  Ring& add(const Event& e) {
    events_.push_back(e);
    return *this;
  }
  std::vector<Event> events_;
};

std::vector<Marker> markers_of(const std::vector<Ring>& rings) {
  Activity activity(static_cast<std::int32_t>(rings.size()));
  for (std::size_t rank = 0; rank < rings.size(); ++rank)
    activity.add(static_cast<std::int32_t>(rank), 0, rings[rank].events());
  return activity.markers(scale);
}

}  // namespace

TEST_CASE("a part has ranks' time in it, and inside MPI; calls before and after it do not count") {
  const auto markers = markers_of({
      Ring().call(1, 3).begin(4, "solve").call(5, 7).call(8, 9).end(10, "solve").call(11, 20),
      Ring().begin(5, "solve").call(5, 9).end(9, "solve"),
  });
  REQUIRE(markers.size() == 1);
  Marker on_paper;
  on_paper.name = "solve";
  on_paper.ranks = 2, on_paper.lowest_rank = 0, on_paper.highest_rank = 1;
  on_paper.begin_s = 4, on_paper.end_s = 10;
  on_paper.times = 2;
  on_paper.time_s = 6 + 4, on_paper.mpi_s = 3 + 4, on_paper.most_s = 6;
  on_paper.most_useful_s = 3, on_paper.most_useful_rank = 0;
  CHECK(markers[0] == on_paper);
}

TEST_CASE("iterations end with the next one, or with an end; their numbers may be any") {
  const auto markers = markers_of({Ring()
                                       .iteration(2, "step", -3)
                                       .call(2, 3)
                                       .iteration(4, "step", 7)
                                       .iteration(9, "step", 5)
                                       .end(10, "step")
                                       .call(10, 30)
                                       .end(31, "step")});
  REQUIRE(markers.size() == 1);
  CHECK(markers[0].iterations == 3);
  CHECK(markers[0].times == 3);
  CHECK(markers[0].lowest_iteration == -3);
  CHECK(markers[0].highest_iteration == 7);
  CHECK(markers[0].time_s == 8);
  CHECK(markers[0].mpi_s == 1);
}

TEST_CASE("parts overlap, lie in themselves, and have long names") {
  const std::string longest(64, 'n'), middle(30, 'm');
  const auto markers = markers_of({Ring()
                                       .begin(1, longest)
                                       .begin(2, middle)
                                       .begin(3, longest)
                                       .end(4, longest)
                                       .call(4, 5)
                                       .end(6, longest)
                                       .call(7, 8)
                                       .end(9, middle)});
  REQUIRE(markers.size() == 2);
  CHECK(markers[0].name == longest);
  CHECK(markers[0].time_s == 5);
  CHECK(markers[0].mpi_s == 1);
  CHECK(markers[0].times == 1);
  CHECK(markers[1].name == middle);
  CHECK(markers[1].time_s == 7);
  CHECK(markers[1].mpi_s == 2);
}

TEST_CASE("levels of MPI_Pcontrol are parts until the next one") {
  const auto markers = markers_of({Ring()
                                       .other(1, EventKind::control, 2)
                                       .call(2, 4)
                                       .other(5, EventKind::control, 3)
                                       .other(8, EventKind::control, 2)
                                       .other(9, EventKind::control, -1)
                                       .other(20, EventKind::control, 1)});
  REQUIRE(markers.size() == 2);
  CHECK(markers[0].name == "level 2");
  CHECK(markers[0].times == 2);
  CHECK(markers[0].time_s == 5);
  CHECK(markers[0].mpi_s == 2);
  CHECK(markers[1].name == "level 3");
  CHECK(markers[1].time_s == 3);
}

TEST_CASE("level 0 ends a level as any other does, and cuts what was marked otherwise") {
  const auto markers = markers_of({Ring()
                                       .other(1, EventKind::control, 2)
                                       .begin(2, "run")
                                       .call(3, 4)
                                       .other(5, EventKind::control, 0)
                                       .other(50, EventKind::lost)
                                       .other(50, EventKind::control, 1)});
  REQUIRE(markers.size() == 2);
  CHECK(markers[0].name == "level 2");
  CHECK(markers[0].time_s == 4);
  CHECK(markers[0].cut == 0);
  CHECK(markers[1].time_s == 3);
  CHECK(markers[1].cut == 1);
}

TEST_CASE("what is open counts until the newest call, and until MPI_Finalize") {
  const auto running = markers_of({Ring().begin(2, "run").call(3, 6)});
  REQUIRE(running.size() == 1);
  CHECK(running[0].inside == 1);
  CHECK(running[0].time_s == 4);
  CHECK(running[0].mpi_s == 3);
  const auto over = markers_of({Ring().begin(2, "run").call(3, 6).other(9, EventKind::finalize)});
  REQUIRE(over.size() == 1);
  CHECK(over[0].inside == 0);
  CHECK(over[0].time_s == 7);
  CHECK(over[0].end_s == 9);
  CHECK(over[0].cut == 0);
}

TEST_CASE("where events are missing, what was open ends; an end without a begin is none") {
  for (const bool off : {false, true}) {
    Ring ring;
    ring.end(1, "never").begin(2, "run").call(3, 6);
    if (off) ring.other(7, EventKind::control, 0);
    const auto markers = markers_of({ring.other(50, EventKind::lost).end(60, "run").begin(70, "run").end(71, "run")});
    REQUIRE(markers.size() == 1);
    CHECK(markers[0].cut == 1);
    CHECK(markers[0].times == 2);
    CHECK(markers[0].time_s == (off ? 5 : 4) + 1);
    CHECK(markers[0].mpi_s == 3);
  }
}

TEST_CASE("a part of a name that was left over does not spoil the next one") {
  const auto markers = markers_of(
      {Ring().mark(1, MarkerKind::name_part, "lost").other(2, EventKind::lost).begin(3, "run").end(4, "run")});
  REQUIRE(markers.size() == 1);
  CHECK(markers[0].name == "run");
}

TEST_CASE("several threads of a rank in a part") {
  Activity activity(1);
  activity.add(0, 0, Ring().begin(1, "run").call(2, 4).end(5, "run").events());
  activity.add(0, 3, Ring().begin(2, "run").call(3, 4).events());
  const auto markers = activity.markers(scale);
  REQUIRE(markers.size() == 1);
  CHECK(markers[0].threads);
  CHECK(markers[0].ranks == 1);
  CHECK(markers[0].time_s == 4 + 2);
  CHECK(markers[0].mpi_s == 2 + 1);
  CHECK(markers[0].inside == 1);
}

TEST_CASE("names beyond the limit count together, on a node and of several") {
  Ring ring;
  for (int i = 0; i < 100; ++i) ring.begin(10, "n" + std::to_string(i)).end(11, "n" + std::to_string(i));
  const auto markers = markers_of({ring});
  REQUIRE(markers.size() == Markers::most_names);
  double time_s = 0;
  for (const Marker& m : markers) {
    time_s += m.time_s;
    if (m.name == Markers::other_names) CHECK(m.times == 100 - 63);
  }
  CHECK(time_s == 100);
  std::vector<Marker> elsewhere = markers;
  for (Marker& m : elsewhere) m.name += "'", m.lowest_rank = m.highest_rank = m.most_useful_rank = 5;
  const auto merged = Markers::merged({{0, markers}, {1, elsewhere}, {2, markers}});
  REQUIRE(merged.size() == Markers::most_names);
  time_s = 0;
  for (const Marker& m : merged) time_s += m.time_s;
  CHECK(time_s == 300);
}
