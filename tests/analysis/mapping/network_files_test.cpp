// Networks as sites tell of them: Slurm's, ibnetdiscover's, coordinates. The same network said in different words must
// have the same distances.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "analysis/mapping/named_graph.hpp"
#include "analysis/mapping/topology.hpp"
#include "tests/analysis/mapping/temporary_file.hpp"
#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::mapping;
using Catch::Contains;

namespace {

class Random {
 public:
  std::int32_t below(std::int32_t most) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int32_t>((state_ >> 33) % static_cast<std::uint64_t>(most));
  }

 private:
  std::uint64_t state_ = test::random_seed();
};

Topology read(const std::string& kind, const std::string& content) {
  const test::TemporaryFile file(content);
  auto topology = Topology::parse(kind + ":" + file.path());
  if (!topology) FAIL(topology.error().message);
  return std::move(*topology);
}

Topology known(const std::string& text) {
  auto topology = Topology::parse(text);
  REQUIRE(topology);
  return std::move(*topology);
}

std::string refusal(const std::string& kind, const std::string& content) {
  const test::TemporaryFile file(content);
  const auto topology = Topology::parse(kind + ":" + file.path());
  INFO(content);
  REQUIRE_FALSE(topology);
  REQUIRE(topology.error().message.rfind(file.path(), 0) == 0);
  CHECK(topology.error().message.find('\n') == std::string::npos);
  return topology.error().message.substr(file.path().size());
}

// Node `k` of the one is called "n<k>" in the other.
void same_distances(const Topology& one, const Topology& other) {
  REQUIRE(one.nodes() == other.nodes());
  std::map<std::string, std::int32_t> at;
  for (std::int32_t v = 0; v < other.nodes(); ++v) at[other.name(v)] = v;
  REQUIRE(at.size() == static_cast<std::size_t>(one.nodes()));
  for (std::int32_t a = 0; a < one.nodes(); ++a)
    for (std::int32_t b = 0; b < one.nodes(); ++b)
      REQUIRE(one.hops(a, b) == other.hops(at.at("n" + std::to_string(a)), at.at("n" + std::to_string(b))));
}

// fattree:4x3x2 in four languages.
constexpr const char* tree = "fattree:4x3x2";
std::string tree_for_slurm(bool printed) {
  std::string text;
  for (int leaf = 0; leaf < 6; ++leaf)
    text += "SwitchName=leaf" + std::to_string(leaf) + (printed ? " Level=0 LinkSpeed=1" : "") + " Nodes=n[" +
            std::to_string(4 * leaf) + "-" + std::to_string(4 * leaf + 3) + "]\n";
  for (int mid = 0; mid < 2; ++mid)
    text += "SwitchName=mid" + std::to_string(mid) +
            (printed ? " Level=1 LinkSpeed=1 Nodes=n[" + std::to_string(12 * mid) + "-" +
                           std::to_string(12 * mid + 11) + "]"
                     : "") +
            " Switches=leaf[" + std::to_string(3 * mid) + "-" + std::to_string(3 * mid + 2) + "]\n";
  return text + "SwitchName=top " + (printed ? "Level=2 LinkSpeed=1 Nodes=n[0-23] " : "") + "Switches=mid[0-1]\n";
}

std::string guid(int number) {
  const std::string digits = std::to_string(number);
  return std::string(16 - digits.size(), '0') + digits;
}

// Who is above whom: vertices 0-23 nodes, 24-29 leaves, 30 and 31, 32.
std::vector<std::pair<int, int>> tree_edges() {
  std::vector<std::pair<int, int>> edges;
  for (int n = 0; n < 24; ++n) edges.emplace_back(n, 24 + n / 4);
  for (int leaf = 0; leaf < 6; ++leaf) edges.emplace_back(24 + leaf, 30 + leaf / 3);
  edges.emplace_back(30, 32);
  edges.emplace_back(31, 32);
  return edges;
}

