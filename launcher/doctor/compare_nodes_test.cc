#include "launcher/doctor/compare_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Probe Reached(Duration ahead) {
  return {"", std::chrono::milliseconds(2), ahead};
}

std::vector<NodeSeen> Three() {
  std::vector<NodeSeen> nodes(3);
  for (int rank = 0; rank < 3; ++rank) {
    NodeReport report;
    report.host = std::string(1, static_cast<char>('a' + rank));
    report.versions = {{"driver", "550"}, {"NCCL", "2.21.5"}};
    report.hardware = {{"cores", "64"}};
    nodes[rank].report = report;
    nodes[rank].address = "10.0.0." + std::to_string(rank + 1);
    for (int other = 0; other < 3; ++other) {
      if (other != rank) nodes[rank].probes[other] = Reached({});
    }
  }
  return nodes;
}

std::vector<std::string> Texts(const std::vector<agent::Finding>& findings) {
  std::vector<std::string> texts;
  for (const agent::Finding& finding : findings) {
    texts.push_back(finding.id + ": " + finding.what);
  }
  return texts;
}

TEST(CompareNodes, EqualReachableNodesHaveNoTrouble) {
  EXPECT_THAT(Texts(CompareNodes(Three())),
              ElementsAre("nodes: a, b, c; 6 connections between them, the "
                          "slowest in 2.0 ms"));
}

TEST(CompareNodes, AFailedConnectionIsReportedByBothNodes) {
  auto nodes = Three();
  nodes[0].probes[2].error = "no answer";
  nodes[2].probes[0].error = "no answer";
  const auto texts = Texts(CompareNodes(nodes));
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[1],
            "nodes-unreachable: a cannot connect to c (10.0.0.3): no answer");
  EXPECT_EQ(texts[2],
            "nodes-unreachable: c cannot connect to a (10.0.0.1): no answer");
}

TEST(CompareNodes, ANodeWithoutAReportIsMissing) {
  auto nodes = Three();
  nodes[1] = NodeSeen();
  const auto texts = Texts(CompareNodes(nodes));
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[1], "nodes-missing: rank 1 told nothing");
}

TEST(CompareNodes, DifferentVersionsAndHardwareAreFound) {
  auto nodes = Three();
  nodes[1].report->versions["driver"] = "535";
  nodes[2].report->versions.erase("NCCL");
  nodes[2].report->hardware["cores"] = "32";
  const auto texts = Texts(CompareNodes(nodes));
  ASSERT_EQ(texts.size(), 4u);
  EXPECT_EQ(texts[1], "nodes-versions-differ: NCCL: 2.21.5 on a, b; none on c");
  EXPECT_EQ(texts[2], "nodes-versions-differ: driver: 535 on b; 550 on a, c");
  EXPECT_EQ(texts[3], "nodes-hardware-differ: cores: 32 on c; 64 on a, b");
}

TEST(CompareNodes, ClocksAreComparedWithRank0) {
  auto nodes = Three();
  // nodes[1] (b) and nodes[2] (c) have probed rank 0. The argument of Reached()
  // is rank 0's clock minus the clock of the node that probed. Node b's clock
  // is 5 s ahead of rank 0's, which must give a finding. Node c's clock is half
  // a second behind, which must give none.
  nodes[1].probes[0] = Reached(-std::chrono::seconds(5));
  nodes[2].probes[0] = Reached(std::chrono::milliseconds(500));
  const auto texts = Texts(CompareNodes(nodes));
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[1], "nodes-clock-skew: clocks differ from a's: b by +5.0 s");
}

TEST(CompareNodes, ASlowConnectionIsNoClockSkew) {
  auto nodes = Three();
  nodes[1].probes[0] = {"", std::chrono::seconds(3), std::chrono::seconds(2)};
  EXPECT_EQ(CompareNodes(nodes).size(), 1u);
}

TEST(CompareNodes, NodesOfOneHostHaveDifferentNames) {
  auto nodes = Three();
  for (NodeSeen& node : nodes) node.report->host = "vm";
  EXPECT_THAT(CompareNodes(nodes)[0].what, HasSubstr("vm#0, vm#1, vm#2;"));
  for (size_t rank = 0; rank < nodes.size(); ++rank) {
    nodes[rank].report->node = "node" + std::to_string(rank);
  }
  EXPECT_THAT(CompareNodes(nodes)[0].what, HasSubstr("node0, node1, node2;"));
}

