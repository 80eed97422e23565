#include "launcher/frontend/frontend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

using ::testing::ElementsAre;

TEST(DetectFrontendTest, TheProgramNameSelectsTheFrontend) {
  const struct {
    const char* program;
    Frontend frontend;
    const char* name;
  } kCases[] = {{"launch", Frontend::kLaunch, "launch"},
                {"/usr/bin/torchrun", Frontend::kTorchrun, "torchrun"},
                {"./deepspeed", Frontend::kDeepSpeed, "deepspeed"},
                {"ds", Frontend::kDeepSpeed, "ds"},
                {"/opt/torchrun/launch", Frontend::kLaunch, "launch"},
                {"", Frontend::kLaunch, "launch"}};
  for (const auto& c : kCases) {
    const CalledAs called = DetectFrontend(c.program, {"a", "b"});
    EXPECT_EQ(called.frontend, c.frontend) << c.program;
    EXPECT_THAT(called.args, ElementsAre("a", "b"));
    EXPECT_EQ(called.name, c.name);
  }
}

TEST(DetectFrontendTest, AModuleArgumentSelectsTheFrontend) {
  CalledAs called =
      DetectFrontend("launch", {"-m", "torch.distributed.run", "-m", "x"});
  EXPECT_EQ(called.frontend, Frontend::kTorchrun);
  EXPECT_THAT(called.args, ElementsAre("-m", "x"));
  called = DetectFrontend("launch", {"-m", "torch.distributed.launch", "x"});
  EXPECT_EQ(called.frontend, Frontend::kTorchLaunch);
  EXPECT_EQ(called.name, "launch -m torch.distributed.launch");
  EXPECT_THAT(called.args, ElementsAre("x"));
  called = DetectFrontend("launch", {"-m", "my.module", "x"});
  EXPECT_EQ(called.frontend, Frontend::kLaunch);
  EXPECT_THAT(called.args, ElementsAre("-m", "my.module", "x"));
  called = DetectFrontend("torchrun", {"-m", "torch.distributed.run"});
  EXPECT_THAT(called.args, ElementsAre("-m", "torch.distributed.run"))
      << "its program is that module";
}

}  // namespace
}  // namespace muster::launcher
