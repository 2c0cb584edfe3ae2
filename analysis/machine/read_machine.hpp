// What a node is made of inside, as hwloc tells it. The library is looked for when it is needed first, so a program
// runs where it is missing. Any thread.
#pragma once

#include <chrono>
#include <future>
#include <string>

#include "analysis/values/machine.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::machine {

// What users write:
//   this               the machine that this process runs on: what its cgroup lets it use. Some 10 ms; no thread is
//   moved. xml:FILE           as `lstopo FILE.xml` writes it synthetic:TEXT     hwloc's description of a machine that
//   is not there: "pack:2 numa:1 l3:1 core:4 pu:2"
// Errors: no library, a file or a description that hwloc does not understand, no hardware threads in it.
Result<Machine> read_machine(const std::string& text);

// read_machine("this") in a thread of its own, begun at once.
class Reading {
 public:
  static constexpr std::chrono::milliseconds last_patience{300};  // when the job is over before its machine is known

  Reading();
  // The machine, once it is read, waiting for it so long at most; null: not yet, or it cannot be known. One thread.
  const Machine* machine(std::chrono::milliseconds patience = std::chrono::milliseconds(0));

 private:
  std::future<Machine> coming_;
  Machine machine_;
};

}  // namespace pclscope::machine
