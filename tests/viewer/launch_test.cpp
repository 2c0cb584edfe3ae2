#include <algorithm>
#include <catch2/catch.hpp>

#include "viewer/launch/launch_line.hpp"
#include "viewer/launch/machine.hpp"
#include "viewer/launch/shell_words.hpp"
#include "viewer/launch/slurm.hpp"

using namespace pclscope::launch;
using Words = std::vector<std::string>;

namespace {

RunOptions options_for(int ranks) {
  RunOptions options;
  options.ranks = ranks;
  options.command = {"./app", "-n", "two words"};
  return options;
}

RunFacts facts_for(Mpi mpi, int slots) {
  RunFacts facts;
  facts.mpi = mpi;
  facts.launcher = facts.launcher_word = "/usr/bin/mpirun";
  facts.rank_program = "/p/bin/pclscope-rank";
  facts.aggregator_program = "/p/bin/aggregator";
  facts.library = "/p/lib/library.so";
  facts.slots = slots;
  facts.job = "app-1";
  facts.token = "0123456789abcdef0123456789abcdef";
  facts.endpoint = "ipc:///run/app-1";
  return facts;
}

bool contains(const Words& words, const Words& part) {
  return std::search(words.begin(), words.end(), part.begin(), part.end()) != words.end();
}

long count(const Words& words, const std::string& word) { return std::count(words.begin(), words.end(), word); }

Words launch_words(const RunOptions& options, const RunFacts& facts) {
  return build_launch_line(options, facts).arguments;
}

const Words exported = {"-x", "PCLSCOPE_JOB",        "-x", "PCLSCOPE_RANKS",
                        "-x", "PCLSCOPE_TOOL_RANKS", "-x", "PCLSCOPE_PRELOAD"};

}  // namespace

TEST_CASE("MPICH: the whole line") {
  RunOptions options = options_for(3);
  options.dump = "/data/run.h5";
  options.window_ns = 250'000'000;
  options.launcher_args = {"-f", "hosts"};
  CHECK(launch_words(options, facts_for(Mpi::mpich, 2)) == Words{"/usr/bin/mpirun",
                                                                 "-f",
                                                                 "hosts",
                                                                 "-n",
                                                                 "3",
                                                                 "/p/bin/pclscope-rank",
                                                                 "./app",
                                                                 "-n",
                                                                 "two words",
                                                                 ":",
                                                                 "-n",
                                                                 "1",
                                                                 "/p/bin/pclscope-rank",
                                                                 "--aggregator",
                                                                 "/p/bin/aggregator",
                                                                 "--job",
                                                                 "app-1",
                                                                 "--command",
                                                                 "./app -n 'two words'",
                                                                 "--dump",
                                                                 "/data/run.h5",
                                                                 "--window-ms",
                                                                 "250",
                                                                 "--publish",
                                                                 "ipc:///run/app-1"});
}

TEST_CASE("the aggregator is told of an MPI that is not the system's; nobody else is") {
  RunFacts facts = facts_for(Mpi::mpich, 2);
  CHECK_FALSE(contains(launch_words(options_for(2), facts), {"--mpi"}));
  facts.mpi_library = "/opt/intel mpi/lib/libmpi.so.12";
  const Words words = launch_words(options_for(2), facts);
  CHECK(contains(words, {"/p/bin/pclscope-rank", "--aggregator", "--mpi", facts.mpi_library, "/p/bin/aggregator"}));
  CHECK(count(words, "--mpi") == 1);
}

TEST_CASE("Open MPI: the whole line, two ranks on two cores") {
  Words expected = {"/usr/bin/mpirun",
                    "--oversubscribe",
                    "--map-by",
                    "core",
                    "--rank-by",
                    "slot",
                    "--bind-to",
                    "core:overload-allowed",
                    "--mca",
                    "mpi_yield_when_idle",
                    "0"};
  expected.insert(expected.end(), exported.begin(), exported.end());
  for (const char* word : {"-n", "2", "/p/bin/pclscope-rank", "./app", "-n", "two words", ":", "-n", "1"})
    expected.push_back(word);
  expected.insert(expected.end(), exported.begin(), exported.end());
  for (const char* word : {"/p/bin/pclscope-rank", "--aggregator", "/p/bin/aggregator", "--job", "app-1", "--command",
                           "./app -n 'two words'", "--window-ms", "100", "--publish", "ipc:///run/app-1"}) {
    expected.push_back(word);
  }
  CHECK(launch_words(options_for(2), facts_for(Mpi::openmpi, 2)) == expected);
}