TEST(ProbedBy, FewNodesProbeAllAndManyNodesAreAllProbed) {
  EXPECT_THAT(ProbedBy(1, 3), ElementsAre(0, 2));
  for (const int nodes : {33, 100, 1000}) {
    std::set<int> tried;
    for (int rank = 0; rank < nodes; ++rank) {
      const std::vector<int> others = ProbedBy(rank, nodes);
      EXPECT_LE(others.size(), 12u);
      EXPECT_EQ(std::set<int>(others.begin(), others.end()).size(),
                others.size());
      for (const int other : others) {
        EXPECT_NE(other, rank);
        tried.insert(other);
      }
      if (rank > 0) {
        EXPECT_EQ(std::set<int>(others.begin(), others.end()).count(0), 1u);
      }
    }
    EXPECT_EQ(static_cast<int>(tried.size()), nodes);
  }
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

NodeReport Node(const std::string& node,
                std::optional<int> rank = std::nullopt) {
  NodeReport report;
  report.host = "host-of-" + node;
  report.node = node;
  report.node_rank = rank;
  return report;
}

std::vector<std::string> AbsentTexts(
    const std::vector<agent::Finding>& findings) {
  std::vector<std::string> texts;
  for (const agent::Finding& finding : findings) {
    EXPECT_EQ(finding.id, "nodes-absent");
    EXPECT_EQ(finding.severity, agent::Severity::kError);
    texts.push_back(finding.what);
  }
  return texts;
}

TEST(FindAbsent, AllNodesOrAnUnknownNumberHaveNoFindings) {
  EXPECT_THAT(
      FindAbsent({.count = 2, .names = {}, .why = {}}, {Node("a"), Node("b")}),
      IsEmpty());
  EXPECT_THAT(FindAbsent({}, {Node("a")}), IsEmpty());
  EXPECT_THAT(FindAbsent({.count = 2, .names = {}, .why = {}},
                         {Node("a"), Node("b"), Node("c")}),
              IsEmpty());
}

TEST(FindAbsent, EachAbsentNodeIsNamedWithItsReason) {
  const ExpectedNodes expected = {
      .count = 3, .names = {"a", "b", "c"}, .why = {{"c", "no route"}}};
  EXPECT_THAT(AbsentTexts(FindAbsent(expected, {Node("b")})),
              ElementsAre("a: it did not come", "c: no route"));
  EXPECT_THAT(
      AbsentTexts(FindAbsent(expected, {})),
      ElementsAre("a: it did not come", "b: it did not come", "c: no route"));
}

TEST(FindAbsent, NamesThatAreNoNodeIdsAreNotUsed) {
  const ExpectedNodes expected = {
      .count = 3, .names = {"n1", "n2", "n3"}, .why = {}};
  EXPECT_THAT(
      AbsentTexts(FindAbsent(expected, {Node("mine"), Node("n2")})),
      ElementsAre(
          "1 of 3 nodes did not come; these did: host-of-mine, host-of-n2"));
}

TEST(FindAbsent, AbsentNodeRanksAreNamedIfEveryNodeHasOne) {
  EXPECT_THAT(AbsentTexts(FindAbsent({.count = 4, .names = {}, .why = {}},
                                     {Node("a", 0), Node("b", 2)})),
              ElementsAre("node rank 1: it did not come",
                          "node rank 3: it did not come"));
  EXPECT_THAT(AbsentTexts(FindAbsent({.count = 3, .names = {}, .why = {}},
                                     {Node("a", 0), Node("b")})),
              ElementsAre("1 of 3 nodes did not come; these did: host-of-a, "
                          "host-of-b"));
}

TEST(SlurmNodes, TheStepsNodesComeBeforeTheJobs) {
  EXPECT_THAT(SlurmNodes({{"SLURM_STEP_NODELIST", "n[1-2]"},
                          {"SLURM_JOB_NODELIST", "n[1-4]"}}),
              ElementsAre("n1", "n2"));
  EXPECT_THAT(SlurmNodes({{"SLURM_JOB_NODELIST", "a,b"}}),
              ElementsAre("a", "b"));
  EXPECT_THAT(SlurmNodes({}), IsEmpty());
  EXPECT_THAT(SlurmNodes({{"SLURM_JOB_NODELIST", "n["}}), IsEmpty());
}

}  // namespace
}  // namespace muster::launcher
