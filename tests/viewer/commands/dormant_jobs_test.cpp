// Jobs that were only preloaded, on other nodes: which are still there, which nodes are asked, whose files are removed.
#include "viewer/commands/dormant_jobs.hpp"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include "analysis/wire/curve_keys.hpp"
#include "tests/analysis/discovery/private_directory.hpp"
#include "tests/seed.hpp"
#include "tests/viewer/fake_nodes.hpp"
#include "viewer/commands/meant_target.hpp"

using namespace pclscope;
using namespace pclscope::commands;
namespace fs = std::filesystem;

namespace {

constexpr reach::Patience long_patience{std::chrono::minutes(5), std::chrono::minutes(5)};

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Nodes that share a home with this one. What each answers is a file.
class Site {
 public:
  Site() {
    fs::create_directories(jobs());
    fs::permissions(directory_.path() + "/pclscope", fs::perms::owner_all);
    ::unsetenv("SLURM_CLUSTER_NAME");
  }
  std::string jobs() const { return directory_.path() + "/pclscope/jobs"; }
  std::string log() const { return directory_.path() + "/log"; }

  // Returns its file.
  std::string announce(const std::string& name, const std::string& node, const std::string& boot,
                       const std::string& cluster = "", const std::string& batch_job = "", int started = 1) const {
    const std::string path = jobs() + "/" + name + "@" + node + "." + boot.substr(0, 8) + ".dormant";
    std::ofstream(path) << R"({"name": ")" << name << R"(", "host": ")" << node << R"(", "boot_id": ")" << boot
                        << R"(", "ranks": 4, "nodes": 1, "command": "/x/app", "mpi": "Open MPI", "batch_job": ")"
                        << batch_job << R"(", "cluster": ")" << cluster << R"(", "started_realtime_ns": )" << started
                        << "}\n";
    return path;
  }
  // `jobs`: as of the list `dormant`.
  void answers(const std::string& node, const std::string& boot, const std::string& jobs,
               const std::string& noise = "true") const {
    std::ofstream(log() + "-" + node) << R"({"jobs": [], "dormant": [)" << jobs << R"(], "node": {"boot_id": ")" << boot
                                      << R"(", "cluster": ""}})"
                                      << "\n";
    nodes_.login(node, noise);
  }
  void login(const std::string& node, const std::string& script) const { nodes_.login(node, script); }
  // The nodes that were asked for a list since the last time.
  std::vector<std::string> asked() const {
    std::ifstream file(log());
    std::vector<std::string> nodes{std::istream_iterator<std::string>(file), {}};
    std::sort(nodes.begin(), nodes.end());
    fs::remove(log());
    return nodes;
  }

 private:
  pclscope::testing::PrivateDirectory directory_;
  pclscope::test::FakeNodes nodes_{directory_.path(), "if [ \"$1\" = list ]; then echo \"$NODE\" >>'" + log() +
                                                          "'; cat '" + log() +
                                                          "-'\"$NODE\"; else echo \"pclscope: on $NODE: $*\" >&2; fi"};
};

std::string job(const std::string& name, const std::string& state) {
  return R"({"name": ")" + name + R"(", "state": ")" + state + R"("})";
}

std::map<std::string, DormantState> states(const DormantElsewhere& all) {
  std::map<std::string, DormantState> by_name;
  for (const DormantThere& one : all.jobs) by_name[one.name + "@" + one.node + " " + one.cluster] = one.state;
  return by_name;
}

// On standard error.
template <class Action>
std::string said_by(Action action) {
  char path[] = "/tmp/pcl-said-XXXXXX";
  const int file = ::mkstemp(path), before = ::dup(STDERR_FILENO);
  ::dup2(file, STDERR_FILENO);
  action();
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  ::close(file);
  const std::string text = text_of(path);
  ::unlink(path);
  return text;
}

