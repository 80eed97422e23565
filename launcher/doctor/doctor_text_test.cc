#include "launcher/doctor/doctor_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr TextTarget kPlain = {TextStyle::kPlain, 60};

NodeReport Node(const std::string& host, std::vector<agent::Finding> findings) {
  NodeReport report;
  report.host = host;
  report.findings = std::move(findings);
  return report;
}

TEST(DoctorText, PageOfANodeHasAllFindings) {
  const NodeReport report =
      Node("node1", {agent::Found("versions", "driver 550"),
                     agent::Found("gpus", "8 x H100"),
                     agent::Found("gpu-ecc", "GPU 3: 2 memory errors"),
                     agent::Found("shm-small", "/dev/shm has 512 MiB")});
  EXPECT_EQ(DoctorText(report, Detail::kAll, kPlain),
            R"(launch doctor on node1

Versions
  ok       driver 550
GPUs
  ok       8 x H100
  error    GPU 3: 2 memory errors  [gpu-ecc]
           do: Drain the node and reset the GPU; if errors
               come again, replace it.
Machine
  warning  /dev/shm has 512 MiB  [shm-small]
           do: Enlarge it: mount -o remount,size=50%
               /dev/shm.

Unhealthy: 1 error, 1 warning
)");
}

TEST(DoctorText, QuietShowsOnlyTrouble) {
  const NodeReport fine = Node("node1", {agent::Found("gpus", "8 x H100"),
                                         agent::Found("gpu-log-unread", "x")});
  EXPECT_EQ(DoctorText(fine, Detail::kTroubleOnly, kPlain),
            "launch doctor on node1\n\nHealthy: 1 note\n");
  const NodeReport ill = Node("node1", {agent::Found("gpus", "8 x H100"),
                                        agent::Found("shm-small", "small")});
  const std::string page = DoctorText(ill, Detail::kTroubleOnly, kPlain);
  EXPECT_THAT(page, Not(HasSubstr("H100")));
  EXPECT_THAT(page, HasSubstr("warning  small"));
  EXPECT_THAT(page, HasSubstr("Healthy, with 1 warning"));
}

TEST(DoctorText, AHealthyNodeHasNothingToReport) {
  EXPECT_THAT(
      DoctorText(Node("a", {agent::Found("gpus", "x")}), Detail::kAll, kPlain),
      HasSubstr("Healthy: nothing to report\n"));
}

