#include "trainer_sdk/session/process_environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace muster {
namespace {

TEST(ProcessEnvironment, HasWhatIsSet) {
  ASSERT_EQ(setenv("MUSTER_PROBE", "a=b c\n", 1), 0);
  EXPECT_EQ(ProcessEnvironment().at("MUSTER_PROBE"), "a=b c\n");
  ASSERT_EQ(setenv("MUSTER_PROBE", "", 1), 0);
  EXPECT_EQ(ProcessEnvironment().at("MUSTER_PROBE"), "");
  ASSERT_EQ(unsetenv("MUSTER_PROBE"), 0);
  EXPECT_EQ(ProcessEnvironment().count("MUSTER_PROBE"), 0u);
}

}  // namespace
}  // namespace muster
