#include "analysis/discovery/addresses.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>

#include "analysis/discovery/private_file.hpp"

namespace pclscope::discovery {

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

std::string boot_id() {
  std::string id = read_small("/proc/sys/kernel/random/boot_id");
  return id.substr(0, id.find('\n'));
}

std::vector<std::string> addresses_here() {
  constexpr std::size_t most = 8;
  std::vector<std::string> all;
  if (const std::string name = host_name(); !name.empty()) all.push_back(name);
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return all;
  for (const ifaddrs* one = first; one != nullptr && all.size() < most; one = one->ifa_next) {
    constexpr unsigned up = IFF_UP | IFF_RUNNING;
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET || (one->ifa_flags & IFF_LOOPBACK) != 0 ||
        (one->ifa_flags & up) != up)
      continue;
    char text[INET_ADDRSTRLEN] = "";
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    if (::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text) == nullptr) continue;
    if (std::find(all.begin(), all.end(), text) == all.end()) all.emplace_back(text);
  }
  ::freeifaddrs(first);
  return all;
}

}  // namespace pclscope::discovery
