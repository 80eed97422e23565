#include "launcher/personality/personality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;

TEST(WhoIsCalledTest, ByTheProgramsName) {
  const struct {
    const char* program;
    Personality personality;
    const char* name;
  } kCases[] = {{"launch", Personality::kLaunch, "launch"},
                {"/usr/bin/torchrun", Personality::kTorchrun, "torchrun"},
                {"./deepspeed", Personality::kDeepSpeed, "deepspeed"},
                {"ds", Personality::kDeepSpeed, "ds"},
                {"/opt/torchrun/launch", Personality::kLaunch, "launch"},
                {"", Personality::kLaunch, "launch"}};
  for (const auto& c : kCases) {
    const CalledAs called = WhoIsCalled(c.program, {"a", "b"});
    EXPECT_EQ(called.personality, c.personality) << c.program;
    EXPECT_THAT(called.args, ElementsAre("a", "b"));
    EXPECT_EQ(called.name, c.name);
  }
}

TEST(WhoIsCalledTest, ByTheModuleThatPythonWouldRun) {
  CalledAs called =
      WhoIsCalled("launch", {"-m", "torch.distributed.run", "-m", "x"});
  EXPECT_EQ(called.personality, Personality::kTorchrun);
  EXPECT_THAT(called.args, ElementsAre("-m", "x"));
  called = WhoIsCalled("launch", {"-m", "torch.distributed.launch", "x"});
  EXPECT_EQ(called.personality, Personality::kTorchLaunch);
  EXPECT_EQ(called.name, "launch -m torch.distributed.launch");
  EXPECT_THAT(called.args, ElementsAre("x"));
  called = WhoIsCalled("launch", {"-m", "my.module", "x"});
  EXPECT_EQ(called.personality, Personality::kLaunch);
  EXPECT_THAT(called.args, ElementsAre("-m", "my.module", "x"));
  called = WhoIsCalled("torchrun", {"-m", "torch.distributed.run"});
  EXPECT_THAT(called.args, ElementsAre("-m", "torch.distributed.run"))
      << "its program is that module";
}

}  // namespace
}  // namespace muster::launcher
