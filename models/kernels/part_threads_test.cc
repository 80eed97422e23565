#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "models/kernels/matrix_threads.h"

namespace muster::models {
namespace {

// Runs `count` parts, and returns the number of times that each part ran.
std::vector<int> Runs(int count) {
  std::vector<std::atomic<int>> runs(static_cast<size_t>(count));
  RunParts(count, [&](int part) { ++runs[static_cast<size_t>(part)]; });
  return {runs.begin(), runs.end()};
}

TEST(PartThreadsTest, EachPartRunsOnce) {
  for (const int count : {0, 1, 2, 5, 3, 5}) {
    EXPECT_EQ(Runs(count), std::vector<int>(static_cast<size_t>(count), 1));
  }
}

TEST(PartThreadsTest, ConcurrentCallsTakeTurns) {
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([] {
      for (int n = 0; n < 100; ++n) {
        EXPECT_EQ(Runs(3), std::vector<int>(3, 1));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(PartThreadsTest, AForkedChildHasThreadsOfItsOwn) {
  Runs(3);
  const pid_t child = fork();
  if (child == 0) _exit(Runs(3) == std::vector<int>(3, 1) ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace muster::models