std::string tree_for_ibnet() {
  std::string text = "#\n# Topology file: generated on Tue Jun  5 14:15:10 2007\n#\n# Initiated from node 1 port 2\n";
  for (int v = 32; v >= 0; --v) {
    const bool host = v < 24;
    const auto quoted = [](int other) { return std::string(other < 24 ? "\"H-" : "\"S-") + guid(other) + "\""; };
    const auto called = [](int other) {
      return other < 24 ? "\"n" + std::to_string(other) + " HCA-1\"" : std::string("\"MF0;leaf switch/U1\"");
    };
    text +=
        "\nvendid=0x2c9\ndevid=0xbd36\nsysimgguid=0x1\n" + std::string(host ? "caguid=0x1\n" : "switchguid=0x1(1)\n");
    text += std::string(host ? "Ca\t1 " : "Switch\t36 ") + quoted(v) + "\t\t# " + called(v) +
            (host ? "" : " base port 0 lid 5 lmc 0") + "\n";
    int port = 0;
    for (const auto& [a, b] : tree_edges()) {
      if (a != v && b != v) continue;
      const int peer = a == v ? b : a;
      text += "[" + std::to_string(++port) + "]" + (host ? "(1b)" : "") + "\t" + quoted(peer) + "[1]" +
              (peer < 24 ? "(1c)" : "") + "\t\t# " + (host ? "lid 4 lmc 0 " : "") + called(peer) + " lid 3 4xQDR\n";
    }
  }
  return text;
}

std::string tree_for_ibnet_ports() {
  std::string text;
  const auto end = [](int v, int port) {
    return std::string(v < 24 ? "CA" : "SW") + "    5 " + std::to_string(port) + " 0x" + guid(v);
  };
  const auto called = [](int v) {
    return v < 24 ? "'n" + std::to_string(v) + " mlx5_0'" : std::string("'a - switch'");
  };
  for (const auto& [a, b] : tree_edges())
    for (const bool turned : {false, true}) {
      const int from = turned ? b : a, to = turned ? a : b;
      text += end(from, 1) + " 4x EDR - " + end(to, 2 - turned) + " ( " + called(from) + " - " + called(to) + " )\n";
    }
  return text + "SW     5 36 0x" + guid(30) + " 4x SDR                                     'a - switch'\n";
}

}  // namespace

TEST_CASE("one tree in five languages") {
  const Topology reference = known(tree);
  same_distances(reference, read("slurm", tree_for_slurm(false)));
  same_distances(reference, read("slurm", tree_for_slurm(true)));
  same_distances(reference, read("ibnet", tree_for_ibnet()));
  same_distances(reference, read("ibnet", tree_for_ibnet_ports()));
  const auto text = Topology::parse_slurm(tree_for_slurm(true), "here");
  REQUIRE(text);
  same_distances(reference, *text);
  CHECK(text->text() == "here");
}

TEST_CASE("topology.conf: comments, lines that go on, any case, trees without a top, hosts at inner switches") {
  const Topology t = read("slurm",
                          "# our cluster\nswitchname=s0 \\\n  NODES=a[1-2],b LinkSpeed=7  # leaf\n\n"
                          "SwitchName=s1 nodes=c\nSwitchName=far Nodes=d\nSwitchName=up Switches=s[0,1] Nodes=e\n");
  REQUIRE(t.nodes() == 6);
  std::vector<std::string> names;
  for (std::int32_t v = 0; v < 6; ++v) names.push_back(t.name(v));
  CHECK(names == std::vector<std::string>{"a1", "a2", "b", "c", "d", "e"});
  CHECK(t.hops(0, 2) == 2);
  CHECK(t.hops(0, 3) == 4);
  CHECK(t.hops(0, 5) == 3);  // up has e itself
  CHECK(t.hops(0, 4) == 5);  // s0, up, what is above all, far
}

