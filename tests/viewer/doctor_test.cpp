// What is said of machines that lack this or that.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "viewer/doctor/checks.hpp"

using namespace pclscope;
using namespace pclscope::doctor;

namespace {

constexpr std::uint64_t MiB = 1 << 20;

Facts sound() {
  Facts facts;
  facts.ranks = facts.cores = 4;
  facts.mpis = {{launch::Mpi::openmpi, true, {}, "/usr/bin/mpirun.openmpi"},
                {launch::Mpi::mpich, true, {}, "/usr/bin/mpirun.mpich"}};
  facts.shm_total = facts.shm_free = 1000 * MiB;
  return facts;
}

const Check& of(const std::vector<Check>& checks, const std::string& what) {
  const auto found = std::find_if(checks.begin(), checks.end(), [&](const Check& check) { return check.what == what; });
  REQUIRE(found != checks.end());
  return *found;
}

}  // namespace

TEST_CASE("doctor: where all is well nothing is advised") {
  const auto checks = judge(sound());
  for (const Check& check : checks) {
    CHECK(check.verdict == Verdict::good);
    CHECK(check.advice.empty());
  }
  CHECK_FALSE(would_fail(checks));
  CHECK(as_text(checks).find("Nothing here would stop a run.") != std::string::npos);
}

TEST_CASE("doctor: every fault has its line and an advice, and stops a run or does not") {
  struct Fault {
    const char* what;
    void (*make)(Facts&);
    bool stops;
  };
  const Fault faults[] = {
      {"installation", [](Facts& f) { f.rank_program = false; }, true},
      {"MPICH", [](Facts& f) { f.mpis[1].installed = false; }, false},  // the other one works
      {"Open MPI", [](Facts& f) { f.mpis[0].lacks = {"libmpi.so.40"}; }, false},
      {"Open MPI", [](Facts& f) { f.mpis[0].launcher = f.mpis[1].launcher = ""; }, true},
      {"/dev/shm", [](Facts& f) { f.shm_writable = false; }, true},
      {"/dev/shm", [](Facts& f) { f.shm_free = 10 * MiB; }, true},
      {"/dev/shm", [](Facts& f) { f.shm_free = 64 * MiB; }, false},
      {"memory", [](Facts& f) { f.memory_shared = false; }, false},
      {"memory", [](Facts& f) { f.address_space = 4000 * MiB; }, false},
      {"locked memory", [](Facts& f) { f.locked_memory = 8 * MiB; }, false},
      {"ptrace", [](Facts& f) { f.ptrace_scope = 3; }, false},
      {"clock", [](Facts& f) { f.clock = record::ClockSource::monotonic; }, false},
      {"runtime directory", [](Facts& f) { f.runtime_problem = "belongs to somebody else"; }, true},
      {"home", [](Facts& f) { f.shared_problem = "there is none"; }, false},
      {"files", [](Facts& f) { f.directory_writable = false; }, false},
      {"cores", [](Facts& f) { f.cores = 2; }, false},
      {"window", [](Facts& f) { f.viewer = false; }, false},
      {"window", [](Facts& f) { f.viewer_lacks = {"libGL.so.1"}; }, false},
      {"window", [](Facts& f) { f.display = false; }, false},
  };
  for (const Fault& fault : faults) {
    Facts facts = sound();
    fault.make(facts);
    const auto checks = judge(facts);
    INFO(as_text(checks));
    const Check& check = of(checks, fault.what);
    CHECK(check.verdict == (fault.stops ? Verdict::stops : Verdict::note));
    CHECK_FALSE(check.text.empty());
    CHECK_FALSE(check.advice.empty());
    CHECK(would_fail(checks) == fault.stops);
    CHECK((as_text(checks).find("would stop a run.") != std::string::npos));
    const auto json = nlohmann::json::parse(as_json(checks));
    CHECK(json["would_fail"] == fault.stops);
    CHECK(json["checks"].size() == checks.size());
  }
}

TEST_CASE("doctor: what of /dev/shm is needed, by MPI and ranks") {
  Facts facts = sound();
  facts.ranks = facts.cores = 13;
  facts.shm_total = facts.shm_free = 64 * MiB;
  // MPICH: 13 times 4.5 MiB and 1 MiB are 59.5 MiB; 14 times: 64 MiB; 15 times: 68.5 MiB.
  CHECK(of(judge(facts), "/dev/shm").verdict == Verdict::note);
  CHECK(of(judge(facts), "/dev/shm").text.find("59.5 MiB") != std::string::npos);
  facts.ranks = facts.cores = 14;
  CHECK(of(judge(facts), "/dev/shm").verdict == Verdict::note);
  facts.ranks = facts.cores = 15;
  CHECK(of(judge(facts), "/dev/shm").verdict == Verdict::stops);
  facts.mpis[1].launcher.clear();  // Open MPI alone: 11.4 MiB
  CHECK(of(judge(facts), "/dev/shm").verdict == Verdict::note);
  facts.memory_shared = false;
  CHECK(of(judge(facts), "/dev/shm").advice.find("--ring-dir") != std::string::npos);
}
