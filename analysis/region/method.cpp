#include "analysis/region/method.hpp"

namespace pclscope {

std::string_view name_of(RegionMethod method) {
  switch (method) {
    case RegionMethod::free_energy: return "free-energy";
    case RegionMethod::paper: return "paper";
    case RegionMethod::correlation: return "correlation";
  }
  return "";
}

std::optional<RegionMethod> region_method(std::string_view name) {
  for (const RegionMethod method : {RegionMethod::free_energy, RegionMethod::paper, RegionMethod::correlation})
    if (name == name_of(method)) return method;
  return std::nullopt;
}

}  // namespace pclscope
