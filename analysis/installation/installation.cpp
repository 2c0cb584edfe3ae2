#include "analysis/installation/installation.hpp"

#include <unistd.h>

#include <array>
#include <filesystem>

// From the folder of pclscope to the others, as CMake installs them ("../libexec/pclscope", "../lib/x86_64-linux-gnu").
#ifndef PCLSCOPE_LIBEXEC_FROM_BIN
#error "PCLSCOPE_LIBEXEC_FROM_BIN and PCLSCOPE_LIB_FROM_BIN come from CMake"
#endif

namespace pclscope {
namespace {

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }
std::string normal(const std::string& path) { return std::filesystem::path(path).lexically_normal().string(); }

}  // namespace

std::string own_folder() {
  std::array<char, 4096> path;
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return {};
  const std::string self(path.data(), static_cast<std::size_t>(length));
  return self.substr(0, self.rfind('/'));
}

std::string program_part(const std::string& name, const std::string& from) {
  const std::string installed = from + "/" PCLSCOPE_LIBEXEC_FROM_BIN "/" + name;
  return normal(exists(installed) ? installed : from + "/" + name);
}

std::string library_part(const std::string& name, const std::string& from) {
  const std::string installed = from + "/" PCLSCOPE_LIB_FROM_BIN "/" + name;
  return normal(exists(installed) ? installed : from + "/../lib/" + name);
}

}  // namespace pclscope
