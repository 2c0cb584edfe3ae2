#include "analysis/stages/stage.hpp"

namespace pclscope {

#define PCLSCOPE_STAGE(name) std::unique_ptr<Stage> make_##name##_stage(std::int32_t ranks);
#include "analysis/stages/stages.def"
#undef PCLSCOPE_STAGE

std::vector<std::unique_ptr<Stage>> make_stages(std::int32_t ranks) {
  std::vector<std::unique_ptr<Stage>> stages;
#define PCLSCOPE_STAGE(name) stages.push_back(make_##name##_stage(ranks));
#include "analysis/stages/stages.def"
#undef PCLSCOPE_STAGE
  return stages;
}

}  // namespace pclscope
