// The program has three call sites, everywhere the same; an id on a node is its address.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/values/part.hpp"

namespace pclscope::benchmark {

inline constexpr std::uint32_t site_of_sends = 64, site_of_collectives = 128, site_of_receives = 192;

inline std::vector<nodes::NodeSite> sites_of(int node) {
  std::vector<nodes::NodeSite> sites;
  for (const std::uint32_t id : {site_of_sends, site_of_collectives, site_of_receives}) {
    CallSite site;
    site.module = "/usr/bin/program";
    site.offset = id;
    site.function = "step";
    sites.push_back({nodes::site_of_node(node, id), std::move(site)});
  }
  return sites;
}

}  // namespace pclscope::benchmark