TEST(DoctorText, SeveritiesAreColouredAndForeignEscapesRemoved) {
  const NodeReport report =
      Node("a\x1b[2J", {agent::Found("gpu-ecc", "GPU\n\x1b[31m 3")});
  const std::string page =
      DoctorText(report, Detail::kAll, {TextStyle::kColoured, 80});
  EXPECT_THAT(page, HasSubstr("\x1b[1;31merror\x1b[0m    GPU  3"));
  EXPECT_THAT(page, Not(HasSubstr("\x1b[2J")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b[31m")));
}

TEST(NodesText, EqualFindingsOfSeveralNodesAreShownOnce) {
  const std::vector<NodeReport> reports = {
      Node("a", {agent::Found("gpus", "8 x H100"),
                 agent::Found("shm-small", "small"),
                 agent::Found("gpu-ecc", "GPU 0: 1 memory errors")}),
      Node("b", {agent::Found("gpus", "8 x H100"),
                 agent::Found("shm-small", "small"),
                 agent::Found("gpu-ecc", "GPU 1: 4 memory errors")}),
      Node("c", {agent::Found("gpus", "8 x H100")})};
  const std::string page =
      NodesText({reports, {agent::Found("nodes", "a, b, c")}, 3}, Detail::kAll,
                {{}, 100});
  EXPECT_EQ(page, R"(launch doctor on 3 nodes

Nodes
  ok       a, b, c
GPUs
  ok       all: 8 x H100
  error    a: GPU 0: 1 memory errors  [gpu-ecc]
  error    b: GPU 1: 4 memory errors  [gpu-ecc]
           do: Drain the node and reset the GPU; if errors come again, replace it.
Machine
  warning  a, b: small  [shm-small]
           do: Enlarge it: mount -o remount,size=50% /dev/shm.

Unhealthy: 2 errors, 1 warning
)");
}

TEST(NodesText, TheNumberOfExpectedNodesIsShown) {
  NodeReport first = Node("vm", {agent::Found("gpus", "8 x H100")});
  first.node = "h1";
  NodeReport second = Node("vm", {agent::Found("gpus", "7 x H100")});
  second.node = "h2";
  EXPECT_EQ(
      NodesText({{first, second}, {agent::Found("nodes-absent", "h3: cut")}, 3},
                Detail::kAll, {{}, 400}),
      absl::StrCat(R"(launch doctor on 2 of 3 nodes

Nodes
  error    h3: cut  [nodes-absent]
           do: )",
                   agent::KindOf("nodes-absent")->remedy, R"(
GPUs
  ok       h1: 8 x H100
  ok       h2: 7 x H100

Unhealthy: 1 error
)"));
}

TEST(NodesText, ManyFindingsOfOneKindAreCounted) {
  std::vector<NodeReport> reports;
  for (int i = 0; i < 50; ++i) {
    const std::string name = "n" + std::to_string(i);
    reports.push_back(
        Node(name, {agent::Found("disks", "of " + name),
                    agent::Found("disk-full", "disk of " + name)}));
  }
  const std::string page =
      NodesText({reports, {}, 50}, Detail::kAll, {TextStyle::kPlain, 80});
  EXPECT_THAT(page, Not(HasSubstr("of n0\n")));
  EXPECT_THAT(page, HasSubstr("n4: disk of n4"));
  EXPECT_THAT(page, Not(HasSubstr("disk of n5")));
  EXPECT_THAT(page, HasSubstr("and 45 more of this kind (--json)"));
  EXPECT_THAT(page, HasSubstr("Unhealthy: 50 errors"));
}

TEST(NodeReport, JsonRoundTrip) {
  NodeReport report = Node("a", {agent::Found("gpus", "8 x \"H100\""),
                                 agent::Found("shm-small", "small\xff")});
  report.versions = {{"driver", "550"}};
  report.hardware = {{"cores", "64"}};
  const auto back = ParseNodeReport(NodeReportJson(report));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->host, "a");
  EXPECT_EQ(back->versions, report.versions);
  EXPECT_EQ(back->hardware, report.hardware);
  ASSERT_EQ(back->findings.size(), 2u);
  EXPECT_EQ(back->findings[0].what, "8 x \"H100\"");
  EXPECT_EQ(back->findings[1].severity, agent::Severity::kWarning);
  EXPECT_EQ(back->findings[1].remedy, agent::KindOf("shm-small")->remedy);
}

TEST(NodeReport, InvalidJsonIsRejected) {
  for (const char* text : {"", "[]", "{}", "{\"findings\": 3}", "{"}) {
    EXPECT_FALSE(ParseNodeReport(text).ok()) << text;
  }
  EXPECT_FALSE(ParseNodeReport(std::string(2 << 20, ' ')).ok());
  const auto odd = ParseNodeReport(
      R"({"host": 3, "versions": [1], "findings": [4, {"id": []}]})");
  ASSERT_TRUE(odd.ok());
  EXPECT_EQ(odd->findings.size(), 1u);
}

TEST(NodesJson, JsonHasTheWorstSeverityAndAllNodes) {
  const std::string json =
      NodesJson({{Node("a", {}), Node("b", {agent::Found("gpu-ecc", "x")})},
                 {agent::Found("nodes", "a, b")},
                 2});
  EXPECT_THAT(json, HasSubstr(R"("schema": 1, "severity": "error")"));
  EXPECT_THAT(json, HasSubstr(R"("host":"b")"));
}

TEST(ExitCode, ExitCodeFollowsTheSeverity) {
  EXPECT_EQ(ExitCodeOf(agent::Severity::kOk), 0);
  EXPECT_EQ(ExitCodeOf(agent::Severity::kNote), 0);
  EXPECT_EQ(ExitCodeOf(agent::Severity::kWarning), 3);
  EXPECT_EQ(ExitCodeOf(agent::Severity::kError), 4);
}

}  // namespace
}  // namespace muster::launcher
