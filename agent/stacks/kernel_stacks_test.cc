#include "agent/stacks/kernel_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(KernelStacks, SayWhereAThreadWaits) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  // Waits until the child is blocked in its system call.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::string text;
  do {
    text = KernelStacks(child);
  } while (text.find("sleeping") == std::string::npos &&
           std::chrono::steady_clock::now() < end);
  EXPECT_THAT(text, StartsWith(absl::StrCat("thread ", child, " (")));
  EXPECT_THAT(text, HasSubstr("sleeping"));
  // The call is shown only if this process may trace the child.
  if (text.find(", in ") != std::string::npos) {
    // pause, or ppoll in a newer C library
    EXPECT_THAT(text, HasSubstr(", in p"));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(KernelStacks(child), "");
}

TEST(KernelStacks, OfNobodyAreEmpty) { EXPECT_EQ(KernelStacks(-1), ""); }

}  // namespace
}  // namespace muster::agent
