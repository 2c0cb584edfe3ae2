// Columns of the tables about nodes' machines and ranks' bindings. See columns.hpp.
#pragma once

#include <cstdint>

#include "analysis/values/machine.hpp"

namespace pclscope {

struct MachineThreadRow : HardwareThread {
  std::int32_t machine = 0;
};
struct NodeMachineRow {
  std::int32_t machine = -1;
};
struct BindingRow : RankBinding {
  std::uint64_t ranges_begin = 0;
  std::uint64_t ranges_count = 0;
};

template <class Column>
void describe(Column&& column, const MachineThreadRow*) {
  column("machine", "1", &MachineThreadRow::machine,
         "of which machine; they are numbered from 0, all rows of one together");
  column("os", "1", &HardwareThread::os, "the kernel's number of the hardware thread");
  column("package", "1", &HardwareThread::package, "its package (socket), a number within the machine");
  column("numa", "1", &HardwareThread::numa, "its NUMA domain; -1: none");
  column("l3", "1", &HardwareThread::l3, "its L3 cache; -1: none");
  column("l2", "1", &HardwareThread::l2, "its L2 cache; -1: none");
  column("core", "1", &HardwareThread::core, "its core");
}

template <class Column>
void describe(Column&& column, const NodeMachineRow*) {
  column("machine", "1", &NodeMachineRow::machine, "what it is inside: as in `machine_threads`; -1: not known");
}

template <class Column>
void describe(Column&& column, const BindingRow*) {
  column("rank", "rank", &RankBinding::rank, "whose thread that called MPI_Init");
  column("changes", "1", &RankBinding::changes, "how often its binding was seen to have changed");
  column("ranges_begin", "row of binding_ranges", &BindingRow::ranges_begin, "where it may run: the first");
  column("ranges_count", "1", &BindingRow::ranges_count, "how many");
}

template <class Column>
void describe(Column&& column, const ThreadRange*) {
  column("first", "1", &ThreadRange::first, "hardware threads by the kernel's number: from here");
  column("last", "1", &ThreadRange::last, "to here");
}

}  // namespace pclscope
