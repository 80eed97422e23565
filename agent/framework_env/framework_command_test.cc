#include "agent/framework_env/framework_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;

TEST(WithFrameworkProcessTest, OnlyThoseThatMustMeet) {
  EXPECT_THAT(WithFrameworkProcess({}, {"a", "b"}), ElementsAre("a", "b"));
  EXPECT_THAT(WithFrameworkProcess(
                  {FrameworkEnv::kMpi, FrameworkEnv::kDeepSpeed}, {"a"}),
              ElementsAre("a"));
  EXPECT_THAT(
      WithFrameworkProcess({FrameworkEnv::kJax}, {"a", "b"}),
      ElementsAre("/proc/self/exe", "--framework-process", "jax", "a", "b"));
  EXPECT_THAT(
      WithFrameworkProcess(
          {FrameworkEnv::kJax, FrameworkEnv::kMpi, FrameworkEnv::kTensorFlow},
          {"a"}),
      ElementsAre("/proc/self/exe", "--framework-process", "tf,jax", "a"));
}

}  // namespace
}  // namespace muster::agent
