// Whole clusters, seed by seed. A failure prints its seed; then
//   bazel run //tests/simulation:simulate -- --seed N --trace

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/simulation/cluster.h"

namespace muster::simulation {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSeedsPerBlock = 50;
#else
constexpr int kSeedsPerBlock = 300;
#endif
constexpr int kBlocks = 8;

class SimulationTest : public ::testing::TestWithParam<int> {};

TEST_P(SimulationTest, EveryInvariantHolds) {
  const int first = 1 + GetParam() * kSeedsPerBlock;
  for (int seed = first; seed < first + kSeedsPerBlock; ++seed) {
    Cluster cluster(static_cast<uint64_t>(seed), Trace::Echo::kNo);
    const std::string failure = cluster.Run();
    ASSERT_EQ(failure, "") << "seed " << seed << "; it ended with\n"
                           << cluster.stage().trace.Tail(60);
  }
}

INSTANTIATE_TEST_SUITE_P(Blocks, SimulationTest, ::testing::Range(0, kBlocks));

TEST(Simulation, TheSameSeedHasTheSameTrace) {
  std::map<uint64_t, int> traces;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Cluster one(seed, Trace::Echo::kNo);
    Cluster two(seed, Trace::Echo::kNo);
    one.Run();
    two.Run();
    EXPECT_EQ(one.stage().trace.hash(), two.stage().trace.hash()) << seed;
    ++traces[one.stage().trace.hash()];
  }
  EXPECT_EQ(traces.size(), 40u) << "two seeds have the same trace";
}

// What is never simulated is never checked.
TEST(Simulation, TheSeedsExerciseEverything) {
  std::map<std::string, int> seen;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Cluster cluster(seed, Trace::Echo::kNo);
    cluster.Run();
    for (const auto& [what, times] : cluster.stage().census) {
      seen[what] += times;
    }
  }
  for (const char* what : {"join",           "assign",
                           "break",          "lost",
                           "failure",        "leave",
                           "blame",          "signal",
                           "finish",         "coordinator restart",
                           "agent killed",   "agent paused",
                           "guardian died",  "stream broken",
                           "worker crashed", "start failure",
                           "clogged",        "cut off",
                           "worker hung",    "stack taken",
                           "rank",           "in contention",
                           "refused",        "released",
                           "job succeeded",  "job failed",
                           "job cancelled",  "job timed out",
                           "preempt",        "announced",
                           "checked",        "found unfit",
                           "unfit",          "fit",
                           "job preempted"}) {
    EXPECT_GE(seen[what], 3) << what;
  }
}

}  // namespace
}  // namespace muster::simulation
