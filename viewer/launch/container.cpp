#include "viewer/launch/container.hpp"

#include <filesystem>

#include "viewer/launch/shell_words.hpp"

namespace pclscope::launch {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + quote_word(word);
  return line;
}

}  // namespace

// The preloaded libraries need libc alone, so their folder is all of the installation that the application sees.
ContainerNeeds container_needs(const std::string& library, const std::string& temporary) {
  ContainerNeeds needs;
  needs.folders = {std::filesystem::path(library).parent_path().string()};
  needs.shared = {"/dev/shm", temporary.empty() ? "/tmp" : temporary};
  needs.variables = {"LD_PRELOAD", "PCLSCOPE_*", "OMPI_*", "PMIX_*", "PMI_*", "MPI_*", "SLURM_*"};
  return needs;
}

std::vector<std::string> container_lines(const ContainerNeeds& needs) {
  std::string apptainer = "apptainer exec", podman =
                                                "podman run --rm --env-host --preserve-fds 16 --ipc host --pid host "
                                                "--network host";
  std::string bubblewrap = "bwrap --ro-bind ROOT / --dev /dev --proc /proc";
  for (const std::string& folder : needs.folders) {
    apptainer += " --bind " + quote_word(folder + ":" + folder + ":ro");
    podman += " --volume " + quote_word(folder + ":" + folder + ":ro");
    bubblewrap += " --ro-bind " + joined({folder, folder});
  }
  for (const std::string& folder : needs.shared) {
    apptainer += " --bind " + quote_word(folder);
    podman += " --volume " + quote_word(folder + ":" + folder);
    bubblewrap += " --bind " + joined({folder, folder});
  }
  std::string variables;
  for (const std::string& name : needs.variables) variables += " " + name;
  return {"in the container, at the same path, to be read: " + joined(needs.folders),
          "the node's own, to be written: " + joined(needs.shared),
          "the node's own process numbers and network",
          "variables that reach the application:" + variables,
          apptainer + " IMAGE ./app",
          podman + " IMAGE ./app",
          bubblewrap + " ./app"};
}

}  // namespace pclscope::launch
