// The node whose links are slow is named, and no other.
#include "viewer/views/node_rows.hpp"

#include <catch2/catch.hpp>

using namespace pclscope;

namespace {

// Every node sends to every other one.
Snapshot job(int nodes, double usual) {
  Snapshot s;
  for (int i = 0; i < nodes; ++i) {
    std::string name("n");
    name.append(std::to_string(i));
    s.application.nodes.push_back(std::move(name));
  }
  for (std::int32_t a = 0; a < nodes; ++a)
    for (std::int32_t b = 0; b < nodes; ++b)
      if (a != b) {
        NodeLink l{a, b};
        l.messages = l.newest_messages = 100;
        l.newest_transfer_ratio = l.peak_transfer_ratio = l.mean_transfer_ratio = usual;
        s.network.links.push_back(l);
      }
  return s;
}

template <class Which>
void slow(Snapshot& s, double ratio, Which which) {
  for (NodeLink& l : s.network.links)
    if (which(l)) l.newest_transfer_ratio = l.peak_transfer_ratio = ratio;
}

}  // namespace

TEST_CASE("a node that sends slowly is named") {
  for (const int nodes : {3, 5, 9}) {
    Snapshot s = job(nodes, 1.2);
    CHECK_FALSE(views::slow_node(s));
    slow(s, 50, [](const NodeLink& l) { return l.source == 2; });
    const auto found = views::slow_node(s);
    REQUIRE(found);
    CHECK(found->node == 2);
    CHECK(found->sends);
    CHECK(found->ratio == 50);
    CHECK(found->others == Approx(1.2));
    CHECK(views::slow_node_line(s).find("messages from n2 to other nodes take 50") == 0);
    s.finished = true;
    CHECK(views::slow_node_line(s).find("messages from n2 to other nodes took up to 50") == 0);
  }
}

TEST_CASE("a node that receives slowly is named") {
  Snapshot s = job(4, 1);
  slow(s, 20, [](const NodeLink& l) { return l.destination == 0; });
  const auto found = views::slow_node(s);
  REQUIRE(found);
  CHECK(found->node == 0);
  CHECK_FALSE(found->sends);
}

TEST_CASE("one slow link is no slow node, and a slow network has none") {
  Snapshot s = job(4, 1);
  slow(s, 100, [](const NodeLink& l) { return l.source == 1 && l.destination == 3; });
  CHECK_FALSE(views::slow_node(s));
  Snapshot all = job(4, 30);
  CHECK_FALSE(views::slow_node(all));
  Snapshot two = job(2, 1);
  slow(two, 100, [](const NodeLink& l) { return l.source == 1; });
  CHECK_FALSE(views::slow_node(two));
  CHECK_FALSE(views::slow_node(Snapshot{}));
}

TEST_CASE("too few messages say nothing") {
  Snapshot s = job(3, 1);
  slow(s, 50, [](const NodeLink& l) { return l.source == 2; });
  for (NodeLink& l : s.network.links) l.newest_messages = 3;
  CHECK_FALSE(views::slow_node(s));
}