TEST_CASE("blocks: of the file, and what scontrol prints") {
  const Topology two = read("slurm",
                            "BlockName=b1 Nodes=n[0-1]\nBlockName=b2 Nodes=n[2-3]\nBlockName=b3 Nodes=n[4-5]\n"
                            "BlockName=b4 Nodes=n[6-7]\nBlockSizes=2,4\n");
  same_distances(known("fattree:2x2x2"), two);
  const Topology printed =
      read("slurm",
           "BlockName=b1 BlockIndex=0 Nodes=n[0-1] BlockSize=2\nBlockName=b2 BlockIndex=1 Nodes=n[2-3] BlockSize=2\n"
           "BlockName=b3 BlockIndex=2 Nodes=n[4-5] BlockSize=2\nBlockName=b4 BlockIndex=3 Nodes=n[6-7] BlockSize=2\n"
           "AggregatedBlock=b[1-2] BlockIndex=4 Nodes=n[0-3] BlockSize=4\n"
           "AggregatedBlock=b[3-4] BlockIndex=5 Nodes=n[4-7] BlockSize=4\n");
  same_distances(known("fattree:2x2x2"), printed);
  same_distances(known("fattree:2x2"), read("slurm", "BlockName=b1 Nodes=n[0-1]\nBlockName=b2 Nodes=n[2-3]\n"));
}

TEST_CASE("what Slurm's file has wrong is told with its line") {
  CHECK_THAT(refusal("slurm", "\nNodeName=a\n"), Contains(" line 2: 'nodename' is none of SwitchName"));
  CHECK_THAT(refusal("slurm", "SwitchName=a\n"), Contains(" line 1: switch a has neither"));
  CHECK_THAT(refusal("slurm", "SwitchName= Nodes=n\n"), Contains("without a name"));
  CHECK_THAT(refusal("slurm", "SwitchName=a Nodes=n Nodes=m\n"), Contains("there twice"));
  CHECK_THAT(refusal("slurm", "SwitchName=a Nodes=n\nSwitchName=a Nodes=m\n"),
             Contains(" line 2: switch a is described twice"));
  CHECK_THAT(refusal("slurm", "SwitchName=a Nodes=n[1-\n"), Contains(" line 1: brackets do not match"));
  CHECK_THAT(refusal("slurm", "SwitchName=a Nodes=n[3-1]\n"), Contains(" line 1: 'n[3-1]' is no list of hosts"));
  CHECK_THAT(refusal("slurm", "SwitchName=a Switches=b\n"), Contains("above b, which is not described"));
  CHECK_THAT(refusal("slurm", "BlockName=b Nodes=n1\nBlockSizes=2,x\n"), Contains(" line 2: BlockSizes"));
  CHECK_THAT(refusal("slurm", "# nothing\n"), Contains("no nodes in it"));
  CHECK_THAT(refusal("slurm", "SwitchName=a \\"), Contains("last line: switch a has neither"));
}

TEST_CASE("hosts of several adapters are one; those that are all called alike are told apart") {
  const Topology rails =
      read("ibnet",
           "Switch 36 \"S-1a\" # \"leaf\" base port 0\n[1] \"H-01\"[1](2) # \"n0 HCA-1\" lid 1 4xEDR\n"
           "[2] \"H-03\"[1](4) # \"n1 HCA-1\" lid 1 4xEDR\n[3] \"S-1b\"[3] # \"leaf\" lid 3 4xEDR\n\n"
           "Switch 36 \"S-1b\" # \"leaf\" base port 0\n[1] \"H-05\"[1](2) # \"n0 HCA-2\" lid 1 4xEDR\n");
  REQUIRE(rails.nodes() == 2);
  CHECK(rails.vertices() == 4);
  CHECK((rails.name(0) == "n0" && rails.name(1) == "n1" && rails.hops(0, 1) == 2));
  const Topology alike =
      read("ibnet",
           "Switch 24 \"S-1a\" # \"ISR\"\n[1] \"H-01\"[1](2) # \"MT23108 InfiniHost Mellanox\" lid 4 4xSDR\n"
           "[2] \"H-02\"[1](2) # \"MT23108 InfiniHost Mellanox\" lid 4 4xSDR\n");
  REQUIRE(alike.nodes() == 2);
  CHECK((alike.name(0) == "H-01" && alike.name(1) == "H-02"));
}

