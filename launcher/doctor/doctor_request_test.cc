#include "launcher/doctor/doctor_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Arguments = std::vector<std::string>;

TEST(DoctorRequest, WithoutArgumentsThisNodeIsChecked) {
  const auto request = ParseDoctorRequest({}, {});
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->way, DoctorRequest::Way::kHere);
  EXPECT_EQ(request->format, DoctorFormat::kText);
  EXPECT_TRUE(request->coordinator.empty());
}

TEST(DoctorRequest, TheDoctorsFlagsAreRead) {
  const auto request = ParseDoctorRequest(
      {"--json", "--quiet", "--endpoint", "node1", "--folders=/a, /b",
       "--log_dir=/logs", "--token-file=t"},
      {{"MUSTER_COORDINATOR", "other:1"}});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->format, DoctorFormat::kJson);
  EXPECT_EQ(request->detail, Detail::kTroubleOnly);
  EXPECT_EQ(request->coordinator.front().ToString(), "node1:29400");
  EXPECT_THAT(request->folders, ElementsAre("/a", "/b"));
  EXPECT_EQ(request->log_dir, "/logs");
  EXPECT_EQ(request->token_file, "t");
}

TEST(DoctorRequest, TheCoordinatorMayComeFromTheEnvironment) {
  const auto request =
      ParseDoctorRequest({}, {{"MUSTER_COORDINATOR", "node2:5,node3:5"}});
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(rendezvous::EndpointsText(request->coordinator), "node2:5,node3:5");
}

TEST(DoctorRequest, NodesTakesTheFlagsOfARunInAnyOrder) {
  const auto request = ParseDoctorRequest(
      {"--nnodes=2", "--quiet", "--nodes", "--rdzv_endpoint", "a:1", "--json",
       "--log-dir=/logs", "--local-addr=10.0.0.9"},
      {});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->way, DoctorRequest::Way::kAllNodes);
  EXPECT_EQ(request->detail, Detail::kTroubleOnly);
  EXPECT_EQ(request->format, DoctorFormat::kJson);
  EXPECT_THAT(request->launch_arguments,
              ElementsAre("--local-addr=10.0.0.9", "--log-dir=/logs",
                          "--nnodes=2", "--rdzv-endpoint=a:1"));
}

TEST(DoctorRequest, AWorkersFlagsAreRead) {
  const auto request = ParseDoctorRequest(
      {"--as-node=/tmp/x", "--columns=-72", "--expected=3", "--own-rank=2"},
      {});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->way, DoctorRequest::Way::kAsNode);
  EXPECT_EQ(request->outcome_file, "/tmp/x");
  EXPECT_EQ(request->target.columns, 72);
  EXPECT_EQ(request->target.style, TextStyle::kPlain);
  EXPECT_EQ(request->expected, 3);
  EXPECT_EQ(request->node_rank, 2);
}

TEST(DoctorRequest, AWorkerWithoutAnOutcomeFilePrintsLines) {
  const auto request = ParseDoctorRequest({"--as-node=-"}, {});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->way, DoctorRequest::Way::kAsNode);
  EXPECT_EQ(request->outcome_file, "");
}

TEST(DoctorRequest, ErrorsSayWhatIsWrong) {
  const std::vector<std::pair<Arguments, const char*>> cases = {
      {{"--nnodes=2"}, "nnodes"},
      {{"train.py"}, "takes no program"},
      {{"--nodes", "train.py"}, "takes no program"},
      {{"--endpoint=:x"}, "--endpoint=:x"},
      {{"--jsn"}, "--json"},
      {{"--as-node=x", "--columns=wide"}, "columns"},
      {{"--as-node=x", "--expected=-1"}, "expected"}};
  for (const auto& [arguments, word] : cases) {
    const auto request = ParseDoctorRequest(arguments, {});
    ASSERT_FALSE(request.ok()) << word;
    EXPECT_EQ(request.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(request.status().message()), HasSubstr("doctor: "));
    EXPECT_THAT(std::string(request.status().message()), HasSubstr(word));
  }
}

TEST(DoctorRequest, HelpNamesEveryFlag) {
  EXPECT_EQ(ParseDoctorRequest({"-h"}, {})->way, DoctorRequest::Way::kHelp);
  for (const Flag& flag : DoctorFlags()) {
    EXPECT_THAT(DoctorHelp(), HasSubstr(std::string("--") + flag.name));
  }
}

}  // namespace
}  // namespace muster::launcher
