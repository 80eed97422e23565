#include "launcher/frontend/torch_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/config/config_defaults.h"
#include "launcher/options/flag_table.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

using Args = std::vector<std::string>;

const std::vector<Flag>& Flags() {
  static const auto& flags =
      *new std::vector<Flag>(FlagsOf(FlagUser::kLaunchOnly));
  return flags;
}

TEST(OwnLineOfTorchrunTest, TheProgramIsRunByPython) {
  const absl::StatusOr<OwnLine> line = OwnLineOfTorchrun(
      Flags(), Args{"--nproc_per_node=2", "-r", "3", "train", "--use-env"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_THAT(line->args, ElementsAre("--python", "--stdin=all",
                                      "--cluster=none", "--nproc_per_node=2",
                                      "-r", "3", "train", "--use-env"));
}

TEST(OwnLineOfTorchrunTest, SlurmIsReadOnlyIfTheLineAsks) {
  // The environment of a Slurm step with two tasks on each node.
  const std::map<std::string, std::string> step = {
      {"SLURM_JOB_ID", "41"},        {"SLURM_JOB_NODELIST", "n[1-2]"},
      {"SLURM_STEP_ID", "0"},        {"SLURM_STEP_NODELIST", "n[1-2]"},
      {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"},
      {"SLURM_PROCID", "1"},         {"SLURM_LOCALID", "1"},
      {"SLURM_GPUS_ON_NODE", "2"}};
  std::map<std::string, std::string> batch = step;
  for (const char* name :
       {"SLURM_STEP_ID", "SLURM_STEP_NODELIST", "SLURM_STEP_NUM_TASKS"}) {
    batch.erase(name);
  }
  std::map<std::string, std::string> shell = batch;
  shell.erase("SLURM_PROCID");
  for (const auto& environment : {step, batch, shell}) {
    for (const auto& own : {OwnLineOfTorchrun(Flags(), Args{"train.py"}),
                            OwnLineOfTorchLaunch(Flags(), Args{"train.py"})}) {
      ASSERT_TRUE(own.ok()) << own.status();
      const auto parsed = ParseRunOptions(Flags(), own->args, environment,
                                          LaunchDefaults(Flags(), environment));
      ASSERT_TRUE(parsed.ok()) << parsed.status();
      EXPECT_EQ(parsed->options.workers_per_node, "1");
      EXPECT_EQ(parsed->options.spec.max_nodes, 1);
      EXPECT_TRUE(parsed->options.endpoints.empty());
    }
  }
  for (const char* const flag : {"--cluster=auto", "--slurm", "--config=f"}) {
    EXPECT_THAT(
        OwnLineOfTorchrun(Flags(), Args{flag, "t"})->args,
        ElementsAreArray(flag == std::string("--slurm")
                             ? Args{"--python", flag, "t"}
                             : Args{"--python", "--stdin=all", flag, "t"}));
  }
}

TEST(OwnLineOfTorchrunTest, CompletionIsKept) {
  EXPECT_THAT(
      OwnLineOfTorchrun(Flags(), Args{"--print-completion", "zsh"})->args,
      ElementsAre("--python", "--stdin=all", "--cluster=none",
                  "--print-completion", "zsh"));
}

TEST(OwnLineOfTorchrunTest, AnUnknownFlagIsNamed) {
  EXPECT_THAT(std::string(OwnLineOfTorchrun(Flags(), Args{"--nndoes=1", "x"})
                              .status()
                              .message()),
              HasSubstr("--nndoes: unknown flag"));
}

TEST(OwnLineOfTorchLaunchTest, TorchLaunchPassesLocalRankAsArgument) {
  absl::StatusOr<OwnLine> line =
      OwnLineOfTorchLaunch(Flags(), Args{"--nproc_per_node", "2", "t.py"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_THAT(line->args,
              ElementsAre("--python", "--stdin=all", "--cluster=none",
                          "--local-rank-flag=local-rank", "--nproc_per_node",
                          "2", "t.py"));
}

TEST(OwnLineOfTorchLaunchTest, WithUseEnvThereIsNoLocalRankArgument) {
  for (const char* const flag : {"--use-env", "--use_env"}) {
    const absl::StatusOr<OwnLine> line =
        OwnLineOfTorchLaunch(Flags(), Args{flag, "t.py", "--use_env"});
    ASSERT_TRUE(line.ok()) << line.status();
    EXPECT_THAT(line->args, ElementsAre("--python", "--stdin=all",
                                        "--cluster=none", "t.py", "--use_env"));
  }
}

TEST(OwnLineOfTorchLaunchTest, NoPythonNeedsUseEnv) {
  EXPECT_FALSE(OwnLineOfTorchLaunch(Flags(), Args{"--no-python", "t"}).ok());
  EXPECT_TRUE(
      OwnLineOfTorchLaunch(Flags(), Args{"--no-python", "--use-env", "t"})
          .ok());
}

}  // namespace
}  // namespace muster::launcher