TEST_CASE("what ibnetdiscover's file has wrong is told with its line") {
  CHECK_THAT(refusal("ibnet", "[1] \"H-1\"[1]\n"), Contains(" line 1: a port of nobody"));
  CHECK_THAT(refusal("ibnet", "Switch 3 S-1\n"), Contains(" line 1: no GUID in quotes"));
  CHECK_THAT(refusal("ibnet", "Switch 3 \"S-1\"\n[1] somebody\n"), Contains(" line 2: no peer in quotes"));
  CHECK_THAT(refusal("ibnet", "CA 1 1 0x1 4x EDR - SW 2 ( 'a' - 'b' )\n"), Contains(" line 1: no port as in CA"));
  CHECK_THAT(refusal("ibnet", "CA 1 1 0x1 4x EDR - SW 2 1 0x2\n"), Contains(" line 1: the names of both ends"));
  CHECK_THAT(refusal("ibnet", "hello\n"), Contains("no links in it"));
  CHECK_THAT(refusal("ibnet", "Switch 3 \"S-1\"\n[1] \"S-2\"[1]\n"), Contains("no adapters"));
}

TEST_CASE("coordinates: the same distances as the torus, whatever the order of lines") {
  Random random;
  for (const char* shape : {"torus 4x3x2", "mesh 5x4", "hyperx 3x4", "torus 4x3mx2"}) {
    std::string spec = shape;
    spec[spec.find(' ')] = ':';
    const Topology reference = known(spec);
    std::vector<std::string> lines;
    for (std::int32_t v = 0; v < reference.nodes(); ++v) {
      std::string line = "n" + std::to_string(v);
      for (const std::int32_t c : reference.coordinates(v)) line += " " + std::to_string(c);
      lines.push_back(line + "\n");
    }
    for (std::size_t i = lines.size(); i > 1; --i)
      std::swap(lines[i - 1], lines[static_cast<std::size_t>(random.below(static_cast<std::int32_t>(i)))]);
    std::string text = "# where they are\n" + std::string(shape) + "\n";
    for (const std::string& line : lines) text += line;
    same_distances(reference, read("coordinates", text));
  }
  const Topology part = read("coordinates", "a 0 0\nb 2 1  # without a shape: a mesh that is large enough\n");
  REQUIRE(part.nodes() == 6);
  std::vector<std::string> there;
  for (std::int32_t v = 0; v < 6; ++v)
    if (part.takes_ranks(v)) there.push_back(part.name(v));
  CHECK(there == std::vector<std::string>{"a", "b"});
  CHECK(part.hops(0, 5) == 3);
}

TEST_CASE("cabinets: a dragonfly") {
  for (const bool slingshot : {true, false}) {
    std::string text;
    for (int node = 0; node < 5 * 3 * 2; ++node) {
      const int group = node / 6, router = node / 2 % 3, n = node % 2;
      const std::string place = slingshot ? "x" + std::to_string(1000 + group) + "c" + std::to_string(router / 2) +
                                                "s" + std::to_string(router % 2) + "b0n" + std::to_string(n)
                                          : "c" + std::to_string(group) + "-0c" + std::to_string(router / 2) + "s" +
                                                std::to_string(router % 2) + "n" + std::to_string(n);
      text += "n" + std::to_string(node) + " " + place + "\n";
    }
    same_distances(known("dragonfly:5x3x2"), read("coordinates", text));
  }
  const Topology alone = read("coordinates", "x1c0s0b0n0\nx1c0s0b0n1\n");
  CHECK((alone.name(0) == "x1c0s0b0n0" && alone.hops(0, 1) == 2));
}

