// How long ranks waited in each wait state, by function, communicator and call site (window/wait_state_sums.hpp).
#include "analysis/stages/stage.hpp"
#include "analysis/window/wait_state_sums.hpp"

namespace pclscope {
namespace {

class WaitStates final : public Stage {
 public:
  explicit WaitStates(std::int32_t ranks) : sums_(ranks) {}

  void add(const Input& input) override {
    for (const CollectiveCall& c : input.calls) sums_.add(c);
  }
  void fill(Snapshot& snapshot) const override { snapshot.wait_states = sums_.list(); }

 private:
  WaitStateSums sums_;
};

}  // namespace

std::unique_ptr<Stage> make_wait_states_stage(std::int32_t ranks);
std::unique_ptr<Stage> make_wait_states_stage(std::int32_t ranks) { return std::make_unique<WaitStates>(ranks); }

}  // namespace pclscope
