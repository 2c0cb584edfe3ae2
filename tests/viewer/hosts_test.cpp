#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "viewer/launch/host_source.hpp"
#include "viewer/launch/launch_line.hpp"
#include "viewer/launch/rankfile.hpp"
#include "viewer/launch/shell_words.hpp"
#include "viewer/launch/slurm.hpp"

using namespace pclscope::launch;
using Words = std::vector<std::string>;

namespace {

const Hosts two{{"node1", 2}, {"node2", 2}};

// Files and variables of a test's own; Slurm's names as scontrol prints them.
struct World {
  std::map<std::string, std::string> files, variables;
  std::optional<std::string> names;
  HostReaders readers() const {
    const auto of = [](const std::map<std::string, std::string>& all, const std::string& key) {
      const auto found = all.find(key);
      return found == all.end() ? std::nullopt : std::optional(found->second);
    };
    return {[this, of](const std::string& path) { return of(files, path); },
            [this](const std::string&) { return names; },
            [this, of](const std::string& name) { return of(variables, name); }};
  }
};

std::string error_of(HostQuestion question, const World& world = {}) {
  const auto placement = find_placement(question, world.readers());
  return placement ? "" : placement.error().message;
}

Placement placed(HostQuestion& question, const World& world = {}) {
  const auto placement = find_placement(question, world.readers());
  INFO((placement ? "" : placement.error().message));
  REQUIRE(placement);
  return *placement;
}

struct Line {
  RunOptions options;
  RunFacts facts;
};
Line line_for(Mpi mpi, int ranks, const std::string& hosts) {
  Line line;
  line.options.ranks = ranks;
  line.options.command = {"./app", "it's"};
  line.facts.mpi = mpi;
  line.facts.launcher = line.facts.launcher_word = "/usr/bin/mpirun";
  line.facts.rank_program = "/p/rank";
  line.facts.aggregator_program = "/p/aggregator";
  line.facts.library = "/p/lib.so";
  line.facts.job = "app-1";
  line.facts.token = "0123456789abcdef0123456789abcdef";
  line.facts.endpoint = "auto";
  HostQuestion question{mpi, ranks, hosts, {}};
  line.facts.placement = placed(question);
  line.facts.slots = total_slots(line.facts.placement.hosts);
  return line;
}

bool contains(const Words& words, const Words& part) {
  return std::search(words.begin(), words.end(), part.begin(), part.end()) != words.end();
}
long count(const Words& words, const std::string& word) { return std::count(words.begin(), words.end(), word); }

}  // namespace

TEST_CASE("lists of nodes on the command line") {
  CHECK(*parse_hosts("node1:2,node2:2") == two);
  CHECK(*parse_hosts("a.b-c_d") == Hosts{{"a.b-c_d", 1}});
  CHECK(*parse_hosts("10.0.0.1:3,10.0.0.2") == Hosts{{"10.0.0.1", 3}, {"10.0.0.2", 1}});
  for (const char* bad :
       {"", ",", "node1,", "node1:", "node1:0", "node1:-2", "node1:two", "node1:2:3", "no de", "-x", "$(id)",
        "node[1-3]", "node1:99999999999", "node1;rm", "node1,node1", "node1:2,node2,node1:2", "n.x,n"}) {
    INFO(bad);
    CHECK_FALSE(parse_hosts(bad));
  }
}

TEST_CASE("the launchers' own lists add repeated nodes up as they do") {
  CHECK(*parse_openmpi_hosts("a,b,a") == Hosts{{"a", 2}, {"b", 1}});
  CHECK(*parse_openmpi_hosts("a:3,a:*") == Hosts{{"a", 0}});
  CHECK(*parse_mpich_hosts("a,b:2,a") == Hosts{{"a", 1}, {"b", 2}, {"a", 1}});
  CHECK_FALSE(parse_mpich_hosts("a:*"));
}

TEST_CASE("host files") {
  CHECK(*parse_openmpi_hostfile("# all\nnode1 slots=2 max_slots=4\n\n root@node2   slots=2 # last\n", "f") == two);
  CHECK(*parse_openmpi_hostfile("a\na\nb", "f") == Hosts{{"a", 2}, {"b", 0}});
  CHECK(*parse_mpich_hostfile("node1:2 binding=core\n#x\nnode2:2", "f") == two);
  for (const char* bad : {"", "# only\n", "node1 slots=many", "node1 slots", "node1 speed=3", "no/de"}) {
    INFO(bad);
    CHECK_FALSE(parse_openmpi_hostfile(bad, "f"));
  }
  CHECK_FALSE(parse_mpich_hostfile("node1 slots", "f"));
  CHECK_THAT(parse_openmpi_hostfile("n slots=x", "my.hosts").error().message,
             Catch::Contains("my.hosts") && Catch::Contains("slots=x"));
}