// What `attach` or `detach` says, and its status.
std::string said(const std::string& command, const std::string& word, int& status) {
  const std::vector<std::string> words(word.empty() ? 0 : 1, word);
  return said_by([&] { status = done_elsewhere(command, word, words, long_patience); });
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a job that lives is never taken for gone, whichever node of that name answers") {
  std::minstd_rand random(static_cast<unsigned>(pclscope::test::random_seed()));
  const auto any = [&](unsigned n) { return static_cast<int>(random() / 7 % n); };
  const std::string clusters[] = {"alpha", "beta"};
  int gone = 0, other = 0;
  for (int round = 0; round < 20000; ++round) {
    // Two clusters with a node1 each, which was started up to three times; some know what their cluster is called.
    int starts[] = {1 + any(3), 1 + any(3)};
    const auto boot = [&](int cluster, int start) { return clusters[cluster] + "-" + std::to_string(start); };
    discovery::Dormant announced;
    const int its = any(2), started_in = 1 + any(static_cast<unsigned>(starts[its]));
    announced.name = "app-1";
    announced.node = "node1";
    announced.boot = boot(its, started_in);
    if (any(2) == 0) announced.cluster = clusters[its];
    const bool lives = started_in == starts[its] && any(2) == 0, recorded = any(2) == 0;
    const int asked = any(2);
    DormantAnswer answer;
    if (any(4) != 0) answer.boot = boot(asked, starts[asked]);
    if (any(2) == 0) answer.cluster = clusters[asked];
    const DormantState state = recorded ? DormantState::attached : DormantState::dormant;
    if (any(2) == 0) answer.jobs.push_back({"app-2", DormantState::dormant});
    if (lives && asked == its) answer.jobs.push_back({"app-1", state});
    const Verdict verdict = judge(announced, answer);
    CAPTURE(lives, asked == its, answer.boot, announced.boot);
    if (lives) REQUIRE(verdict != Verdict::gone);
    if (lives && asked == its) REQUIRE(verdict == (recorded ? Verdict::attached : Verdict::dormant));
    if (asked != its && !answer.boot.empty()) REQUIRE(verdict == Verdict::other_node);
    if (!lives && asked == its && announced.boot == answer.boot) REQUIRE(verdict == Verdict::gone);
    gone += verdict == Verdict::gone;
    other += verdict == Verdict::other_node;
  }
  CHECK(gone > 0);
  CHECK(other > 0);
}

TEST_CASE("two clusters on one home: the files of the other one's living jobs stay") {
  const Site site;
  const std::string mine = site.announce("app-1", "node1", "aaaaaaaa-1", "alpha");
  const std::string dead = site.announce("app-2", "node1", "aaaaaaaa-1", "alpha");
  const std::string theirs = site.announce("app-3", "node1", "bbbbbbbb-1", "beta");
  const std::string twin = site.announce("app-1", "node1", "bbbbbbbb-1", "beta");
  site.answers("node1", "aaaaaaaa-1", job("app-1", "dormant"), "printf 'Welcome {to} node1'");
  const DormantElsewhere all = dormant_elsewhere({}, {}, long_patience);
  CHECK(site.asked() == std::vector<std::string>{"node1"});  // once for all four
  CHECK(states(all) == std::map<std::string, DormantState>{{"app-1@node1 alpha", DormantState::dormant},
                                                           {"app-1@node1 beta", DormantState::unknown},
                                                           {"app-3@node1 beta", DormantState::unknown}});
  CHECK(has(all.problem, "of cluster beta"));
  for (const std::string& file : {mine, theirs, twin}) CHECK(fs::exists(file));
  CHECK_FALSE(fs::exists(dead));
  int status = 0;
  CHECK(has(said("attach", "app-3", status), "job app-3 is on node1: the node1 that answers is not the one"));
  CHECK(status == 1);
  CHECK(has(said("attach", "app-1", status), "pclscope: on node1: attach app-1 --here"));  // the one that can be
  CHECK(status == 0);
}