TEST_CASE("several aggregators on a node: a block for each, which says what part of the ranks it reads") {
  for (const Mpi mpi : {Mpi::openmpi, Mpi::mpich}) {
    RunOptions options = options_for(8);
    options.aggregators = 3;
    const LaunchLine line = build_launch_line(options, facts_for(mpi, 8));
    CHECK(count(line.arguments, ":") == 3);
    CHECK(count(line.arguments, "--aggregator") == 3);
    CHECK(contains(line.arguments, {"--part", "1", ":"}));
    CHECK(Words(line.arguments.end() - 2, line.arguments.end()) == Words{"--part", "2"});
    CHECK(std::count(line.environment.begin(), line.environment.end(),
                     std::pair<std::string, std::string>("PCLSCOPE_TOOL_RANKS", "3")) == 1);
    CHECK(std::count(line.environment.begin(), line.environment.end(),
                     std::pair<std::string, std::string>("PCLSCOPE_AGGREGATORS", "3")) == 1);
  }
}

TEST_CASE("several aggregators on each of several nodes: those of a node follow each other") {
  RunOptions options = options_for(6);
  options.aggregators = 2;
  RunFacts facts = facts_for(Mpi::mpich, 6);
  facts.placement.hosts = {{"a", 4}, {"b", 2}};
  facts.placement.nodes = {"a", "b"};
  facts.placement.by_option = true;
  CHECK(contains(launch_words(options, facts), {"-hosts", "a:4,b:2,a:2,b:2"}));
  facts.mpi = Mpi::openmpi;
  Words hosts;
  const Words words = launch_words(options, facts);
  for (std::size_t i = 1; i < words.size(); ++i)
    if (words[i - 1] == "--host") hosts.push_back(words[i]);
  CHECK(hosts == Words{"a:4,b:2", "a:4", "a:4", "b:2", "b:2"});
  facts.launcher = facts.launcher_word = "srun";
  const std::string script = srun_script(options, facts);
  CHECK(script.find("a\na\nb\nb\nEND") != std::string::npos);
  CHECK(script.find("--ntasks=10 --nodes=2") != std::string::npos);
  CHECK(script.find("--part $(((SLURM_PROCID - 6) % 2))") != std::string::npos);
}

TEST_CASE("as many aggregators as the fullest node has 32 ranks, when asked for") {
  const auto settled = [](int ranks, Placement placement) {
    RunOptions options = options_for(ranks);
    options.aggregators = aggregators_by_ranks;
    settle_aggregators(options, placement);
    return options.aggregators;
  };
  CHECK(settled(1, {}) == 1);
  CHECK(settled(32, {}) == 1);
  CHECK(settled(33, {}) == 2);
  CHECK(settled(192, {}) == 6);
  Placement two;
  two.hosts = {{"a", 96}, {"b", 32}};
  two.nodes = {"a", "b"};
  CHECK(settled(128, two) == 3);
  two.filled = false;
  CHECK(settled(128, two) == 2);
}

TEST_CASE("Open MPI binds and yields as a bare mpirun would") {
  const auto words = [](int ranks, int slots) {
    return launch_words(options_for(ranks), facts_for(Mpi::openmpi, slots));
  };
  const Words busy = {"--mca", "mpi_yield_when_idle", "0"};
  const Words yielding = {"--mca", "mpi_yield_when_idle", "1"};
  CHECK(contains(words(1, 8), {"--bind-to", "core:overload-allowed"}));
  CHECK(contains(words(8, 8), {"--bind-to", "socket:overload-allowed"}));
  CHECK(contains(words(8, 8), busy));  // nine processes, but the application alone is not oversubscribed
  CHECK(contains(words(9, 8), {"--bind-to", "none"}));
  CHECK(contains(words(9, 8), yielding));
  CHECK(contains(words(2, 1), {"--bind-to", "none"}));
  CHECK(contains(words(2, 1), yielding));
}

TEST_CASE("Open MPI with unknown slots does not bind beyond two ranks") {
  RunOptions options = options_for(64);
  options.launcher_args = {"--hostfile", "hosts"};
  const Words words = launch_words(options, facts_for(Mpi::openmpi, 0));
  CHECK(count(words, "--bind-to") == 0);
  CHECK(contains(words, {"--mca", "mpi_yield_when_idle", "0"}));  // bare, 64 slots must be there
  options.launcher_args.push_back("--oversubscribe");
  const Words over = launch_words(options, facts_for(Mpi::openmpi, 0));
  CHECK(count(over, "mpi_yield_when_idle") == 0);
  CHECK(count(over, "--oversubscribe") == 1);
}