TEST_CASE("Slurm's names and tasks") {
  CHECK(*slurm_hosts("n1\nn2\nn3\n", "2(x2),1") == Hosts{{"n1", 2}, {"n2", 2}, {"n3", 1}});
  CHECK(*slurm_hosts("n1\nn2\n", "") == Hosts{{"n1", 0}, {"n2", 0}});
  CHECK_FALSE(slurm_hosts("", "2"));
  CHECK_FALSE(slurm_hosts("n1\n", "2(x"));
  CHECK_FALSE(slurm_hosts("n1\n", "two"));
}

TEST_CASE("ranks fill the hosts in order and begin again") {
  CHECK(fill_in_order(two, 3) == Hosts{{"node1", 2}, {"node2", 1}});
  CHECK(fill_in_order(two, 2) == Hosts{{"node1", 2}});
  CHECK(fill_in_order({{"a", 1}, {"b", 1}}, 5) == Hosts{{"a", 1}, {"b", 1}, {"a", 1}, {"b", 1}, {"a", 1}});
  CHECK(fill_in_order({{"a", 2}}, 5) == Hosts{{"a", 5}});
  for (int ranks = 1; ranks < 40; ++ranks) {  // none is lost
    int sum = 0;
    for (const Host& block : fill_in_order({{"a", 3}, {"b", 1}, {"c", 2}}, ranks)) sum += block.slots;
    CHECK(sum == ranks);
  }
}

TEST_CASE("only nodes that get ranks get an aggregator") {
  HostQuestion question{Mpi::openmpi, 4, "node1:2,node2:2,node3:2", {}};
  CHECK(placed(question).nodes == Words{"node1", "node2"});
  question.launcher_args = {"--map-by", "node"};
  CHECK(placed(question).nodes == Words{"node1", "node2", "node3"});
  question.launcher_args = {"--map-by", "ppr:2:node:PE=1"};
  CHECK(placed(question).nodes == Words{"node1", "node2"});
  question.launcher_args = {"-N", "1"};
  CHECK(placed(question).nodes == Words{"node1", "node2", "node3"});
}

TEST_CASE("too few slots, twice given, not to be foreseen: one line each") {
  CHECK_THAT(error_of({Mpi::openmpi, 5, "node1:2,node2:2", {}}),
             Catch::Contains("4 ranks") && Catch::Contains("-n asks for 5"));
  CHECK_THAT(error_of({Mpi::mpich, 5, "node1:2,node2:2", {}}), Catch::Contains("-n asks for 5"));
  CHECK_THAT(error_of({Mpi::openmpi, 2, "a,b", {"--host", "a,b"}}), Catch::Contains("give one of them"));
  CHECK_THAT(error_of({Mpi::openmpi, 2, "a,a", {}}), Catch::Contains("named twice"));
  CHECK_THAT(error_of({Mpi::openmpi, 2, "a,b", {"--rankfile", "f"}}), Catch::Contains("rank file"));
  CHECK_THAT(error_of({Mpi::openmpi, 2, "", {"--hostfile", "/none"}}),
             Catch::Contains("/none") && Catch::Contains("cannot be read"));
  CHECK_THAT(error_of({Mpi::openmpi, 4, "", {"--host", "a,b"}}), Catch::Contains("-n asks for 4"));
  World world;
  world.files["f"] = "a\nb\n";
  CHECK_THAT(error_of({Mpi::openmpi, 4, "", {"--hostfile", "f"}}, world), Catch::Contains("does not say how many"));
  for (const std::string& text :
       {error_of({Mpi::openmpi, 2, "a\nb", {}}), error_of({Mpi::openmpi, 2, "", {"--host"}})}) {
    CHECK(!text.empty());
  }
}

