#include "analysis/machine/read_machine.hpp"

#include <dlfcn.h>
#include <hwloc.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "analysis/machine/background.hpp"

namespace pclscope::machine {
namespace {

constexpr const char* library_name = "libhwloc.so.15";  // of versions 2.x: what structures look like

// What is called of it; null: not there.
struct Library {
  decltype(&hwloc_topology_init) init = nullptr;
  decltype(&hwloc_topology_destroy) destroy = nullptr;
  decltype(&hwloc_topology_set_flags) set_flags = nullptr;
  decltype(&hwloc_topology_set_xml) set_xml = nullptr;
  decltype(&hwloc_topology_set_synthetic) set_synthetic = nullptr;
  decltype(&hwloc_topology_load) load = nullptr;
  decltype(&hwloc_get_type_depth) depth_of = nullptr;
  decltype(&hwloc_get_nbobjs_by_depth) count = nullptr;
  decltype(&hwloc_get_obj_by_depth) object = nullptr;
  decltype(&hwloc_bitmap_isset) is_set = nullptr;

  Library() {
    void* const handle = ::dlopen(library_name, RTLD_NOW | RTLD_LOCAL);  // for the life of the process
    if (handle == nullptr) return;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
      whole = whole && function != nullptr;
    };
    whole = true;
    find(init, "hwloc_topology_init");
    find(destroy, "hwloc_topology_destroy");
    find(set_flags, "hwloc_topology_set_flags");
    find(set_xml, "hwloc_topology_set_xml");
    find(set_synthetic, "hwloc_topology_set_synthetic");
    find(load, "hwloc_topology_load");
    find(depth_of, "hwloc_get_type_depth");
    find(count, "hwloc_get_nbobjs_by_depth");
    find(object, "hwloc_get_obj_by_depth");
    find(is_set, "hwloc_bitmap_isset");
  }
  bool whole = false;
};

const Library& library() {
  static const Library found;
  return found;
}

using Topology = std::unique_ptr<hwloc_topology, void (*)(hwloc_topology_t)>;

std::int32_t number_above(hwloc_obj_t object, hwloc_obj_type_t type) {
  for (; object != nullptr; object = object->parent)
    if (object->type == type) return static_cast<std::int32_t>(object->logical_index);
  return -1;
}

// Memory hangs beside the tree of cores. The first that is as near as any.
std::int32_t numa_of(hwloc_topology_t topology, unsigned os) {
  const unsigned domains = library().count(topology, HWLOC_TYPE_DEPTH_NUMANODE);
  for (unsigned i = 0; i < domains; ++i) {
    const hwloc_obj_t domain = library().object(topology, HWLOC_TYPE_DEPTH_NUMANODE, i);
    if (domain != nullptr && domain->cpuset != nullptr && library().is_set(domain->cpuset, os))
      return static_cast<std::int32_t>(domain->logical_index);
  }
  return -1;
}

Machine machine_of(hwloc_topology_t topology) {
  Machine machine;
  const int depth = library().depth_of(topology, HWLOC_OBJ_PU);
  if (depth < 0) return machine;
  const unsigned count = library().count(topology, depth);
  for (unsigned i = 0; i < count && i < most_hardware_threads; ++i) {
    const hwloc_obj_t unit = library().object(topology, depth, i);
    if (unit == nullptr || unit->os_index >= most_hardware_threads) continue;
    HardwareThread thread;
    thread.os = static_cast<std::int32_t>(unit->os_index);
    thread.package = std::max(0, number_above(unit, HWLOC_OBJ_PACKAGE));  // some virtual machines have none
    thread.numa = numa_of(topology, unit->os_index);
    thread.l3 = number_above(unit, HWLOC_OBJ_L3CACHE);
    thread.l2 = number_above(unit, HWLOC_OBJ_L2CACHE);
    thread.core = number_above(unit, HWLOC_OBJ_CORE);
    if (thread.core < 0) thread.core = static_cast<std::int32_t>(i);
    machine.threads.push_back(thread);
  }
  return machine;
}

}  // namespace

Result<Machine> read_machine(const std::string& text) {
  const std::string shown = text.substr(0, 200);
  const auto starts = [&](std::string_view word) { return text.starts_with(word) && text.size() > word.size(); };
  constexpr std::string_view xml = "xml:", synthetic = "synthetic:";
  if (text != "this" && !starts(xml) && !starts(synthetic))
    return Error{ErrorCode::bad_argument,
                 "machine '" + shown + "' is none of: this, xml:FILE, synthetic:\"pack:2 numa:1 l3:1 core:4 pu:2\""};
  const Library& hwloc = library();
  if (!hwloc.whole)
    return Error{ErrorCode::not_found,
                 std::string("what nodes are inside is not known: ") + library_name + " is not here"};
  hwloc_topology_t made = nullptr;
  if (hwloc.init(&made) != 0) return Error{ErrorCode::io, "hwloc cannot begin"};
  const Topology topology(made, [](hwloc_topology_t t) { library().destroy(t); });
  hwloc.set_flags(made, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING);  // older than 2.5: refused
  bool good = true;
  if (starts(xml)) good = hwloc.set_xml(made, text.c_str() + xml.size()) == 0;
  if (starts(synthetic)) good = hwloc.set_synthetic(made, text.c_str() + synthetic.size()) == 0;
  if (!good || hwloc.load(made) != 0)
    return Error{ErrorCode::damaged, "hwloc does not understand the machine '" + shown + "'"};
  Machine machine = machine_of(made);
  if (machine.threads.empty()) return Error{ErrorCode::damaged, "the machine '" + shown + "' has no hardware threads"};
  return machine;
}

Reading::Reading() {
  coming_ = in_background([] {
    auto machine = read_machine("this");
    return machine ? std::move(*machine) : Machine();
  });
}

const Machine* Reading::machine(std::chrono::milliseconds patience) {
  if (coming_.valid() && coming_.wait_for(patience) == std::future_status::ready) machine_ = coming_.get();
  return machine_.threads.empty() ? nullptr : &machine_;
}

}  // namespace pclscope::machine
