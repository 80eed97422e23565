#include "launcher/bench_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::string> Job(const std::vector<std::string>& arguments) {
  const auto plan = PlanBench(arguments, {}, "/bin/bench");
  EXPECT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->way, BenchPlan::Way::kJob);
  return plan->arguments;
}

std::string Complaint(const std::vector<std::string>& arguments) {
  const auto plan = PlanBench(arguments, {}, "/bin/bench");
  EXPECT_TRUE(absl::IsInvalidArgument(plan.status()));
  EXPECT_THAT(std::string(plan.status().message()), StartsWith("bench: "));
  return std::string(plan.status().message());
}

TEST(BenchPlan, FlagsBeforeTheOperationAreLaunchs) {
  EXPECT_THAT(Job({"--nproc-per-node=2", "--nnodes", "1", "all_reduce", "-b",
                   "4K", "-e", "1M"}),
              ElementsAre("--nproc-per-node=2", "--nnodes", "1", "--no-python",
                          "/bin/bench", "all_reduce", "-b", "4K", "-e", "1M"));
}

TEST(BenchPlan, AWorkerPassesEverythingOn) {
  for (const std::map<std::string, std::string>& environment :
       {std::map<std::string, std::string>{{"RANK", "1"}},
        {{"OMPI_COMM_WORLD_RANK", "0"}},
        {{"PMI_RANK", "0"}},
        {{"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "3"}}}) {
    const auto plan = PlanBench({"all_gather", "-n", "3"}, environment, "x");
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ(plan->way, BenchPlan::Way::kWorker);
    EXPECT_THAT(plan->arguments, ElementsAre("all_gather", "-n", "3"));
  }
  EXPECT_FALSE(IsWorker({{"SLURM_PROCID", "0"}})) << "a batch script";
  EXPECT_FALSE(IsWorker({{"RANK", ""}}));
}

TEST(BenchPlan, SaysWhatIsWrongBeforeAnythingStarts) {
  EXPECT_THAT(Complaint({}), HasSubstr("name an operation"));
  EXPECT_THAT(Complaint({"-b", "8", "all_reduce"}), HasSubstr("-b"));
  EXPECT_THAT(Complaint({"all_reduce", "--nnodes=2"}),
              HasSubstr("--nnodes: unknown flag"));
  EXPECT_THAT(Complaint({"all_rejuice"}),
              HasSubstr("unknown operation 'all_rejuice'; write one of"));
}

TEST(BenchPlan, TheRootIsARankOfTheJob) {
  const auto check = [](const std::string& root, const std::string& workers,
                        std::pair<int, int> nodes) {
    const auto plan = PlanBench({"broadcast", "-r", root}, {}, "x");
    RunOptions options;
    options.workers_per_node = workers;
    options.spec.min_nodes = nodes.first;
    options.spec.max_nodes = nodes.second;
    return CheckRoot(*plan, options);
  };
  EXPECT_EQ(
      check("9", "5", {1, 1}),
      absl::InvalidArgumentError("bench: -r 9: the job has ranks 0 to 4"));
  EXPECT_TRUE(check("4", "5", {1, 1}).ok());
  EXPECT_TRUE(check("9", "5", {1, 2}).ok());
  EXPECT_TRUE(check("9", "gpu", {1, 1}).ok());
}

TEST(BenchPlan, HelpIsHelpAnywhere) {
  EXPECT_EQ(PlanBench({"all_reduce", "-h"}, {}, "x")->way,
            BenchPlan::Way::kHelp);
  EXPECT_EQ(PlanBench({"--help"}, {{"RANK", "0"}}, "x")->way,
            BenchPlan::Way::kHelp);
}

TEST(BenchPlan, LooksBesideLaunch) {
  EXPECT_THAT(BenchProgramPaths({}, "/opt/muster/bin/launch"),
              ElementsAre("/opt/muster/bin/muster-bench",
                          "/opt/muster/bin/../trainer_sdk/bench/muster-bench"));
  EXPECT_THAT(BenchProgramPaths({{"MUSTER_BENCH", "/x/y"}}, "/a/launch"),
              ElementsAre("/x/y"));
}

}  // namespace
}  // namespace muster::launcher
