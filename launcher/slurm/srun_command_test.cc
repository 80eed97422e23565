#include "launcher/slurm/srun_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/options/flag_table.h"

namespace muster::launcher {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Environment = std::map<std::string, std::string>;

absl::StatusOr<SrunCommand> Plan(const Environment& environment,
                                 const std::vector<std::string>& args) {
  const std::vector<Flag> flags = FlagsOf(FlagUser::kLaunchOnly);
  const auto parsed = ParseRunOptions(flags, args, environment);
  if (!parsed.ok()) return parsed.status();
  return PlanSrun(flags, args, parsed->options, environment, "/bin/launch",
                  "launch-9");
}

std::vector<std::string> Argv(const Environment& environment,
                              const std::vector<std::string>& args) {
  const auto command = Plan(environment, args);
  EXPECT_TRUE(command.ok()) << command.status();
  return command.ok() ? command->argv : std::vector<std::string>();
}

Environment Batch() {
  return {{"SLURM_JOB_ID", "7"},
          {"SLURM_JOB_NODELIST", "n[1-4]"},
          {"SLURM_PROCID", "0"}};
}

TEST(PlanSrun, EachNodeRunsTheSameLaunchInOneTask) {
  EXPECT_THAT(
      Argv(Batch(), {"--slurm", "--max-restarts=2", "train.py", "--slurm"}),
      ElementsAre("srun", "--job-name=launch-9", "--nodes=4", "--ntasks=4",
                  "--ntasks-per-node=1", "--kill-on-bad-exit=0", "--wait=0",
                  "--no-kill", "--cpu-bind=none", "--input=none", "/bin/launch",
                  "--max-restarts=2", "train.py", "--slurm"));
}

TEST(PlanSrun, NodesBeyondTheMaximumAreSparesExceptWithOneNode) {
  EXPECT_THAT(Argv(Batch(), {"--slurm", "--nnodes=2:3", "a"}),
              Contains("--nodes=4"));
  EXPECT_THAT(Argv(Batch(), {"--slurm", "--nnodes=1", "a"}),
              AllOf(Contains("--nodes=1"), Contains("--ntasks=1")));
}

TEST(PlanSrun, AllComponentsOfAHeterogeneousJobTakePart) {
  Environment environment = Batch();
  environment["SLURM_HET_SIZE"] = "3";
  EXPECT_THAT(
      Argv(environment, {"--slurm", "a"}),
      AllOf(Contains("--het-group=0-2"), Contains("--ntasks-per-node=1"),
            Not(Contains(StartsWith("--nodes")))));
}

TEST(PlanSrun, TheScriptsTaskSettingsAreRemoved) {
  Environment environment = Batch();
  environment["SLURM_NTASKS"] = "8";
  environment["SLURM_NTASKS_PER_NODE"] = "2";
  environment["SLURM_GPUS_PER_TASK"] = "1";
  environment["SLURM_GPUS_ON_NODE"] = "2";
  environment["MINE"] = "x";
  const auto command = Plan(environment, {"--slurm", "a"});
  ASSERT_TRUE(command.ok());
  EXPECT_THAT(command->environment,
              ElementsAre("MINE=x", "SLURM_GPUS_ON_NODE=2", "SLURM_JOB_ID=7",
                          "SLURM_JOB_NODELIST=n[1-4]", "SLURM_PROCID=0"));
  EXPECT_THAT(command->argv, Contains("--gpus-per-node=2"));
  // The flag for the number of workers is not passed on to the agents: each
  // agent counts the GPUs of its own node.
  EXPECT_THAT(command->argv, Not(Contains(StartsWith("--nproc-per-node"))));
}

TEST(PlanSrun, WithoutGpusEachTaskIsOneWorker) {
  Environment environment = Batch();
  environment["SLURM_NTASKS_PER_NODE"] = "3";
  EXPECT_THAT(Argv(environment, {"--slurm", "a"}),
              Contains("--nproc-per-node=3"));
  EXPECT_THAT(Argv(environment, {"--slurm", "--nproc_per_node=2", "a"}),
              Not(Contains("--nproc-per-node=3")));
}

TEST(PlanSrun, OutsideOfAJobSlurmIsRejected) {
  EXPECT_THAT(std::string(Plan({}, {"--slurm", "a"}).status().message()),
              HasSubstr("--slurm: this is no Slurm job"));
}

}  // namespace
}  // namespace muster::launcher
