// Tests of the GPT example under `launch`: if its processes are killed or
// stopped, the losses must not change.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>

#include "tests/integration/harness/cluster.h"
#include "tests/integration/training/training_fixture.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kSteps = 1500;

// Formats a step number as in the names of checkpoint folders.
std::string Padded(int step) {
  const std::string digits = std::to_string(step);
  return std::string(8 - digits.size(), '0') + digits;
}

class GptTraining : public Training {
 protected:
  static std::string Command(const std::string& more = "",
                             int checkpoint_every = 100) {
    return "models/trainer/gpt train --checkpoint-every " +
           std::to_string(checkpoint_every) + " --steps " +
           std::to_string(kSteps) +
           " --layers 2 --micro-batches 2 --validate-every 500"
           " --validation-batches 2 " +
           more;
  }

  LossCurve Undisturbed(int workers, const std::string& more = "") {
    const auto launch = Launch(Command(more), "undisturbed", workers);
    EXPECT_EQ(launch->ExitCode(), 0) << launch->Output();
    LossCurve curve = CurveOf("undisturbed");
    EXPECT_EQ(curve.size(), size_t{kSteps});
    return curve;
  }
};

// Kills rank 1, then rank 0, which writes the log and completes the
// checkpoints. The losses must equal those of an undisturbed training.
TEST_F(GptTraining, AKilledWorkerDoesNotChangeTheLosses) {
  const LossCurve undisturbed = Undisturbed(2);
  const auto launch = Launch(Command(), "killed", 2);
  ASSERT_TRUE(launch->Printed("step  350/")) << launch->Output();
  ASSERT_EQ(kill(PidOf(*launch, 1, 0), SIGKILL), 0);
  ASSERT_TRUE(launch->Printed("resuming after step")) << launch->Output();
  ASSERT_TRUE(launch->Printed("step  730/")) << launch->Output();
  ASSERT_EQ(kill(PidOf(*launch, 0, 1), SIGKILL), 0);
  EXPECT_EQ(launch->ExitCode(), 0) << launch->Output();
  EXPECT_EQ(launch->Lines("resuming after step").size(), 2u);
  EXPECT_EQ(CurveOf("killed"), undisturbed);
}

// After SIGTERM to one worker, all workers must write a checkpoint and stop
// after the same step. The next launch must run the remaining steps.
TEST_F(GptTraining, AfterAStopTheNextLaunchContinues) {
  const LossCurve undisturbed = Undisturbed(2);
  const auto first = Launch(Command(), "stopped", 2);
  ASSERT_TRUE(first->Printed("step  420/")) << first->Output();
  ASSERT_EQ(kill(PidOf(*first, 1, 0), SIGTERM), 0);
  ASSERT_TRUE(first->Printed("asked to stop after step")) << first->Output();
  EXPECT_EQ(first->ExitCode(), 0) << first->Output();
  const LossCurve half = CurveOf("stopped");
  EXPECT_LT(half.size(), size_t{kSteps});
  const int last = half.rbegin()->first;

  const auto second = Launch(Command(), "stopped", 2);
  EXPECT_EQ(second->ExitCode(), 0) << second->Output();
  EXPECT_THAT(second->Output(),
              HasSubstr("resuming after step " + std::to_string(last)));
  EXPECT_EQ(CurveOf("stopped"), undisturbed);
}

// Ctrl-C at `launch` must reach the workers. The workers write a checkpoint and
// stop, and `launch` must wait for this.
TEST_F(GptTraining, AfterCtrlCTheNextLaunchContinues) {
  const auto launch = Launch(Command("", kSteps), "ctrl-c", 2);
  ASSERT_TRUE(launch->Printed("step   20/")) << launch->Output();
  launch->Signal(SIGINT);
  EXPECT_EQ(launch->ExitCode(), 128 + SIGINT) << launch->Output();
  EXPECT_THAT(launch->Output(), HasSubstr("asked to stop after step"));
  Subprocess sample({"models/trainer/gpt", "sample", "--checkpoint-dir",
                     folder() + "/ctrl-c", "--tokens", "5"});
  EXPECT_EQ(sample.ExitCode(), 0) << sample.Output();
  EXPECT_THAT(sample.Output(),
              HasSubstr("step-" + Padded(CurveOf("ctrl-c").rbegin()->first)));
}

TEST_F(GptTraining, ATimelineThatCannotBeWrittenIsAWarning) {
  const auto launch = Launch(
      "models/trainer/gpt train --steps 3 --micro-batches 2"
      " --timeline /dev/full",
      "full", 2);
  EXPECT_EQ(launch->ExitCode(), 0) << launch->Output();
  EXPECT_THAT(
      launch->Output(),
      HasSubstr("cannot write the timeline '/dev/full': No space left"));
  EXPECT_THAT(launch->Output(), Not(HasSubstr("timeline /dev/full:")));
}

// One of two nodes is lost, and the job continues with the other one. The
// losses must equal those of a single undisturbed worker: gradients are added
// pairwise, so their sums do not depend on the number of ranks.
TEST_F(GptTraining, ALostNodeDoesNotChangeTheLosses) {
  const LossCurve undisturbed = Undisturbed(1, "--pairwise");
  LocalCluster cluster("sh");
  const auto node = [&] {
    return cluster.Node({"--nnodes=1:2", "--nproc-per-node=1",
                         "--rdzv-conf=is_host=0,last_call_timeout=60",
                         "--log-dir=" + folder() + "/logs-lost"},
                        {"-c", Worker(Command("--pairwise"), "lost")});
  };
  const auto a = node();
  const auto b = node();
  // Returns whether one of the nodes has printed `text`. Rank 0 prints it, and
  // either node may get rank 0.
  const auto told = [&](const std::string& text) {
    return !a->Lines(text).empty() || !b->Lines(text).empty();
  };
  ASSERT_TRUE(a->Printed("up rank=")) << a->Output();
  ASSERT_TRUE(b->Printed("up rank=")) << b->Output();
  Subprocess& first = a->Lines("up rank=0").empty() ? *b : *a;
  Subprocess& second = &first == a.get() ? *b : *a;
  ASSERT_TRUE(first.Printed("step  250/")) << first.Output();
  second.Signal(SIGKILL);
  EXPECT_EQ(first.ExitCode(), 0) << first.Output();
  EXPECT_TRUE(told("2 ranks over")) << first.Output();
  EXPECT_TRUE(told("1 rank over")) << first.Output();
  EXPECT_EQ(CurveOf("lost"), undisturbed);
}

}  // namespace
}  // namespace muster