TEST_CASE("hosts that the launcher was given by its own options") {
  World world;
  world.files["f"] = "node1 slots=2\nnode2 slots=2\n";
  world.files["m"] = "node1:2\nnode2:2\n";
  HostQuestion open{Mpi::openmpi, 4, "", {"-v", "--hostfile", "f"}};
  CHECK(placed(open, world).hosts == two);
  CHECK_FALSE(placed(open, world).by_option);
  CHECK(open.launcher_args == Words{"-v", "--hostfile", "f"});  // Open MPI keeps them
  HostQuestion mpich{Mpi::mpich, 4, "", {"-f", "m", "-v"}};
  CHECK(placed(mpich, world).hosts == two);
  CHECK(mpich.launcher_args == Words{"-v"});  // MPICH's list is written anew
  HostQuestion each{Mpi::mpich, 4, "", {"-ppn", "2", "-hosts", "node1,node2"}};
  CHECK(placed(each).hosts == two);
  CHECK(each.launcher_args.empty());
  HostQuestion wraps{Mpi::mpich, 4, "", {"-hosts", "node1,node2"}};  // bare, ranks go 1 2 1 2
  CHECK(placed(wraps).nodes == Words{"node1", "node2"});
  HostQuestion none{Mpi::mpich, 4, "", {"-ppn", "2"}};
  CHECK(placed(none).nodes.empty());
  CHECK(none.launcher_args == Words{"-ppn", "2"});
}

TEST_CASE("inside a Slurm allocation") {
  World world;
  world.variables = {{"SLURM_JOB_NODELIST", "n[1-2]"}, {"SLURM_TASKS_PER_NODE", "2(x2)"}};
  world.names = "n1\nn2\n";
  HostQuestion question{Mpi::openmpi, 4, "", {}};
  CHECK(placed(question, world).nodes == Words{"n1", "n2"});
  world.names.reset();
  CHECK_THAT(error_of(question, world), Catch::Contains("scontrol"));
  world.variables["SLURM_JOB_NODELIST"] = "n1";
  CHECK(placed(question, world).nodes.empty());  // one node: as without Slurm
}

TEST_CASE("inside an allocation of PBS or LSF the launcher is told where ranks go") {
  World world;
  const std::string file = "n1\nn1\nn2.site.org\nn1\nn2.site.org\n";  // Torque may deal them out in turn
  world.files = {{"/spool/4711", file}, {"/lsf/hosts", file}};
  const Hosts expected{{"n1", 3}, {"n2.site.org", 2}};
  const std::map<std::string, std::string> pbs{{"PBS_JOBID", "4711.head"}, {"PBS_NODEFILE", "/spool/4711"}};
  const std::map<std::string, std::string> lsf{{"LSB_JOBID", "4711"}, {"LSB_DJOB_HOSTFILE", "/lsf/hosts"}};
  const std::map<std::string, std::string> older{{"LSB_JOBID", "4711"}, {"LSB_MCPU_HOSTS", "n1 3 n2.site.org 2"}};
  for (const auto& variables : {pbs, lsf, older}) {
    world.variables = variables;
    HostQuestion all{Mpi::openmpi, 5, "", {}};
    const Placement placement = placed(all, world);
    CHECK(placement.hosts == expected);
    CHECK(placement.nodes == Words{"n1", "n2.site.org"});
    CHECK(placement.by_option);
    HostQuestion few{Mpi::mpich, 3, "", {}};
    CHECK(placed(few, world).nodes == Words{"n1"});  // the second has no rank: no aggregator either
    CHECK_THAT(error_of({Mpi::openmpi, 6, "", {}}, world), Catch::Contains("-n asks for 6"));
    HostQuestion by_user{Mpi::openmpi, 2, "x,y", {}};
    CHECK(placed(by_user, world).nodes == Words{"x", "y"});
    // The names alone are no job of theirs.
    world.variables.erase(world.variables.begin()->first == "PBS_JOBID" ? "PBS_JOBID" : "LSB_JOBID");
    CHECK(placed(all, world).nodes.empty());
  }
  Line line = line_for(Mpi::openmpi, 5, "");
  world.variables = pbs;
  HostQuestion question{Mpi::openmpi, 5, "", {}};
  line.facts.placement = placed(question, world);
  CHECK(contains(build_launch_line(line.options, line.facts).arguments, {"--host", "n1:3,n2.site.org:2"}));
  world.files.clear();
  CHECK_THAT(error_of({Mpi::openmpi, 5, "", {}}, world), Catch::Contains("$PBS_NODEFILE"));
  world.variables = {{"LSB_JOBID", "1"}, {"LSB_MCPU_HOSTS", "n1 x"}};
  CHECK_THAT(error_of({Mpi::openmpi, 2, "", {}}, world), Catch::Contains("'n1 x'"));
  world.variables["LSB_MCPU_HOSTS"] = "n1 2 n2";
  CHECK_THAT(error_of({Mpi::openmpi, 2, "", {}}, world), Catch::Contains("'n2 '"));
  world.variables["LSB_MCPU_HOSTS"] = "n1 4";
  HostQuestion one{Mpi::openmpi, 4, "", {}};
  CHECK(placed(one, world).nodes.empty());
}

