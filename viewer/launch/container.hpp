// An application in a container, `pclscope run` outside: what the container must share with its node.
#pragma once

#include <string>
#include <vector>

namespace pclscope::launch {

struct ContainerNeeds {
  std::vector<std::string> folders;    // at the same path inside; reading is enough
  std::vector<std::string> shared;     // at the same path inside, to be written
  std::vector<std::string> variables;  // names, or beginnings of names ("PCLSCOPE_*"), that must reach the application
};

// `library`: what is preloaded. `temporary`: where the launcher's processes meet (TMPDIR, or /tmp).
ContainerNeeds container_needs(const std::string& library, const std::string& temporary);

// Lines for a user: each need, then how Apptainer, Podman and bubblewrap are told; a blank in a path is quoted.
std::vector<std::string> container_lines(const ContainerNeeds& needs);

}  // namespace pclscope::launch
