#include "launcher/slurm/slurm_step.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(FindStep, IsTheOneOfThatName) {
  constexpr char kSteps[] = "7.0|launch-12\n7.1|launch-1\n7.batch|batch\n";
  EXPECT_EQ(FindStep(kSteps, "launch-1"), "7.1");
  EXPECT_EQ(FindStep(kSteps, "launch-12"), "7.0");
  EXPECT_EQ(FindStep(kSteps, "launch-2"), "");
  EXPECT_EQ(FindStep("", "launch-1"), "");
  EXPECT_EQ(FindStep("slurm_load_job_steps error: x", "x"), "");
}

}  // namespace
}  // namespace muster
