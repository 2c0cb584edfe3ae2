// Columns of the table of markers. See columns.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "analysis/values/marker.hpp"

namespace pclscope {

struct MarkerRow : Marker {
  std::array<char, 64> marker_name{};
};

template <class Column>
void describe(Column&& column, const MarkerRow*) {
  column("name", "", &MarkerRow::marker_name, "as the program has it; `level N`: by MPI_Pcontrol");
  column("ranks", "1", &Marker::ranks, "how many were in it");
  column("lowest_rank", "rank", &Marker::lowest_rank, "of them");
  column("highest_rank", "rank", &Marker::highest_rank, "of them");
  column("inside", "1", &Marker::inside, "ranks that were in it at the last summary");
  column("begin_s", "s", &Marker::begin_s, "when the first rank came into it, since the time origin");
  column("end_s", "s", &Marker::end_s, "when the last one left it");
  column("times", "1", &Marker::times, "how often ranks came into it");
  column("iterations", "1", &Marker::iterations, "of these with a number");
  column("lowest_iteration", "1", &Marker::lowest_iteration, "of the numbers");
  column("highest_iteration", "1", &Marker::highest_iteration, "of the numbers");
  column("cut", "1", &Marker::cut,
         "how often its end was not recorded: it counts until the record of its rank broke off");
  column("time_s", "s", &Marker::time_s, "inside it, over all ranks");
  column("mpi_s", "s", &Marker::mpi_s, "of that, inside MPI");
  column("most_s", "s", &Marker::most_s, "inside it, of the rank with most");
  column("most_useful_s", "s", &Marker::most_useful_s, "of that outside MPI, of the rank with most");
  column("most_useful_rank", "rank", &Marker::most_useful_rank, "that one");
  column("threads", "0 or 1", &Marker::threads, "several threads of a rank were in it: sums are theirs");
}

}  // namespace pclscope
