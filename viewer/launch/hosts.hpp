// Lists of nodes as launchers take them: on a command line, in files, from Slurm. Pure functions of their text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/values/result.hpp"

namespace pclscope::launch {

struct Host {
  std::string name;
  int slots = 1;  // processes for it; 0 = not said
  bool operator==(const Host&) const = default;
};
using Hosts = std::vector<Host>;

// "node1:2,node2": a node without a number has one slot. A node that is named twice is refused here, but adds up in the
// two below, as the launchers do it. Each fails with bad_argument: the line says which part is not understood.
Result<Hosts> parse_hosts(std::string_view text);
// The words of Open MPI's --host: repeated nodes are one slot each; "node:*" leaves it open.
Result<Hosts> parse_openmpi_hosts(std::string_view text);
// The words of MPICH's -hosts. A node that comes again after another one stays an entry of its own.
Result<Hosts> parse_mpich_hosts(std::string_view text);

// Contents of host files. Open MPI: "node slots=2 max_slots=4" (slots not said: 0, or as often as it is named when that
// is more than once); MPICH: "node:2 key=value ...". `name` is for the error's text.
Result<Hosts> parse_openmpi_hostfile(std::string_view text, const std::string& name);
Result<Hosts> parse_mpich_hostfile(std::string_view text, const std::string& name);

// PBS's node file and LSF's: a line for each process; a node's lines add up, wherever they stand.
Result<Hosts> parse_slot_lines(std::string_view text, const std::string& name);
// LSF's LSB_MCPU_HOSTS: "node1 2 node2 2".
Result<Hosts> parse_host_counts(std::string_view text);
// Slurm: names one per line (scontrol show hostnames) and SLURM_TASKS_PER_NODE, "2(x3),1".
Result<Hosts> slurm_hosts(std::string_view names, std::string_view tasks_per_node);

// The sum of the slots; 0 when one of them is not said.
int total_slots(const Hosts& hosts);

// How `ranks` ranks fill the hosts in order, and, where they are more than the slots, again from the first one: blocks
// of (node, number of ranks), neighbours of one name joined. Every host must have a slot at least.
Hosts fill_in_order(const Hosts& hosts, int ranks);
// Each node once, in order of first appearance.
std::vector<std::string> names_of(const Hosts& hosts);

// "node1:2,node2:1"
std::string host_words(const Hosts& hosts);

// The same node: equal names, or equal up to the first dot when one of them has no domain.
bool same_host(std::string_view a, std::string_view b);
std::string this_host();

}  // namespace pclscope::launch