TEST_CASE("Open MPI on several nodes: a block per aggregator, slots said again") {
  Line line = line_for(Mpi::openmpi, 4, "node1:3,node2:1");
  line.options.launcher_args = {"--mca", "btl", "tcp"};
  const LaunchLine made = build_launch_line(line.options, line.facts);
  const Words& words = made.arguments;
  CHECK(contains(words, {"--mca", "btl", "tcp", "--host", "node1:3,node2:1", "-x", "PCLSCOPE_JOB"}));
  CHECK(contains(words, {":", "-n", "1", "--host", "node1:3", "-x"}));
  CHECK(contains(words, {":", "-n", "1", "--host", "node2:1", "-x"}));
  CHECK(count(words, "--aggregator") == 2);
  CHECK(std::find(words.begin(), words.end(), "./app") < std::find(words.begin(), words.end(), "--aggregator"));
  CHECK(contains(words, {"mpi_yield_when_idle", "0"}));
  CHECK(count(words, line.facts.token) == 0);
  CHECK(made.environment[2] == std::pair<std::string, std::string>("PCLSCOPE_TOOL_RANKS", "2"));
}

TEST_CASE("MPICH on several nodes: its list ends with one process more on each") {
  const Line line = line_for(Mpi::mpich, 3, "node1:2,node2:2");
  const Words words = build_launch_line(line.options, line.facts).arguments;
  CHECK(
      contains(words, {"/usr/bin/mpirun", "-hosts", "node1:2,node2:1,node1:1,node2:1", "-n", "3", "/p/rank", "./app"}));
  CHECK(contains(words, {":", "-n", "2", "/p/rank", "--aggregator"}));
  CHECK(count(words, line.facts.token) == 0);
}

TEST_CASE("attach: the program alone on one node, an MPI job of aggregators on several") {
  Line line = line_for(Mpi::openmpi, 3, "node1:2,node2:2");
  line.options.dump = "/d.h5";
  LaunchLine made = build_attach_line(line.options, line.facts);
  CHECK(contains(made.arguments, {"--host", "node1:1,node2:1", "-x", "PCLSCOPE_JOB"}));
  CHECK(contains(made.arguments, {"-n", "2", "/p/aggregator", "--attach", "--job", "app-1"}));
  CHECK(contains(made.arguments, {"--dump", "/d.h5"}));
  CHECK(count(made.arguments, line.facts.token) == 0);
  CHECK(made.environment == std::vector<std::pair<std::string, std::string>>{{"PCLSCOPE_JOB", line.facts.token},
                                                                             {"PCLSCOPE_RANKS", "3"},
                                                                             {"PCLSCOPE_TOOL_RANKS", "2"}});
  // Inside an allocation mpirun's own step would wait for the job's to end.
  line.facts.environment = {"SLURM_JOB_ID"};
  made = build_attach_line(line.options, line.facts);
  CHECK(made.environment.back() == std::pair<std::string, std::string>("SLURM_OVERLAP", "1"));
  CHECK(count(made.arguments, "SLURM_OVERLAP") == 0);
  line.facts.environment.insert("SLURM_OVERLAP");
  CHECK(build_attach_line(line.options, line.facts).environment.size() == 3);
  line.facts.environment.clear();
  line.facts.mpi = Mpi::mpich;
  CHECK(contains(build_attach_line(line.options, line.facts).arguments,
                 {"-hosts", "node1:1,node2:1", "-n", "2", "/p/aggregator"}));
  line.facts.placement = {};
  made = build_attach_line(line.options, line.facts);
  CHECK(made.arguments[0] == "/p/aggregator");
  CHECK(made.environment[2].second == "1");
}

TEST_CASE("srun: hosts in the order of ranks, then one line per aggregator, and the shell picks by rank") {
  Line line = line_for(Mpi::openmpi, 3, "n1:2,n2:2");
  line.facts.launcher = line.facts.launcher_word = "/usr/bin/srun";
  line.options.launcher_args = {"--mpi=pmix"};
  const std::string script = srun_script(line.options, line.facts);
  CHECK_THAT(script, Catch::Contains("<<'END'\nn1\nn1\nn2\nn1\nn2\nEND\n"));
  CHECK_THAT(script, Catch::Contains("--ntasks=5 --nodes=2") &&
                         Catch::Contains("--distribution=arbitrary --mpi=pmix /bin/sh -c "));
  CHECK_THAT(script,
             Catch::Contains("PCLSCOPE_TOOL_RANKS=2 ") && Catch::Contains("SLURM_HOSTFILE=\"$pclscope_hosts\""));
  // The shell's word, read back, is the choice with the application's own words intact.
  const std::string last =
      script.substr(script.find("sh -c ") + 6, script.find("\npclscope_status") - script.find("sh -c ") - 6);
  const auto words = split_words(last);
  REQUIRE(words);
  REQUIRE(words->size() == 1);
  CHECK_THAT(words->front(),
             Catch::StartsWith(
                 "if [ \"$SLURM_PROCID\" -lt 3 ]; then exec /p/rank ./app 'it'\\''s'; else exec /p/rank --aggregator"));
}

