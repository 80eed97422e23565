#include "launcher/doctor/doctor_job_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/options/flag_table.h"

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;

RunOptions Options(std::vector<std::string> arguments) {
  arguments.emplace_back("program");
  const auto parsed =
      ParseRunOptions(FlagsOf(FlagUser::kLaunchOnly), arguments, {});
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed->options;
}

TEST(DoctorMeeting, TheJobStartsWithTheNodesOfTheFirstMinute) {
  const RunOptions options =
      Options({"--nnodes=3", "--rdzv-endpoint=node1:29400"});
  EXPECT_EQ(ExpectedOf(options), 3);
  EXPECT_THAT(FlagsForPartialJob(options),
              ElementsAre("--nnodes=1:3", "--scale-up=never",
                          "--rdzv-conf=join_timeout=60,last_call_timeout=60,"
                          "mixed_nodes=1"));
}

TEST(DoctorMeeting, OfANodeRangeTheMinimumIsExpected) {
  const RunOptions options =
      Options({"--nnodes=2:5", "--rdzv-endpoint=node1:29400"});
  EXPECT_EQ(ExpectedOf(options), 2);
  EXPECT_THAT(FlagsForPartialJob(options), ::testing::Contains("--nnodes=1:5"));
}

TEST(DoctorMeeting, AStaticJobKeepsItsMeetingPoint) {
  EXPECT_THAT(FlagsForPartialJob(Options(
                  {"--nnodes=2", "--node-rank=1", "--master-addr=node1"})),
              ElementsAre("--nnodes=1:2", "--scale-up=never",
                          "--rdzv-endpoint=node1:29500", "--node-rank=1",
                          "--rdzv-conf=join_timeout=60,last_call_timeout=60,"
                          "mixed_nodes=1,is_host=0"));
  EXPECT_THAT(FlagsForPartialJob(
                  Options({"--nnodes=2", "--node-rank=0", "--master-addr=node1",
                           "--master-port=7", "--rdzv-conf=is_host=0"})),
              ElementsAre("--nnodes=1:2", "--scale-up=never",
                          "--rdzv-endpoint=node1:7", "--node-rank=0",
                          "--rdzv-conf=is_host=0,join_timeout=60,"
                          "last_call_timeout=60,mixed_nodes=1"));
}

TEST(DoctorMeeting, SingleNodeHasNoMeetingPoint) {
  EXPECT_THAT(FlagsForPartialJob(Options({"--nnodes=1"})),
              ElementsAre("--rdzv-conf=join_timeout=60,last_call_timeout=60,"
                          "mixed_nodes=1"));
}

TEST(DoctorMeeting, GivenTimeoutsOverrideTheDoctors) {
  EXPECT_EQ(DoctorsRdzvConf(Options({"--rdzv-conf=join_timeout=5"})),
            "join_timeout=5,last_call_timeout=5,mixed_nodes=1");
  EXPECT_EQ(DoctorsRdzvConf(Options({"--rdzv-conf=timeout=7,is_host=1"})),
            "timeout=7,is_host=1,last_call_timeout=7,mixed_nodes=1");
  EXPECT_EQ(DoctorsRdzvConf(Options({"--rdzv-conf=last_call_timeout=3"})),
            "last_call_timeout=3,join_timeout=60,mixed_nodes=1");
}

}  // namespace
}  // namespace muster::launcher
