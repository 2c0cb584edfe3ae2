// How this node is called from others.
#pragma once

#include <string>
#include <vector>

namespace pclscope::discovery {

std::string host_name();  // empty: none
// Of this node since it was started. Nodes of two clusters may have one name, but never one of these.
std::string boot_id();
// Its name, then its IPv4 addresses that are up, without the loopback's; at most 8.
std::vector<std::string> addresses_here();

}  // namespace pclscope::discovery