TEST_CASE("what a file of coordinates has wrong is told with its line") {
  CHECK_THAT(refusal("coordinates", "a 0 0\nb 0\n"), Contains(" line 2: 1 coordinates, the lines before have 2"));
  CHECK_THAT(refusal("coordinates", "a 0 0\nb 0 0\n"), Contains(" line 2: 'b' is where 'a' is"));
  CHECK_THAT(refusal("coordinates", "a 0 0\na 0 1\n"), Contains(" line 2: 'a' is there twice"));
  CHECK_THAT(refusal("coordinates", "a 0 -1\n"), Contains(" line 1: '-1' is no coordinate"));
  CHECK_THAT(refusal("coordinates", "a\n"), Contains(" line 1: a node's name and its coordinates"));
  CHECK_THAT(refusal("coordinates", "torus 2x2\na 0 2\n"), Contains("'a' is not within 2x2"));
  CHECK_THAT(refusal("coordinates", "torus 2xq\na 0 1\n"), Contains("torus 2xq"));
  CHECK_THAT(refusal("coordinates", "torus 2\nmesh 2\n"), Contains(" line 2: the shape is there twice"));
  CHECK_THAT(refusal("coordinates", "x1c0s0b0n0\ny2 0 0\n"), Contains(" line 2: '0' is no place"));
  CHECK_THAT(refusal("coordinates", "a 0\nx1c0s0b0n0\n"), Contains(" line 2: a cabinet's name"));
  CHECK_THAT(refusal("coordinates", ""), Contains("no nodes in it"));
  CHECK_THAT(refusal("coordinates", "a 0 1000000 1000000\n"), Contains("mesh"));
}

TEST_CASE("lists of hosts, against each name one by one") {
  CHECK(*expand_hosts("n[01-03,7],m") == std::vector<std::string>{"n01", "n02", "n03", "n7", "m"});
  CHECK(*expand_hosts("r[1-2]n[8-10]-ib") ==
        std::vector<std::string>{"r1n8-ib", "r1n9-ib", "r1n10-ib", "r2n8-ib", "r2n9-ib", "r2n10-ib"});
  CHECK(*expand_hosts("n[098-101]") == std::vector<std::string>{"n098", "n099", "n100", "n101"});
  CHECK(expand_hosts("")->empty());
  for (const char* wrong : {"n[", "n]", "n[]", "n[1-]", "n[a]", "n[1,]", "n[[1]]", "n[2-1]", ",", "a,,b", "n[1-2",
                            "n1]", "n[1-99999999999999999999]", "n[0-1048577]", "n[0-9999]m[0-9999]", "n[-3]"})
    CHECK_FALSE(expand_hosts(wrong));
  Random random;
  for (int round = 0; round < 200; ++round) {
    std::string list;
    std::vector<std::string> expected;
    for (int item = random.below(4); item >= 0; --item) {
      std::vector<std::string> names = {""};
      std::string text;
      const auto add = [&](const std::vector<std::string>& ends) {
        std::vector<std::string> longer;
        for (const std::string& name : names)
          for (const std::string& end : ends) longer.push_back(name + end);
        names = longer;
      };
      for (int part = random.below(3); part >= 0; --part) {
        const std::string letters(1 + static_cast<std::size_t>(random.below(2)),
                                  static_cast<char>('a' + random.below(26)));
        text += letters;
        add({letters});
        if (random.below(2) == 0) continue;
        std::vector<std::string> ends;
        text += "[";
        for (int range = random.below(3); range >= 0; --range) {
          const int first = random.below(120), last = first + random.below(5), digits = 1 + random.below(4);
          const auto padded = [digits](int n) {
            std::string word = std::to_string(n);
            while (static_cast<int>(word.size()) < digits) word = "0" + word;
            return word;
          };
          // Slurm takes the digits of the first number: as many as it has itself, at least.
          const auto width = static_cast<int>(padded(first).size());
          for (int n = first; n <= last; ++n) {
            std::string word = std::to_string(n);
            while (static_cast<int>(word.size()) < width) word = "0" + word;
            ends.push_back(word);
          }
          text += padded(first) + (last > first ? "-" + padded(last) : "") + (range > 0 ? "," : "");
        }
        text += "]";
        add(ends);
      }
      list += text + (item > 0 ? "," : "");
      expected.insert(expected.end(), names.begin(), names.end());
    }
    INFO(list);
    const auto found = expand_hosts(list);
    REQUIRE(found);
    CHECK(*found == expected);
  }
}
