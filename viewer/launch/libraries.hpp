// Where the dynamic linker would find the libraries that a program needs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/elf/dynamic.hpp"

namespace pclscope::launch {

struct SearchPath {
  std::vector<std::string> preferred;  // LD_LIBRARY_PATH
  std::vector<std::string> system;     // of the system's linker configuration, then the usual directories
};

// `configuration` is the linker's file, /etc/ld.so.conf; its includes are followed.
SearchPath system_search_path(const std::string& library_path, const std::string& configuration);

struct LinkedLibrary {
  std::string name;  // as needed: "libmpi.so.40"
  std::string path;  // where it is found; empty when it is not
};

// Visits every library that `program` needs, directly or not, each once, breadth first. Ends early when `visit`
// returns false. `elf` is null for a library that was not found or cannot be read.
void walk_libraries(const std::string& program, const SearchPath& search,
                    const std::function<bool(const LinkedLibrary&, const elf::ElfFile* elf)>& visit);

}  // namespace pclscope::launch
