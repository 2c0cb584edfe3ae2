// A made-up /proc and /sys below a directory of its own, removed at the end.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace pclscope::conditions::test {

class MadeUpTree {
 public:
  MadeUpTree() {
    std::string name = (std::filesystem::temp_directory_path() / "pcl-tree-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no directory for a tree");
    root_ = name;
  }
  ~MadeUpTree() { std::filesystem::remove_all(root_); }
  MadeUpTree(const MadeUpTree&) = delete;
  MadeUpTree& operator=(const MadeUpTree&) = delete;

  const std::string& root() const { return root_; }
  // In place: descriptors that are open see it.
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path whole = root_ + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole, std::ios::trunc) << text;
  }
  void link(const std::string& path, const std::string& target) const {
    const std::filesystem::path whole = root_ + path;
    std::filesystem::create_directories(whole.parent_path());
    std::filesystem::create_symlink(target, whole);
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(root_ + path); }

  static std::string stat(std::uint32_t pid, const std::string& name, std::uint64_t user, std::uint64_t system,
                          int threads, int core) {
    std::string text = std::to_string(pid) + " (" + name + ") R 1 1 1 0 -1 4194304 100 0 0 0 " + std::to_string(user) +
                       " " + std::to_string(system) + " 0 0 20 0 " + std::to_string(threads) + " 0 12345 1000 100";
    for (int field = 25; field <= 38; ++field) text += " 0";
    return text + " " + std::to_string(core) + " 0 0 0\n";
  }

 private:
  std::string root_;
};

}  // namespace pclscope::conditions::test
