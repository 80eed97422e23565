#include "launcher/personality/torch_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/options/flag_table.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Args = std::vector<std::string>;

const std::vector<Flag>& Flags() {
  static const auto& flags =
      *new std::vector<Flag>(FlagsOf(FlagUser::kLaunchOnly));
  return flags;
}

TEST(OwnLineOfTorchrunTest, TheProgramIsPythons) {
  const absl::StatusOr<OwnLine> line = OwnLineOfTorchrun(
      Flags(), Args{"--nproc_per_node=2", "-r", "3", "train", "--use-env"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_THAT(line->args, ElementsAre("--python", "--nproc_per_node=2", "-r",
                                      "3", "train", "--use-env"));
}

TEST(OwnLineOfTorchrunTest, ItsCompletion) {
  EXPECT_THAT(
      OwnLineOfTorchrun(Flags(), Args{"--print-completion", "zsh"})->args,
      ElementsAre("completion", "zsh"));
}

TEST(OwnLineOfTorchrunTest, AnUnknownFlagIsNamed) {
  EXPECT_THAT(std::string(OwnLineOfTorchrun(Flags(), Args{"--nndoes=1", "x"})
                              .status()
                              .message()),
              HasSubstr("--nndoes: unknown flag"));
}

TEST(OwnLineOfTorchLaunchTest, TheLocalRankIsAnArgument) {
  absl::StatusOr<OwnLine> line =
      OwnLineOfTorchLaunch(Flags(), Args{"--nproc_per_node", "2", "t.py"});
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_THAT(line->args,
              ElementsAre("--python", "--local-rank-flag=local-rank",
                          "--nproc_per_node", "2", "t.py"));
}

TEST(OwnLineOfTorchLaunchTest, UnlessTheEnvironmentIsUsed) {
  for (const char* const flag : {"--use-env", "--use_env"}) {
    const absl::StatusOr<OwnLine> line =
        OwnLineOfTorchLaunch(Flags(), Args{flag, "t.py", "--use_env"});
    ASSERT_TRUE(line.ok()) << line.status();
    EXPECT_THAT(line->args, ElementsAre("--python", "t.py", "--use_env"));
  }
}

TEST(OwnLineOfTorchLaunchTest, WithoutPythonTheEnvironmentMustBeUsed) {
  EXPECT_FALSE(OwnLineOfTorchLaunch(Flags(), Args{"--no-python", "t"}).ok());
  EXPECT_TRUE(
      OwnLineOfTorchLaunch(Flags(), Args{"--no-python", "--use-env", "t"})
          .ok());
}

}  // namespace
}  // namespace muster
