#include "viewer/launch/slurm.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/patience.hpp"
#include "viewer/launch/capture.hpp"
#include "viewer/launch/hosts_file.hpp"
#include "viewer/launch/shell_words.hpp"

using namespace pclscope::launch;
using Words = std::vector<std::string>;

namespace {

// As 22.05 prints it, and as 20.11 did on standard error, and 17.11.
const char* const newer =
    "MPI plugin types are...\n\tpmix\n\tnone\n\tcray_shasta\n\tpmi2\nspecific pmix plugin versions available: "
    "pmix_v3,pmix_v4\n";
const char* const older = "srun: MPI types are...\nsrun: cray_shasta\nsrun: none\nsrun: pmix_v3\nsrun: pmi2\n";
const char* const without_pmix = "srun: MPI types are...\nsrun: pmi2\nsrun: none\nsrun: openmpi\n";

struct Step {
  RunOptions options;
  RunFacts facts;
};
Step step(int ranks) {
  Step made;
  made.options.ranks = ranks;
  made.options.command = {"./app", "two words"};
  made.facts.launcher = made.facts.launcher_word = "srun";
  made.facts.rank_program = "/p/rank";
  made.facts.aggregator_program = "/p/aggregator";
  made.facts.library = "/p/lib.so";
  made.facts.token = "0123456789abcdef0123456789abcdef";
  return made;
}

}  // namespace

TEST_CASE("srun --mpi=list is read as each version prints it") {
  CHECK(mpi_types(newer) == Words{"pmix", "cray_shasta", "pmi2", "pmix_v3", "pmix_v4"});
  CHECK(mpi_types(older) == Words{"cray_shasta", "pmix_v3", "pmi2"});
  CHECK(mpi_types("").empty());
  CHECK(mpi_types("srun: error: Couldn't load plug-ins\n").empty());
}

TEST_CASE("Open MPI takes any PMIx, others pmi2") {
  CHECK(choose_mpi_type(mpi_types(newer), true) == "pmix");
  CHECK(choose_mpi_type(mpi_types(newer), false) == "pmi2");
  CHECK(choose_mpi_type(mpi_types(older), true) == "pmix_v3");
  CHECK(choose_mpi_type({"pmix_v3", "pmix_v10", "pmix_v4"}, true) == "pmix_v10");
  CHECK(choose_mpi_type(mpi_types(without_pmix), true) == std::nullopt);
  CHECK(choose_mpi_type({"pmix"}, false) == std::nullopt);
  CHECK(fits("pmix_v4", true));
  CHECK_FALSE(fits("pmix_v4", false));
  CHECK_FALSE(fits("pmi2", true));
  CHECK(fits("cray_shasta", false));
  for (const bool pmix : {true, false}) CHECK_FALSE((fits("", pmix) || fits("none", pmix)));
}

TEST_CASE("the site's default plug-in is read from Slurm's configuration") {
  CHECK(default_mpi_type("MaxTasksPerNode = 512\nMpiDefault              = pmix_v4\nMpiParams = (null)\n") ==
        "pmix_v4");
  CHECK(default_mpi_type("MpiDefault=none") == "none");
  CHECK(default_mpi_type("NoMpiDefault = pmix\n").empty());
  CHECK(default_mpi_type("").empty());
}

TEST_CASE("the step has our ranks, the plug-in, and what sbatch said of the application's tasks is not for it") {
  Step made = step(4);
  made.facts.mpi_type = "pmix";
  made.facts.slurm_spreading = {{"SLURM_NTASKS_PER_NODE", "4"}};
  const LaunchLine line = build_srun_line(made.options, made.facts, "");
  CHECK(Words(line.arguments.begin(), line.arguments.begin() + 6) ==
        Words{"srun", "--ntasks=5", "--nodes=1", "--overcommit", "--kill-on-bad-exit=1", "--mpi=pmix"});
  CHECK(line.without == Words{"SLURM_NTASKS_PER_NODE"});
  CHECK_THAT(line.arguments.back(), Catch::Contains("SLURM_NTASKS=4 ") && Catch::Contains("SLURM_NTASKS_PER_NODE=4; "));
  for (const std::string& word : line.arguments) CHECK(word.find(made.facts.token) == std::string::npos);
  made.facts.placement.hosts = {{"a", 2}, {"b", 2}};
  made.facts.placement.nodes = {"a", "b"};
  const LaunchLine two = build_srun_line(made.options, made.facts, "/tmp/hosts");
  CHECK(two.environment.back() == std::pair<std::string, std::string>("SLURM_HOSTFILE", "/tmp/hosts"));
  CHECK(srun_hosts(made.options, made.facts) == "a\na\nb\nb\na\nb\n");
}

TEST_CASE("where sbatch keeps variables from srun, ours are named") {
  const auto exported = [](const std::string& site, Words arguments) -> std::string {
    Step made = step(1);
    made.facts.slurm_export = site;
    made.options.launcher_args = std::move(arguments);
    std::string last;
    for (const std::string& word : build_srun_line(made.options, made.facts, "").arguments)
      if (word.rfind("--export=", 0) == 0) last = word;
    return last;
  };
  const std::string ours = "PCLSCOPE_JOB,PCLSCOPE_RANKS,PCLSCOPE_TOOL_RANKS,PCLSCOPE_PRELOAD";
  CHECK(exported("", {}).empty());
  CHECK(exported("ALL", {}).empty());
  CHECK(exported("NONE", {}) == "--export=" + ours);
  CHECK(exported("PATH,A=1", {}) == "--export=PATH,A=1," + ours);
  CHECK(exported("NONE", {"--export=ALL,B=2"}) == "--export=ALL,B=2");
  CHECK(exported("", {"--export", "HOME"}) == "--export=HOME," + ours);
}

TEST_CASE("the printed lines end with the step's status, and without the file of hosts") {
  Step made = step(2);
  made.facts.placement.hosts = {{"a", 1}, {"b", 1}};
  made.facts.placement.nodes = {"a", "b"};
  made.facts.slurm_spreading = {{"SLURM_DISTRIBUTION", "cyclic"}};
  for (const int status : {0, 3, 137}) {
    // A function of the shell stands for srun.
    const std::string script = "srun() { cat \"$SLURM_HOSTFILE\"; echo \"$1 $SLURM_DISTRIBUTION\"; return " +
                               std::to_string(status) + "; }; env() { shift 2; SLURM_DISTRIBUTION=; \"$@\"; }\n" +
                               srun_script(made.options, made.facts) +
                               "echo \"$? $(ls \"$pclscope_hosts\" 2>&1 | wc -c)\"";
    const auto told = capture({"/bin/bash", "-c", script}, test::patience);
    REQUIRE(told);
    CHECK_THAT(*told, Catch::StartsWith("a\nb\na\nb\n--ntasks=4 \n" + std::to_string(status) + " "));
  }
}

TEST_CASE("a file of hosts is there as long as it is needed") {
  std::string path;
  {
    const auto file = HostsFile::write("a\nb\n");
    REQUIRE(file);
    path = file->path();
    CHECK(capture({"/bin/cat", path}, test::patience) == "a\nb\n");
  }
  CHECK_FALSE(capture({"/bin/cat", path}, test::patience));
  const auto none = HostsFile::write("");
  REQUIRE(none);
  CHECK(none->path().empty());
}
