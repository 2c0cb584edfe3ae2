// Other nodes, as $PCLSCOPE_SSH reaches them: a program that does here what ssh would do there. Each has what its login
// shell does first; pclscope there is a shell script.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace pclscope::test {

class FakeNodes {
 public:
  // `folder`: an existing one for our files. `pclscope`: the script; $NODE is the node's name, "$@" the words.
  FakeNodes(const std::string& folder, const std::string& pclscope) : folder_(folder + "/nodes") {
    std::filesystem::create_directory(folder_);
    program("pclscope", pclscope);
    // The last word is the command line there, the one before it the host.
    program("ssh", "while [ $# -gt 2 ]; do shift; done\nexport NODE=$1 PATH='" + folder_ + "':$PATH\nset -- \"$2\"\n" +
                       "[ ! -e '" + folder_ + "'/login-$NODE ] || . '" + folder_ + "'/login-$NODE\neval \"$1\"");
    ::setenv("PCLSCOPE_SSH", (folder_ + "/ssh").c_str(), 1);
  }
  ~FakeNodes() { ::unsetenv("PCLSCOPE_SSH"); }
  FakeNodes(const FakeNodes&) = delete;

  void login(const std::string& node, const std::string& script) const {
    std::ofstream(folder_ + "/login-" + node) << script << "\n";
  }

 private:
  void program(const std::string& name, const std::string& script) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << "#!/bin/bash\n" << script << "\n";
    ::chmod(path.c_str(), 0755);
  }
  std::string folder_;
};

}  // namespace pclscope::test
