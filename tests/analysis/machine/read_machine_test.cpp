// Machines that are not there: hwloc's synthetic descriptions, and files. And this one, against /sys.
#include "analysis/machine/read_machine.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/patience.hpp"
#include "tests/seed.hpp"

using namespace pclscope;

namespace {

std::size_t count(const Machine& machine, std::int32_t HardwareThread::*number) {
  std::set<std::int32_t> numbers;
  for (const HardwareThread& thread : machine.threads) numbers.insert(thread.*number);
  return numbers.size();
}

// As hwloc writes it.
std::string object(const std::string& type, int number, const std::string& set, const std::string& domains,
                   const std::string& inside) {
  std::string text = "<object type=\"" + type + "\" os_index=\"" + std::to_string(number) + "\"";
  for (const char* kind : {"", "complete_", "allowed_"}) {
    if (std::string(kind) == "allowed_" && type != "Machine") continue;
    text += " " + std::string(kind) + "cpuset=\"" + set + "\" " + kind + "nodeset=\"" + domains + "\"";
  }
  if (type == "NUMANode") text += " local_memory=\"1073741824\"";
  return text + ">" + inside + "</object>\n";
}

}  // namespace

TEST_CASE("two packages of four cores with two hardware threads") {
  const auto machine = machine::read_machine("synthetic:pack:2 numa:1 l3:1 core:4 pu:2");
  REQUIRE(machine);
  REQUIRE(machine->threads.size() == 16);
  for (std::int32_t t = 0; t < 16; ++t) {
    const HardwareThread& thread = machine->threads[static_cast<std::size_t>(t)];
    CHECK(thread == HardwareThread{t, t / 8, t / 8, t / 8, -1, t / 2});
  }
}

TEST_CASE("random machines: each level has as many parts as the levels down to it multiply to") {
  std::uint64_t random = test::random_seed();
  const auto below = [&random](std::uint64_t most) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return (random >> 33) % most;
  };
  for (int round = 0; round < 30; ++round) {
    const std::size_t packages = 1 + below(3), domains = 1 + below(3), l3 = 1 + below(3), l2 = 1 + below(3),
                      cores = 1 + below(3), units = 1 + below(3);
    const std::string text = "synthetic:pack:" + std::to_string(packages) + " numa:" + std::to_string(domains) +
                             " l3:" + std::to_string(l3) + " l2:" + std::to_string(l2) +
                             " core:" + std::to_string(cores) + " pu:" + std::to_string(units);
    INFO(text);
    const auto machine = machine::read_machine(text);
    REQUIRE(machine);
    REQUIRE(machine->threads.size() == packages * domains * l3 * l2 * cores * units);
    CHECK(count(*machine, &HardwareThread::package) == packages);
    CHECK(count(*machine, &HardwareThread::numa) == packages * domains);
    CHECK(count(*machine, &HardwareThread::l3) == packages * domains * l3);
    CHECK(count(*machine, &HardwareThread::l2) == packages * domains * l3 * l2);
    CHECK(count(*machine, &HardwareThread::core) == packages * domains * l3 * l2 * cores);
    CHECK(count(*machine, &HardwareThread::os) == machine->threads.size());
  }
}

TEST_CASE("a machine from a file, whose kernel numbers hardware threads across the packages") {
  const auto path =
      std::filesystem::temp_directory_path() / ("pclscope_machine_" + std::to_string(::getpid()) + ".xml");
  // Four hardware threads: 0 and 2 in package 0, 1 and 3 in package 1.
  const auto core = [](int number, int os, const std::string& set, const std::string& domain) {
    return object("Core", number, set, domain, object("PU", os, set, domain, ""));
  };
  const auto package = [&](int number, const std::string& set, const std::string& domain, const std::string& cores) {
    return object("Package", number, set, domain, object("NUMANode", number, set, domain, "") + cores);
  };
  std::ofstream(path) << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<topology version=\"2.0\">\n"
                      << object("Machine", 0, "0xf", "0x3",
                                package(0, "0x5", "0x1", core(0, 0, "0x1", "0x1") + core(1, 2, "0x4", "0x1")) +
                                    package(1, "0xa", "0x2", core(0, 1, "0x2", "0x2") + core(1, 3, "0x8", "0x2")))
                      << "</topology>\n";
  const auto machine = machine::read_machine("xml:" + path.string());
  std::filesystem::remove(path);
  REQUIRE(machine);
  CHECK(machine->threads ==
        std::vector<HardwareThread>{
            {0, 0, 0, -1, -1, 0}, {2, 0, 0, -1, -1, 1}, {1, 1, 1, -1, -1, 2}, {3, 1, 1, -1, -1, 3}});
}

TEST_CASE("this machine: what is read beside it is the same, and no thread was moved") {
  const auto machine = machine::read_machine("this");
  REQUIRE(machine);
  for (const HardwareThread& thread : machine->threads) {
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(thread.os) + "/topology/core_id");
    CHECK(file);
  }
  machine::Reading reading;
  const Machine* read = reading.machine(test::patience);
  REQUIRE(read != nullptr);
  CHECK(*read == *machine);
  CHECK(reading.machine() == read);
}

TEST_CASE("what is no machine is an error") {
  for (const char* text : {"", "that", "xml:", "xml:/does/not/exist.xml", "synthetic:", "synthetic:horse:2 pu:1"}) {
    INFO(text);
    const auto machine = machine::read_machine(text);
    REQUIRE_FALSE(machine);
    CHECK_FALSE(machine.error().message.empty());
  }
}
