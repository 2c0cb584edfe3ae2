// Parts of the program that it named itself: how often and how long ranks were in them, and how much of that inside
// MPI.
//
// A part begins and ends by its name, so parts may overlap; one that begins again inside itself is one. Where events
// are missing, what was open ends: nobody knows when it did. Memory: per rank and name, and most_names.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/values/marker.hpp"
#include "analysis/values/tick_scale.hpp"
#include "interpose/record/event.hpp"

namespace pclscope {

class Markers {
 public:
  static constexpr std::size_t most_names = 64;
  static constexpr const char* other_names = "(other names)";  // all beyond

  // Where a thread is: how long it has been inside MPI, until its newest event.
  struct Now {
    std::uint64_t ticks = 0, mpi_ticks = 0;
    bool over = false;  // the rank has entered MPI_Finalize
  };

  // A marker, or MPI_Pcontrol, whose level names a part, too. `mpi_ticks`: of the thread, before it.
  void add(std::int32_t rank, std::uint32_t thread, const record::Event& event, std::uint64_t mpi_ticks);
  // The record of the thread breaks off here.
  void cut(std::int32_t rank, std::uint32_t thread, const Now& now);

  // By begin, then by name. now(rank, thread) tells where the threads are that are inside a part.
  template <class WhereNow>
  std::vector<Marker> list(const TickScale& scale, WhereNow&& now) const {
    std::vector<Marker> markers(names_.size());
    for (std::size_t i = 0; i < names_.size(); ++i) markers[i].name = names_[i];
    for (const auto& [rank, of] : ranks_) add_rank(rank, of, scale, now, markers);
    sort(markers);
    return markers;
  }

  // Of several nodes: those of one name are one, at most most_names.
  static std::vector<Marker> merged(const std::map<std::int32_t, std::vector<Marker>>& of_nodes);

 private:
  struct Part {  // of one thread, by name
    std::uint32_t depth = 0;
    std::uint64_t begin = 0, mpi_ticks = 0;  // when it began
  };
  struct Thread {
    std::string name;  // its first parts
    std::vector<Part> parts;
    std::int32_t level = 0;  // of MPI_Pcontrol, that names a part
  };
  struct Sums {  // of one rank, by name
    std::uint64_t begin = 0, end = 0, ticks = 0, mpi_ticks = 0, times = 0, iterations = 0, cut = 0;
    std::int64_t lowest = 0, highest = 0;  // iteration
    std::uint32_t thread = 0;              // that was the first in it
    bool threads = false;
  };
  struct Rank {
    std::vector<Thread> threads;
    std::vector<Sums> sums;
  };

  std::size_t name(const std::string& name);
  void begin(Rank& rank, std::uint32_t thread, std::size_t name, std::uint64_t ticks, std::uint64_t mpi_ticks);
  void end(Rank& rank, std::uint32_t thread, std::size_t name, std::uint64_t ticks, std::uint64_t mpi_ticks);
  void add_level(Rank& rank, std::uint32_t thread, const record::Event& event, std::uint64_t mpi_ticks);
  static void add_sums(std::int32_t rank, const Sums& sums, std::uint32_t inside, const TickScale& scale, Marker& to);
  static void sort(std::vector<Marker>& markers);

  template <class WhereNow>
  static void add_rank(std::int32_t rank, const Rank& of, const TickScale& scale, WhereNow&& now,
                       std::vector<Marker>& to) {
    for (std::size_t i = 0; i < of.sums.size(); ++i) {
      Sums sums = of.sums[i];
      if (sums.times == 0) continue;
      std::uint32_t inside = 0;
      for (std::uint32_t t = 0; t < of.threads.size(); ++t) {
        if (i >= of.threads[t].parts.size() || of.threads[t].parts[i].depth == 0) continue;
        const Now here = now(rank, t);
        close(of.threads[t].parts[i], here.ticks, here.mpi_ticks, sums);
        inside = !here.over;
      }
      add_sums(rank, sums, inside, scale, to[i]);
    }
  }
  static void close(const Part& part, std::uint64_t ticks, std::uint64_t mpi_ticks, Sums& sums) {
    const std::uint64_t inside = ticks > part.begin ? ticks - part.begin : 0;
    sums.ticks += inside;
    sums.mpi_ticks += std::min(inside, mpi_ticks > part.mpi_ticks ? mpi_ticks - part.mpi_ticks : 0);
    sums.end = std::max({sums.end, ticks, part.begin});
  }

  std::vector<std::string> names_;
  std::map<std::string, std::size_t> by_name_;
  std::map<std::int32_t, Rank> ranks_;  // those with markers
};

}  // namespace pclscope
