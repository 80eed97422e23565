#include "base/secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Environment variable that is set in the child process only. The child runs
// this test again, with an environment that has the secret twice.
constexpr char kChild[] = "IN_THE_CHILD";

std::string OwnEnvironmentInProc() {
  std::ifstream file("/proc/self/environ", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(TakeSecretVariable, LeavesNothingInProc) {
  if (getenv(kChild) == nullptr) {
    const pid_t pid = fork();
    if (pid == 0) {
      const char* const argv[] = {
          "test", "--gtest_filter=TakeSecretVariable.LeavesNothingInProc",
          nullptr};
      const char* const environment[] = {"IN_THE_CHILD=1", "SECRET=s3cret",
                                         "OTHER=kept", "SECRET=s3cret",
                                         nullptr};
      execve("/proc/self/exe", const_cast<char* const*>(argv),
             const_cast<char* const*>(environment));
      _exit(127);
    }
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
    return;
  }
  ASSERT_THAT(OwnEnvironmentInProc(), HasSubstr("s3cret"));
  EXPECT_EQ(TakeSecretVariable("SECRET"), "s3cret");
  EXPECT_EQ(getenv("SECRET"), nullptr);
  EXPECT_THAT(OwnEnvironmentInProc(), Not(HasSubstr("s3cret")));
  EXPECT_THAT(OwnEnvironmentInProc(), HasSubstr("OTHER=kept"));
  EXPECT_EQ(TakeSecretVariable("SECRET"), std::nullopt);
}

TEST(TakeSecretVariable, AnEmptyValueIsSet) {
  setenv("SECRET", "", 1);
  EXPECT_EQ(TakeSecretVariable("SECRET"), "");
}

TEST(HideFromOtherProcesses, EndsCoreDumpsAndDebuggers) {
  HideFromOtherProcesses();
  EXPECT_EQ(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
}

}  // namespace
}  // namespace muster
