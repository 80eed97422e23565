#include "agent/dialects/dialect_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;

TEST(WithDialectsTest, OnlyThoseThatMustMeet) {
  EXPECT_THAT(WithDialects({}, {"a", "b"}), ElementsAre("a", "b"));
  EXPECT_THAT(WithDialects({Dialect::kMpi, Dialect::kDeepSpeed}, {"a"}),
              ElementsAre("a"));
  EXPECT_THAT(
      WithDialects({Dialect::kJax}, {"a", "b"}),
      ElementsAre("/proc/self/exe", "--dialect-process", "jax", "a", "b"));
  EXPECT_THAT(
      WithDialects({Dialect::kJax, Dialect::kMpi, Dialect::kTensorFlow}, {"a"}),
      ElementsAre("/proc/self/exe", "--dialect-process", "tf,jax", "a"));
}

}  // namespace
}  // namespace muster::agent