TEST_CASE("only the nodes that a word can mean are asked, and what stands for nobody is said") {
  const Site site;
  site.announce("app-1", "node1", "aaaaaaaa-1", "", "4711");
  site.announce("app-2", "node2", "bbbbbbbb-1", "", "4712");
  site.announce("app-2", "node3", "cccccccc-1");
  site.answers("node1", "aaaaaaaa-1", job("app-1", "dormant"), "echo hello; echo hello >&2");
  site.answers("node2", "bbbbbbbb-1", job("app-2", "attached"));
  site.answers("node3", "cccccccc-1", job("app-2", "dormant"));
  int status = 0;
  for (const char* word : {"app-1", "app-1@node1", "4711"}) {
    CHECK(said("attach", word, status) == "pclscope: on node1: attach " + std::string(word) + " --here\n");
    CHECK(status == 0);
    CHECK(site.asked() == std::vector<std::string>{"node1"});
  }
  CHECK(said("detach", "4712", status) == "pclscope: on node2: detach 4712 --here\n");
  CHECK(has(said("detach", "app-2@node3", status), "on node3: detach"));  // and its own pclscope says what it says
  site.asked();
  CHECK(has(said("attach", "app-9", status), "'app-9' is no job of yours"));
  CHECK(status == 1);
  CHECK(site.asked().empty());
  // Without a word: the only one in the state that is wanted; else what is there.
  CHECK(has(said("attach", "", status), "2 jobs of yours can be meant"));
  CHECK(said("detach", "", status) == "pclscope: on node2: detach --here app-2\n");
  site.answers("node1", "aaaaaaaa-1", job("app-1", "attached"));
  site.answers("node3", "cccccccc-1", "");
  CHECK(has(said("attach", "", status), "is attached already: pclscope watch app-"));
  CHECK(status == 1);
  site.answers("node1", "aaaaaaaa-1", job("app-1", "dormant"));
  site.answers("node2", "bbbbbbbb-1", "");
  CHECK(has(said("detach", "", status), "job app-1 on node1 is not attached: it is dormant"));
  CHECK(status == 1);
  site.answers("node1", "aaaaaaaa-1", "");
  CHECK(has(said("detach", "", status), "no job of yours was only preloaded"));
  CHECK(fs::is_empty(site.jobs()));
}

TEST_CASE("nodes that cannot be asked are one line, and their jobs are unknown") {
  const Site site;
  site.announce("app-1", "node1", "aaaaaaaa-1");
  site.answers("node1", "aaaaaaaa-1", job("app-1", "dormant"));
  site.announce("app-2", "node2", "bbbbbbbb-1");
  site.login("node2", "echo 'node2: Connection timed out' >&2; exit 255");
  CHECK(dormant_elsewhere({}, {}, long_patience).problem ==
        "what runs on node2 is not known: ssh to node2: node2: Connection timed out");
  for (int i = 3; i < 13; ++i) {
    const std::string node = "node" + std::to_string(i);
    site.announce("app-" + std::to_string(i), node, "cccccccc-1");
    site.login(node, "echo 'Connection timed out' >&2; exit 255");
  }
  const DormantElsewhere all = dormant_elsewhere({}, {}, long_patience);
  REQUIRE(all.jobs.size() == 12);
  for (const DormantThere& one : all.jobs) CHECK((one.state == DormantState::unknown) == (one.name != "app-1"));
  CHECK(has(all.problem, "what runs on 11 nodes is not known, one of them: ssh to node"));
  CHECK(has(all.problem, site.jobs() + "/*.dormant"));
  CHECK_FALSE(has(all.problem, "\n"));
  int status = 0;
  CHECK(has(said("attach", "app-2", status), "job app-2 is on node2: ssh to node2: node2: Connection timed out"));
  CHECK(status == 1);
}

TEST_CASE("a key that is open to others is said, and how to close it") {
  const pclscope::testing::PrivateDirectory directory;
  const std::string path = directory.path() + "/keys";
  ::setenv("PCLSCOPE_KEY_FILE", path.c_str(), 1);
  CHECK(said_by(say_open_key).empty());  // there is none
  REQUIRE(wire::own_keys());
  CHECK(said_by(say_open_key).empty());
  fs::permissions(path, fs::perms(0644));
  const std::string text = said_by(say_open_key);
  CHECK(has(text, path));
  CHECK(has(text, "closed to others: chmod 600"));
  CHECK(has(text, "only ssh"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  ::unsetenv("PCLSCOPE_KEY_FILE");
}

TEST_CASE("what a node says of itself: its cluster by Slurm, or by a job that was announced from it") {
  const Site site;
  std::vector<discovery::Dormant> announced(2);
  announced[0].cluster = "beta";
  CHECK(cluster_here(announced).empty());
  announced[1].cluster = "alpha";
  announced[1].here = true;
  CHECK(cluster_here(announced) == "alpha");
  ::setenv("SLURM_CLUSTER_NAME", "gamma", 1);
  CHECK(cluster_here(announced) == "gamma");
  ::unsetenv("SLURM_CLUSTER_NAME");
  for (const char* none : {"", "Welcome", "{", "[]", R"({"jobs": []})"}) CHECK_FALSE(parse_dormant_answer(none));
  const auto answer = parse_dormant_answer(
      R"({"jobs": [{"name": "a", "state": "recorded"}, 7], "dormant": [{"name": "b"}, {"name": 3}]})");
  REQUIRE(answer);
  REQUIRE(answer->jobs.size() == 2);
  CHECK(answer->boot.empty());
}
