#include "viewer/launch/libraries.hpp"

#include <glob.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace pclscope::launch {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t most_libraries = 4096;

void read_configuration(const std::string& path, int depth, std::vector<std::string>& directories) {
  if (depth > 8) return;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    line.erase(std::min(line.find('#'), line.size()));
    std::istringstream words(line);
    std::string word;
    if (!(words >> word)) continue;
    if (word != "include") {
      if (word.front() == '/') directories.push_back(word);
      continue;
    }
    for (std::string pattern; words >> pattern;) {
      if (pattern.front() != '/') pattern = (fs::path(path).parent_path() / pattern).string();
      glob_t found{};
      if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
        for (std::size_t i = 0; i < found.gl_pathc; ++i) read_configuration(found.gl_pathv[i], depth + 1, directories);
      }
      ::globfree(&found);
    }
  }
}

std::string expand(std::string directory, const std::string& origin) {
  for (const auto& [name, value] : {std::pair<std::string, std::string>{"${ORIGIN}", origin},
                                    {"$ORIGIN", origin},
                                    {"${LIB}", "lib64"},
                                    {"$LIB", "lib64"}}) {
    for (auto at = directory.find(name); at != std::string::npos; at = directory.find(name, at + value.size())) {
      directory.replace(at, name.size(), value);
    }
  }
  return directory;
}

// The first candidate that is an ELF file of this machine, as the dynamic linker skips others.
std::string find_in(const std::vector<std::string>& directories, const std::string& origin, const std::string& name) {
  for (const std::string& directory : directories) {
    const std::string path = expand(directory, origin) + "/" + name;
    if (elf::read_elf(path)) return path;
  }
  return "";
}

struct Loaded {
  std::string path;
  elf::ElfFile elf;
};

std::string resolve(const std::string& name, const Loaded& by, const elf::ElfFile& program,
                    const std::string& program_origin, const SearchPath& search) {
  const std::string origin = fs::path(by.path).parent_path().string();
  if (name.find('/') != std::string::npos) return elf::read_elf(expand(name, origin)) ? expand(name, origin) : "";
  std::string path;
  if (by.elf.runpath.empty()) {
    path = find_in(by.elf.rpath, origin, name);
    if (path.empty() && program.runpath.empty()) path = find_in(program.rpath, program_origin, name);
  }
  if (path.empty()) path = find_in(search.preferred, origin, name);
  if (path.empty()) path = find_in(by.elf.runpath, origin, name);
  if (path.empty()) path = find_in(search.system, origin, name);
  return path;
}

}  // namespace

SearchPath system_search_path(const std::string& library_path, const std::string& configuration) {
  SearchPath search;
  std::istringstream parts(library_path);
  for (std::string part; std::getline(parts, part, ':');) search.preferred.push_back(part.empty() ? "." : part);
  read_configuration(configuration, 0, search.system);
  for (const char* usual : {"/lib64", "/usr/lib64", "/lib", "/usr/lib", "/lib/x86_64-linux-gnu",
                            "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu"}) {
    search.system.push_back(usual);
  }
  return search;
}

void walk_libraries(const std::string& program, const SearchPath& search,
                    const std::function<bool(const LinkedLibrary&, const elf::ElfFile* elf)>& visit) {
  auto first = elf::read_elf(program);
  if (!first) return;
  std::error_code ignored;
  std::string real = fs::canonical(program, ignored).string();
  if (ignored) real = program;
  const elf::ElfFile root = *first;
  const std::string origin = fs::path(real).parent_path().string();
  std::deque<Loaded> todo;
  todo.push_back({real, std::move(*first)});
  std::set<std::string> seen;
  while (!todo.empty() && seen.size() < most_libraries) {
    const Loaded current = std::move(todo.front());
    todo.pop_front();
    for (const std::string& name : current.elf.needed) {
      if (!seen.insert(name).second) continue;
      const LinkedLibrary library{name, resolve(name, current, root, origin, search)};
      auto elf = library.path.empty() ? std::nullopt : elf::read_elf(library.path);
      if (!visit(library, elf ? &*elf : nullptr)) return;
      if (elf) todo.push_back({library.path, std::move(*elf)});
    }
  }
}

}  // namespace pclscope::launch