TEST_CASE("Open MPI: the user's own placement wins") {
  for (const Words& args :
       {Words{"--bind-to", "core"}, Words{"-map-by", "node"}, Words{"--rank-by", "core"}, Words{"-N", "2"},
        Words{"--npernode", "1"}, Words{"--mca", "rmaps_base_mapping_policy", "node"},
        Words{"--mca", "hwloc_base_binding_policy", "none"}, Words{"--rankfile", "file"}}) {
    RunOptions options = options_for(2);
    options.launcher_args = args;
    const Words words = launch_words(options, facts_for(Mpi::openmpi, 2));
    INFO(join_words(words));
    CHECK(count(words, "--bind-to") == (args[0] == "--bind-to" ? 1 : 0));
    CHECK(count(words, "--map-by") == 0);
  }
  RunFacts facts = facts_for(Mpi::openmpi, 2);
  facts.environment = {"OMPI_MCA_hwloc_base_binding_policy", "OMPI_MCA_mpi_yield_when_idle"};
  const Words words = launch_words(options_for(2), facts);
  CHECK(count(words, "--bind-to") == 0);
  CHECK(count(words, "mpi_yield_when_idle") == 0);
}

TEST_CASE("Open MPI: a binding by the user may overload because of our rank") {
  RunOptions options = options_for(2);
  options.launcher_args = {"--bind-to", "core", "--report-bindings"};
  CHECK(contains(launch_words(options, facts_for(Mpi::openmpi, 2)),
                 {"--bind-to", "core:overload-allowed", "--report-bindings"}));
  options.launcher_args = {"--bind-to", "core:if-supported"};
  CHECK(
      contains(launch_words(options, facts_for(Mpi::openmpi, 2)), {"--bind-to", "core:if-supported,overload-allowed"}));
  options.launcher_args = {"--bind-to", "none"};
  CHECK(contains(launch_words(options, facts_for(Mpi::openmpi, 2)), {"--bind-to", "none"}));
}

TEST_CASE("root is allowed once") {
  RunFacts facts = facts_for(Mpi::openmpi, 2);
  CHECK(count(launch_words(options_for(2), facts), "--allow-run-as-root") == 0);
  facts.root = true;
  CHECK(count(launch_words(options_for(2), facts), "--allow-run-as-root") == 1);
  RunOptions options = options_for(2);
  options.launcher_args = {"--allow-run-as-root"};
  CHECK(count(launch_words(options, facts), "--allow-run-as-root") == 1);
  facts.mpi = Mpi::mpich;
  CHECK(count(launch_words(options_for(2), facts), "--allow-run-as-root") == 0);
}

TEST_CASE("the environment names the job and only what was asked for") {
  using Variables = std::vector<std::pair<std::string, std::string>>;
  RunOptions options = options_for(5);
  const Variables basic = {{"PCLSCOPE_JOB", "0123456789abcdef0123456789abcdef"},
                           {"PCLSCOPE_RANKS", "5"},
                           {"PCLSCOPE_TOOL_RANKS", "1"},
                           {"PCLSCOPE_PRELOAD", "/p/lib/library.so"}};
  CHECK(build_launch_line(options, facts_for(Mpi::mpich, 2)).environment == basic);
  options.ring_events = 4096;
  options.ring_limit = 8192;
  options.stacks = 3;
  options.overflow = "drop";
  options.overflow_wait_ms = 7;
  options.clock = "monotonic";
  Variables all = basic;
  all.insert(all.end(), {{"PCLSCOPE_RING_EVENTS", "4096"},
                         {"PCLSCOPE_STACKS", "3"},
                         {"PCLSCOPE_RING_LIMIT", "8192"},
                         {"PCLSCOPE_OVERFLOW", "drop"},
                         {"PCLSCOPE_OVERFLOW_WAIT_MS", "7"},
                         {"PCLSCOPE_CLOCK", "monotonic"}});
  const LaunchLine line = build_launch_line(options, facts_for(Mpi::openmpi, 2));
  CHECK(line.environment == all);
  for (const auto& variable : all) CHECK(count(line.arguments, variable.first) == 2);  // one -x per block
  CHECK(count(line.arguments, "0123456789abcdef0123456789abcdef") == 0);               // never in a command line
}

