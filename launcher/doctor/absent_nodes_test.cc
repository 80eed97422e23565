#include "launcher/doctor/absent_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace muster::launcher {
namespace {

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

std::vector<std::string> Texts(const std::vector<agent::Finding>& findings) {
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
  EXPECT_THAT(Texts(FindAbsent(expected, {Node("b")})),
              ElementsAre("a: it did not come", "c: no route"));
  EXPECT_THAT(
      Texts(FindAbsent(expected, {})),
      ElementsAre("a: it did not come", "b: it did not come", "c: no route"));
}

TEST(FindAbsent, NamesThatAreNoNodeIdsAreNotUsed) {
  const ExpectedNodes expected = {
      .count = 3, .names = {"n1", "n2", "n3"}, .why = {}};
  EXPECT_THAT(
      Texts(FindAbsent(expected, {Node("mine"), Node("n2")})),
      ElementsAre(
          "1 of 3 nodes did not come; these did: host-of-mine, host-of-n2"));
}

TEST(FindAbsent, AbsentNodeRanksAreNamedIfEveryNodeHasOne) {
  EXPECT_THAT(Texts(FindAbsent({.count = 4, .names = {}, .why = {}},
                               {Node("a", 0), Node("b", 2)})),
              ElementsAre("node rank 1: it did not come",
                          "node rank 3: it did not come"));
  EXPECT_THAT(Texts(FindAbsent({.count = 3, .names = {}, .why = {}},
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
