#include "base/environment_value.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

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

TEST(EnvironmentValueTest, EnvironmentOfThisProcessIsRead) {
  ASSERT_EQ(setenv("MUSTER_PROBE", "a=b c\n", 1), 0);
  EXPECT_EQ(ReadEnvironment().at("MUSTER_PROBE"), "a=b c\n");
  EXPECT_EQ(EnvironmentVariable("MUSTER_PROBE"), "a=b c\n");
  ASSERT_EQ(setenv("MUSTER_PROBE", "", 1), 0);
  EXPECT_EQ(ReadEnvironment().at("MUSTER_PROBE"), "");
  ASSERT_EQ(unsetenv("MUSTER_PROBE"), 0);
  EXPECT_EQ(ReadEnvironment().count("MUSTER_PROBE"), 0u);
  EXPECT_EQ(EnvironmentVariable("MUSTER_PROBE"), "");
}

TEST(SearchPath, WithoutPathTheSystemsDefaultHoldsTheShell) {
  const std::string path = SearchPath({{"HOME", "/root"}});
  EXPECT_EQ(path, DefaultSearchPath());
  EXPECT_EQ(access((path.substr(0, path.find(':')) + "/sh").c_str(), X_OK), 0)
      << path;
}

TEST(SearchPath, IsPathEvenIfThatIsEmpty) {
  EXPECT_EQ(SearchPath({{"PATH", "/opt/bin:/bin"}}), "/opt/bin:/bin");
  EXPECT_EQ(SearchPath({{"PATH", ""}}), "");
}

}  // namespace
}  // namespace muster
