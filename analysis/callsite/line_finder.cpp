#include "analysis/callsite/line_finder.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/elf/image.hpp"

namespace pclscope::callsite {
namespace {

// Separate debug files by build-id and by .gnu_debuglink: beside the file, in .debug beside it, in /usr/lib/debug, and
// where the user says.
char* debug_path() {
  static std::string path = ":.debug:/usr/lib/debug";
  static const char* more = std::getenv("PCLSCOPE_DEBUG_DIRECTORIES");
  if (more != nullptr) path = path + ":" + std::exchange(more, nullptr);
  return path.data();
}
char* debug_directories = debug_path();
const Dwfl_Callbacks callbacks = {dwfl_build_id_find_elf, dwfl_standard_find_debuginfo, dwfl_offline_section_address,
                                  &debug_directories};

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, Free> text(abi::__cxa_demangle(name, nullptr, nullptr, &status));
  return status == 0 && text ? text.get() : "";
}

std::string function_name(Dwarf_Die* die) {
  Dwarf_Attribute memory;
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    const char* linkage = dwarf_formstring(dwarf_attr_integrate(die, attribute, &memory));
    if (linkage == nullptr) continue;
    std::string name = demangled(linkage);
    if (!name.empty()) return name;
  }
  const char* name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &memory));
  return name != nullptr ? name : "";
}

// MPI's deprecated C++ binding lies in headers: Open MPI .../ompi/mpi/cxx/comm_inln.h, MPICH .../mpicxx.h.
bool is_binding(std::string_view file) {
  return file.find("/mpi/cxx/") != std::string_view::npos || file.ends_with("/mpicxx.h");
}

// The functions around an address, outermost first, the others inlined into it. Not libdw's dwarf_getscopes: that
// misses what link-time optimisation inlined, and Fortran's contained procedures, which lie in the tree inside a
// procedure whose code does not hold theirs. For the latter `everywhere`, which costs more.
class Functions {
 public:
  Functions(Dwarf_Addr address, bool everywhere) : address_(address), everywhere_(everywhere) {}

  bool find_in(Dwarf_Die* parent, int depth = 0) {
    Dwarf_Die child;
    if (depth > deepest || dwarf_child(parent, &child) != 0) return false;
    do {
      if (enter(child, depth + 1)) return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
  }
  std::vector<Dwarf_Die>& found() { return found_; }

 private:
  static constexpr int deepest = 64;

  bool enter(Dwarf_Die& die, int depth) {
    switch (dwarf_tag(&die)) {
      case DW_TAG_subprogram:
      case DW_TAG_inlined_subroutine:
        if (dwarf_haspc(&die, address_) == 1) {
          found_.push_back(die);
          find_in(&die, depth);
          return true;
        }
        return everywhere_ && find_in(&die, depth);
      case DW_TAG_lexical_block: return dwarf_haspc(&die, address_) == 1 && find_in(&die, depth);
      case DW_TAG_namespace:
      case DW_TAG_module: return find_in(&die, depth);
      default: return false;
    }
  }

  Dwarf_Addr address_;
  bool everywhere_;
  std::vector<Dwarf_Die> found_;
};

// The place from which an inlined function was called.
void step_outwards(Dwarf_Die* unit, Dwarf_Die* inlined, Place& place) {
  Dwarf_Attribute memory;
  Dwarf_Word file = 0, line = 0;
  Dwarf_Files* files = nullptr;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &memory), &file) != 0 ||
      dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &memory), &line) != 0 ||
      dwarf_getsrcfiles(unit, &files, nullptr) != 0) {
    return;
  }
  const char* name = dwarf_filesrc(files, file, nullptr, nullptr);
  if (name == nullptr) return;
  place.file = name;
  place.line = static_cast<std::uint32_t>(line);
}

}  // namespace

struct LineFinder::State {
  Dwfl* session = nullptr;
  Dwfl_Module* module = nullptr;
  ~State() {
    if (session != nullptr) dwfl_end(session);
  }

  void find_line(Dwarf_Addr address, Place& place) const;
  void find_function(Dwarf_Addr address, Place& place) const;
  void find_symbol(Dwarf_Addr address, Place& place) const;
};

LineFinder::LineFinder(std::unique_ptr<State> state) : state_(std::move(state)) {}
LineFinder::~LineFinder() = default;

std::unique_ptr<LineFinder> LineFinder::open(const std::string& path, const std::string& build_id) {
  const auto image = elf::read_elf_image(path);
  if (!image || (!build_id.empty() && image->build_id != build_id)) return nullptr;
  auto state = std::make_unique<State>();
  state->session = dwfl_begin(&callbacks);
  if (state->session == nullptr) return nullptr;
  dwfl_report_begin(state->session);
  state->module = dwfl_report_elf(state->session, path.c_str(), path.c_str(), -1, 0, true);
  dwfl_report_end(state->session, nullptr, nullptr);
  if (state->module == nullptr) return nullptr;
  return std::unique_ptr<LineFinder>(new LineFinder(std::move(state)));
}

void LineFinder::State::find_line(Dwarf_Addr address, Place& place) const {
  Dwfl_Line* line = dwfl_module_getsrc(module, address);
  int number = 0;
  const char* file = line != nullptr ? dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr) : nullptr;
  if (file == nullptr) return;
  place.file = file;
  place.line = static_cast<std::uint32_t>(std::max(number, 0));
}

// From the innermost function outwards, past MPI's own inlined ones.
void LineFinder::State::find_function(Dwarf_Addr address, Place& place) const {
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = dwfl_module_addrdie(module, address, &bias);
  if (unit == nullptr) return;
  for (const bool everywhere : {false, true}) {
    Functions functions(address - bias, everywhere);
    if (!functions.find_in(unit)) continue;
    std::vector<Dwarf_Die>& found = functions.found();
    while (found.size() > 1 && is_binding(place.file)) {
      step_outwards(unit, &found.back(), place);
      found.pop_back();
    }
    place.function = function_name(&found.back());
    return;
  }
}

void LineFinder::State::find_symbol(Dwarf_Addr address, Place& place) const {
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* name = dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name == nullptr) return;
  place.function = demangled(name);
  if (place.function.empty()) place.function = name;
}

Place LineFinder::find(std::uint64_t return_address) {
  Place place;
  const Dwarf_Addr address = return_address - 1;  // inside the call instruction
  state_->find_line(address, place);
  state_->find_function(address, place);
  if (place.function.empty()) state_->find_symbol(address, place);
  return place;
}

}  // namespace pclscope::callsite