TEST_CASE("a rank file places each rank") {
  World world;
  world.files = {
      {"open", "# written by a tool\nrank 1=node2 slot=0-1\nrank 0=node1 slot=0\n\nrank 2=node1 slot=1 # third\n"},
      {"plain", "0 node1\n1 node2\n2 node1\n"}};
  const Hosts expected{{"node1", 1}, {"node2", 1}, {"node1", 1}};
  for (const std::string name : {"open", "plain"}) {
    HostQuestion question{Mpi::openmpi, 3, "", {}, name};
    const Placement placement = placed(question, world);
    CHECK(placement.hosts == expected);
    CHECK(placement.nodes == Words{"node1", "node2"});
    CHECK((placement.by_rank && placement.by_option));
    CHECK(placement.slots == (name == "open"));
  }
  RunOptions options;
  options.ranks = 3;
  options.command = {"./app"};
  RunFacts facts;
  facts.launcher = facts.launcher_word = "mpirun";
  facts.rank_program = "rank";
  HostQuestion question{Mpi::openmpi, 3, "", {}, "plain"};
  facts.placement = placed(question, world);
  const std::string open = join_words(build_launch_line(options, facts).arguments);
  CHECK(open.find("--map-by seq --bind-to none") != std::string::npos);
  CHECK(open.find("--host node1,node2,node1 ") != std::string::npos);
  CHECK(open.find(": -n 1 --host node1 ") != std::string::npos);
  CHECK(open.find(": -n 1 --host node2 ") != std::string::npos);
  facts.mpi = Mpi::mpich;
  CHECK(
      join_words(build_launch_line(options, facts).arguments).find("-hosts node1:1,node2:1,node1:1,node1:1,node2:1 ") !=
      std::string::npos);
}

TEST_CASE("of a rank file with slots it is said that they are left out, and how ranks are bound") {
  CHECK(note_on_slots(true, "f", {}).find("of rank file f the nodes are taken, not the slots") == 0);
  CHECK(note_on_slots(true, "f", {}).find("--format wrapper") != std::string::npos);
  CHECK(note_on_slots(true, "f", {}).find('\n') == std::string::npos);
  CHECK(note_on_slots(false, "f", {}).empty());
  CHECK(note_on_slots(true, "f", {"--bind-to", "core"}).empty());
  CHECK(note_on_slots(true, "f", {"-bind-to", "user:0,1"}).empty());
}

TEST_CASE("rank files that cannot be followed are refused with the line") {
  World world;
  world.files = {{"twice", "0 a\n1 a\n0 b\n"},  {"gap", "rank 0=a\nrank 2=b\n"},
                 {"odd", "rank 0=a\nrank=b\n"}, {"none", "# nothing\n"},
                 {"two", "0 a\n1 b\n"},         {"more", "0 a c\n"},
                 {"huge", "99999999999 a\n"},   {"name", "0 -x\n"}};
  const auto why = [&](const std::string& file, Words arguments = {}, const std::string& hosts = "") {
    return error_of({Mpi::openmpi, 3, hosts, std::move(arguments), file}, world);
  };
  CHECK(why("twice") == "rank file twice, line 3: rank 0 comes twice");
  CHECK(why("gap") == "rank file gap: rank 1 is missing");
  for (const std::string file : {"odd", "more", "huge", "name"})
    CHECK(why(file).find(": write 'rank 0=node1 slot=0' or '0 node1'") != std::string::npos);
  CHECK(why("none") == "rank file none: it places no rank");
  CHECK(why("two") == "rank file two places 2 ranks, but -n asks for 3");
  CHECK(why("absent") == "rank file absent cannot be read");
  CHECK(why("two", {}, "a:3") == "--rankfile and a list of nodes: give one of them");
  CHECK(why("two", {"--host", "a:3"}) == "--rankfile and a list of nodes: give one of them");
}
