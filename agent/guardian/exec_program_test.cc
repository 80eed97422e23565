#include "agent/guardian/exec_program.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::agent {
namespace {

TEST(FindInEnvironment, FindsTheWholeNameOnly) {
  const std::vector<std::string> environment = {"PATHS=a", "PATH=b=c", "E="};
  EXPECT_STREQ(FindInEnvironment(environment, "PATH"), "b=c");
  EXPECT_STREQ(FindInEnvironment(environment, "E"), "");
  EXPECT_EQ(FindInEnvironment(environment, "PAT"), nullptr);
}

}  // namespace
}  // namespace muster::agent
