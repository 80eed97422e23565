#include "base/environment_value.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(EnvironmentValueTest, AnEmptyVariableIsSet) {
  EXPECT_EQ(EnvironmentValue({{"A", "x"}, {"B", ""}}, "A"), "x");
  EXPECT_EQ(EnvironmentValue({{"A", "x"}, {"B", ""}}, "B"), "");
  EXPECT_EQ(EnvironmentValue({{"A", "x"}, {"B", ""}}, "C"), std::nullopt);
}

TEST(EnvironmentValueTest, AnEmptyVariableMayCountAsNone) {
  EXPECT_EQ(NonEmptyEnvironmentValue({{"A", "x"}, {"B", ""}}, "A"), "x");
  EXPECT_EQ(NonEmptyEnvironmentValue({{"A", "x"}, {"B", ""}}, "B"),
            std::nullopt);
  EXPECT_EQ(NonEmptyEnvironmentValue({{"A", "x"}, {"B", ""}}, "C"),
            std::nullopt);
}

}  // namespace
}  // namespace muster
