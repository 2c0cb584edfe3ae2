// The communicators of the random program, as this rank has them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "random_plan.hpp"

namespace chaos {

struct View {
  MPI_Comm comm = MPI_COMM_NULL;
  int label = -1;
  std::vector<int> world_of;  // world rank of each rank that this one can send to
  std::vector<int> rank_of;   // the reverse, -1
};

class Communicators {
 public:
  Communicators(int rank, int size);
  // Called by one thread while no other uses MPI.
  void change(const Plan::Change& change, const std::vector<Recipe>& live);
  void close();
  const View& of(const Recipe& recipe) const { return views_.at(recipe.ordinal); }
  std::string lines() const;  // "label member member ..." of every communicator there was

 private:
  void open(const Recipe& recipe);
  MPI_Comm make(const Recipe& recipe, const Recipe& parent, MPI_Comm from);
  MPI_Comm make_across(const Recipe& recipe, const Recipe& parent, MPI_Comm from);
  MPI_Comm make_subset(const Recipe& recipe, const Recipe& parent, MPI_Comm from);

  int rank_, size_;
  MPI_Group world_;
  bool one_node_ = true;
  std::map<int, Recipe> recipes_;  // by ordinal, living ones
  std::map<int, View> views_;
  std::map<int, std::vector<int>> members_;
};

}  // namespace chaos
