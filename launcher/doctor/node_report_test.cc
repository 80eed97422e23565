#include "launcher/doctor/node_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;

NodeReport Node(const std::string& host, const std::string& node) {
  NodeReport report;
  report.host = host;
  report.node = node;
  return report;
}

TEST(NodeNames, AUniqueHostNameIsTheNodesName) {
  EXPECT_THAT(NodeNames({Node("a", "x"), Node("b", "x")}),
              ElementsAre("a", "b"));
}

TEST(NodeNames, NodesOfOneHostAreNamedByNodeId) {
  EXPECT_THAT(NodeNames({Node("vm", "10.0.0.1"), Node("vm", "10.0.0.2"),
                         Node("other", "10.0.0.3")}),
              ElementsAre("10.0.0.1", "10.0.0.2", "other"));
}

TEST(NodeNames, EqualNodesAreNumbered) {
  EXPECT_THAT(NodeNames({Node("vm", ""), Node("vm", "n"), Node("vm", "n")}),
              ElementsAre("vm#0", "vm#1", "vm#2"));
}

TEST(NodesJson, JsonRoundTrip) {
  NodesPage page;
  page.expected = 3;
  page.between = {agent::Found("nodes", "a, b")};
  page.reports = {Node("a", "x"), Node("b", "y")};
  page.reports[0].node_rank = 2;
  page.reports[0].addresses = {{"advertised", "10.0.0.1"},
                               {"seen", "10.0.0.2"}};
  page.reports[0].versions = {{"NCCL", "2.21.5"}};
  page.reports[1].findings = {agent::Found("shm-small", "\"64\" MiB")};
  const auto read = ParseNodesJson(NodesJson(page));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->expected, 3);
  EXPECT_EQ(WorstOfPage(*read), agent::Severity::kWarning);
  ASSERT_EQ(read->between.size(), 1u);
  EXPECT_EQ(read->between[0].what, "a, b");
  ASSERT_EQ(read->reports.size(), 2u);
  EXPECT_EQ(read->reports[0].host, "a");
  EXPECT_EQ(read->reports[0].node, "x");
  EXPECT_EQ(read->reports[0].node_rank, 2);
  EXPECT_EQ(read->reports[0].addresses, page.reports[0].addresses);
  EXPECT_EQ(read->reports[0].versions, page.reports[0].versions);
  EXPECT_FALSE(read->reports[1].node_rank.has_value());
  ASSERT_EQ(read->reports[1].findings.size(), 1u);
  EXPECT_EQ(read->reports[1].findings[0].what, "\"64\" MiB");
}

TEST(NodesJson, InvalidJsonIsRejected) {
  for (const char* text : {"", "[]", "{}", R"({"between": {"findings": []}})",
                           R"({"between": 1, "nodes": []})",
                           R"({"between": {"findings": []}, "nodes": [1]})"}) {
    EXPECT_FALSE(ParseNodesJson(text).ok()) << text;
  }
  EXPECT_TRUE(
      ParseNodesJson(R"({"between": {"findings": []}, "nodes": []})").ok());
}

TEST(NodesJson, NestingIsNotCopied) {
  constexpr size_t kDepth = 1'000'000;
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  const auto read = ParseNodesJson(R"({"between": {"findings": [], "x": )" +
                                   deep + R"(}, "nodes": [{"findings": [], )" +
                                   R"("x": )" + deep + "}]}");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->reports.size(), 1u);
}

}  // namespace
}  // namespace muster::launcher