TEST_CASE("control characters of a command are not passed on for show") {
  RunOptions options = options_for(1);
  options.command = {"./a\x1b[2J"};
  const Words words = launch_words(options, facts_for(Mpi::mpich, 2));
  CHECK(count(words, "./a\x1b[2J") == 1);  // the application gets its own words
  CHECK(count(words, "'./a?[2J'") == 1);
}

TEST_CASE("the number of ranks does not belong to the launcher's arguments") {
  CHECK(misplaced_rank_count({"--mca", "x", "y", "-np", "4"}) == "-np");
  CHECK(misplaced_rank_count({"-n", "4"}) == "-n");
  CHECK_FALSE(misplaced_rank_count({"--map-by", "node", "-N", "2"}));
}

TEST_CASE("slots are known only where nothing else decides") {
  CHECK(openmpi_slots({}, {"PATH"}, 8) == 8);
  CHECK(openmpi_slots({"--mca", "a", "b"}, {}, 8) == 8);
  CHECK(openmpi_slots({"--host", "a:4"}, {}, 8) == 0);
  CHECK(openmpi_slots({"-hostfile", "f"}, {}, 8) == 0);
  CHECK(openmpi_slots({}, {"SLURM_JOB_ID"}, 8) == 0);
  CHECK(usable_cores() >= 1);
}

TEST_CASE("words are split as a shell splits them") {
  CHECK(split_words("") == Words{});
  CHECK(split_words("  --mca btl  self,tcp ") == Words{"--mca", "btl", "self,tcp"});
  CHECK(split_words("-x 'A B' \"c \\\" d\" e\\ f ''") == Words{"-x", "A B", "c \" d", "e f", ""});
  CHECK_FALSE(split_words("'open"));
  CHECK_FALSE(split_words("back\\"));
}

TEST_CASE("quoted words are read back as they were") {
  for (const Words& words : {Words{"a", "b c", ""}, Words{"it's", "$HOME", "a\\b"}, Words{"\"", "''", "~;&|<>*?"}}) {
    CHECK(split_words(join_words(words)) == words);
  }
  CHECK(quote_word("plain-1.2/x=y") == "plain-1.2/x=y");
  CHECK(quote_word("it's") == "'it'\\''s'");
}

TEST_CASE("several programs of one job: a block each, in front of the tool's ranks") {
  for (const Mpi mpi : {Mpi::openmpi, Mpi::mpich}) {
    RunOptions options = options_for(2);
    options.command = {"./atm", "a", ":", "-n", "3", "./ocean", "o", ":", "-np", "1", "./ice"};
    REQUIRE(split_programs(options) == std::nullopt);
    CHECK(options.ranks == 6);
    CHECK(options.ranks_of_command() == 2);
    CHECK(options.command == Words{"./atm", "a"});
    const LaunchLine line = build_launch_line(options, facts_for(mpi, 8));
    std::vector<Words> blocks(1);
    for (const std::string& word : line.arguments)
      if (word == ":") blocks.emplace_back();
      else blocks.back().push_back(word);
    REQUIRE(blocks.size() == 4);  // the last one is the aggregator
    const char* const ends[] = {"-n 2 /p/rank ./atm a", "-n 3", "-n 1"};
    const char* const programs[] = {"./atm a", "./ocean o", "./ice"};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string text = join_words(blocks[i]);
      CHECK(text.ends_with(programs[i]));
      CHECK(text.find(std::string(ends[i]).substr(0, 4)) != std::string::npos);
      CHECK(count(blocks[i], facts_for(mpi, 8).rank_program) == 1);
      if (mpi == Mpi::openmpi) CHECK(count(blocks[i], "-x") >= 4);  // each block hands on the job's variables
    }
    for (const auto& [name, value] : line.environment)
      if (name == "PCLSCOPE_RANKS") CHECK(value == "6");
    CHECK(join_words(build_bare_line(options, facts_for(mpi, 8)).arguments)
              .ends_with("-n 2 ./atm a : -n 3 ./ocean o : -n 1 ./ice"));
  }
  for (const Words& wrong :
       {Words{"./a", ":"}, Words{"./a", ":", "./b"}, Words{"./a", ":", "-n", "0", "./b"},
        Words{"./a", ":", "-n", "x", "./b"}, Words{"./a", ":", "-n", "2"}, Words{"./a", ":", "-n", "1048576", "./b"}}) {
    RunOptions options = options_for(2);
    options.command = wrong;
    CHECK(split_programs(options).has_value());
  }
}
