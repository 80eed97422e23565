// Tests of the pipeline example under `launch`: if its processes are killed or
// stopped, the losses must not change.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>

#include "tests/integration/training/training_fixture.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Number of steps. It is so large that no training ends before the test has
// disturbed it.
constexpr int kSteps = 600;
constexpr int kWorkers = 4;
constexpr char kFlags[] = " --layers 4 --validate-every 0 --steps ";

class PipelineTraining : public Training {
 protected:
  // The command of a training with two pipelines of two ranks each.
  static std::string Command(const std::string& more = "") {
    return "models/pipeline_trainer/gpt_pipeline --pp 2 --chunks 2"
           " --schedule interleaved_1f1b --micro-batches 2 --zero"
           " --checkpoint-every 30" +
           (kFlags + std::to_string(kSteps)) + " " + more;
  }
};

// Disturbs a training three times. First rank 3 is killed, and launch restarts
// all ranks. Then rank 0, which writes the log and completes the checkpoints,
// is killed. Last, rank 1 gets SIGTERM, and another launch runs the remaining
// steps.
TEST_F(PipelineTraining, KilledAndStoppedRanksDoNotChangeTheLosses) {
  const auto undisturbed = Launch(Command(), "undisturbed", kWorkers);
  EXPECT_EQ(undisturbed->ExitCode(), 0) << undisturbed->Output();
  ASSERT_EQ(CurveOf("undisturbed").size(), size_t{kSteps});

  const auto first = Launch(Command(), "disturbed", kWorkers);
  // When step 70 is printed, the checkpoint of step 30 is complete: the save
  // after step 60 has already begun, and each save first waits until the
  // previous save is complete.
  ASSERT_TRUE(first->Printed("step  70/")) << first->Output();
  ASSERT_EQ(kill(PidOf(*first, 3, 0), SIGKILL), 0);
  ASSERT_TRUE(first->Printed("resuming after step")) << first->Output();
  ASSERT_TRUE(first->Printed("step 110/")) << first->Output();
  ASSERT_EQ(kill(PidOf(*first, 0, 1), SIGKILL), 0);
  ASSERT_TRUE(first->Printed("resuming after step", 2)) << first->Output();
  ASSERT_TRUE(first->Printed("step 150/")) << first->Output();
  ASSERT_EQ(kill(PidOf(*first, 1, 2), SIGTERM), 0);
  ASSERT_TRUE(first->Printed("asked to stop after step")) << first->Output();
  EXPECT_EQ(first->ExitCode(), 0) << first->Output();
  const LossCurve half = CurveOf("disturbed");
  ASSERT_LT(half.size(), size_t{kSteps});

  const auto second = Launch(Command(), "disturbed", kWorkers);
  EXPECT_EQ(second->ExitCode(), 0) << second->Output();
  EXPECT_THAT(second->Output(),
              HasSubstr("resuming after step " +
                        std::to_string(half.rbegin()->first) + " from"));
  EXPECT_EQ(CurveOf("disturbed"), CurveOf("undisturbed"));
}

// The number of ranks, the schedule and the program (with or without a
// pipeline) change from run to run. Each run must continue from the last
// checkpoint.
TEST_F(PipelineTraining, OtherRanksAndSchedulesResumeFromTheCheckpoint) {
  const auto run = [&](const std::string& program, int workers) {
    const auto launch = Launch(program, "shared", workers);
    EXPECT_EQ(launch->ExitCode(), 0) << launch->Output();
    return launch->Output();
  };
  run("models/pipeline_trainer/gpt_pipeline --pp 2 --zero" +
          (kFlags + std::to_string(10)),
      4);
  EXPECT_THAT(run("models/pipeline_trainer/gpt_pipeline --pp 3"
                  " --schedule zb1p" +
                      (kFlags + std::to_string(20)),
                  3),
              HasSubstr("resuming after step 10 from"));
  EXPECT_THAT(run("models/trainer/gpt train --micro-batches 8" +
                      (kFlags + std::to_string(30)),
                  2),
              HasSubstr("resuming after step 20 from"));
  EXPECT_THAT(run("models/pipeline_trainer/gpt_pipeline" +
                      (kFlags + std::to_string(40)),
                  2),
              HasSubstr("resuming after step 30 from"));
  const LossCurve curve = CurveOf("shared");
  ASSERT_EQ(curve.size(), 40u);
  EXPECT_LT(std::stod(curve.at(40)), std::stod(curve.at(1)));
  Subprocess sample({"models/trainer/gpt", "sample", "--checkpoint-dir",
                     folder() + "/shared", "--tokens", "5"});
  EXPECT_EQ(sample.ExitCode(), 0) << sample.Output();
  EXPECT_THAT(sample.Output(), HasSubstr("step-00000040"));
}

TEST_F(PipelineTraining, ADrawingThatCannotBeWrittenIsAWarning) {
  const std::string command =
      "models/pipeline_trainer/gpt_pipeline --steps 3 --svg ";
  const auto full = Launch(command + "/dev/full", "full", 2);
  EXPECT_EQ(full->ExitCode(), 0) << full->Output();
  EXPECT_THAT(full->Output(),
              HasSubstr("cannot write the picture '/dev/full': No space left"));
  // A picture in a folder that does not exist cannot be created, which can be
  // detected at the start. This error must be reported before the first step.
  const auto nowhere = Launch(command + "/nowhere/step.svg", "nowhere", 2);
  EXPECT_EQ(nowhere->ExitCode(), 1) << nowhere->Output();
  EXPECT_THAT(nowhere->Output(),
              HasSubstr("cannot write the picture '/nowhere/step.svg': No "));
  EXPECT_THAT(CurveOf("nowhere"), IsEmpty());
}

TEST_F(PipelineTraining, AWorkerWithOtherOptionsIsNamed) {
  const auto launch = Launch(Command("--seed $RANK"), "strange", 2);
  EXPECT_NE(launch->ExitCode(), 0) << launch->Output();
  EXPECT_THAT(launch->Output(),
              HasSubstr("gpt_pipeline: rank 1 was started with other options "
                        "than rank 0: seed 1, on rank 0 0"));
}

}  // namespace
}  // namespace muster
